// The text that help has of flags, as pflag and k8s.io/component-base/cli/flag print it. Pure.
import type { Flag, FlagTable } from './flags.ts';

const indent = ' '.repeat(8);

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** What help says of a default (`as before, or auto`); empty where nothing is worth saying. */
export function defaultText({ type, default: usual, usual: words, kept }: Flag<unknown>): string {
  const shown = type.format(usual);
  const quiet = ['', 'false', '0', '[]', '0s'].includes(shown);
  const text = words ?? (quiet ? '' : shown);
  if (!kept) return text;
  return text === '' ? 'as before' : `as before, or ${text}`;
}

function describe(flag: Flag<unknown>): string {
  const head = `${flag.shorthand ? `  -${flag.shorthand}, ` : ' '.repeat(6)}--${flag.name}${flag.type.name && ` ${flag.type.name}`}`;
  const usual = defaultText(flag);
  const help =
    flag.refused === undefined
      ? flag.noEffect === undefined
        ? flag.help
        : `No effect: ${flag.noEffect}.`
      : `Not supported: ${flag.refused}.`;
  const lines = wrap(usual === '' ? help : `${help} (default ${usual})`, 120);
  return `${head}\n${lines.map((line) => `${indent}${line}\n`).join('')}`;
}

/** The flags under their headings, in declared order of headings and alphabetical order of names. */
export function flagHelp(flags: FlagTable): string {
  const sections = new Map<string, Flag<unknown>[]>();
  for (const one of Object.values(flags)) {
    if (one.hidden || one.deprecated !== undefined) continue;
    const section = one.section ?? 'Misc';
    sections.set(section, [...(sections.get(section) ?? []), one]);
  }
  return [...sections]
    .map(
      ([name, list]) =>
        `${name} flags:\n\n${list
          .toSorted((a, b) => (a.name < b.name ? -1 : 1))
          .map(describe)
          .join('')}`,
    )
    .join('\n');
}
