// Flags as a command of the `sagong` binary. `commander` routes to the command; the flags themselves are parsed as pflag would.
import { Command } from 'commander';
import { quote } from '#utils';
import { gitVersion, versionInfo } from '../version.ts';
import { type Flag, type FlagTable, FlagError, type ParsedFlags, parseFlags } from './flags.ts';

export interface FlagCommandOptions<F extends FlagTable> {
  name: string;
  description: string;
  flags: F;
  /** More flags, which depend on what the command line says; their values come beside the others. May throw a FlagError. */
  moreFlags?: (argv: readonly string[]) => Promise<FlagTable>;
  /** Runs the component; its promise is the command's. */
  run: (parsed: ParsedFlags<F>) => void | Promise<void>;
  /** Receives help, warnings and errors. Default: the process's own streams. */
  write?: (stream: 'stdout' | 'stderr', text: string) => void;
}

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

function describe(flag: Flag<unknown>): string {
  const head = `${flag.shorthand ? `  -${flag.shorthand}, ` : ' '.repeat(6)}--${flag.name}${flag.type.name && ` ${flag.type.name}`}`;
  const shown = flag.type.format(flag.default);
  const quiet = shown === '' || shown === 'false' || shown === '0' || shown === '[]' || shown === '0s';
  const help =
    flag.refused === undefined
      ? flag.noEffect === undefined
        ? flag.help
        : `No effect: ${flag.noEffect}.`
      : `Not supported: ${flag.refused}.`;
  const lines = wrap(quiet ? help : `${help} (default ${shown})`, 120);
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

/** What `--version` and `--version=raw` print (k8s.io/component-base/version/verflag). */
const versionText = (given: string): string =>
  given === 'raw' ? `${JSON.stringify(versionInfo())}\n` : `Kubernetes ${gitVersion}\n`;

const processStreams = (stream: 'stdout' | 'stderr', text: string): void => void process[stream].write(text);

/** A commander command over a flag table. A bad command line prints upstream's `Error: ...` and sets exit code 1. */
export function flagCommand<F extends FlagTable>(options: FlagCommandOptions<F>): Command {
  const write = options.write ?? processStreams;
  const helpOf = (flags: FlagTable): string =>
    `${options.description}\n\nUsage:\n  ${options.name} [flags]\n\n${flagHelp(flags)}`;
  const command = new Command(options.name).description(options.description);
  command.allowUnknownOption().allowExcessArguments().helpOption(false).passThroughOptions();
  command.helpInformation = () => helpOf(options.flags);
  return command.action(async () => {
    let parsed: ParsedFlags<F>;
    let flags = options.flags;
    try {
      flags = { ...flags, ...(await options.moreFlags?.(command.args)) };
      parsed = parseFlags(flags, command.args);
      const { args, help: asked, version } = parsed;
      if (!asked && version === undefined && args.length > 0)
        throw new FlagError(`${quote(options.name)} does not take any arguments, got [${args.map(quote).join(' ')}]`);
    } catch (error) {
      if (!(error instanceof FlagError)) throw error;
      write('stderr', `Error: ${error.message}\n`);
      process.exitCode = 1;
      return;
    }
    if (parsed.help) return write('stdout', helpOf(flags));
    if (parsed.version !== undefined && parsed.version !== 'false') return write('stdout', versionText(parsed.version));
    for (const warning of parsed.warnings) write('stderr', `${warning}\n`);
    await options.run(parsed);
  });
}
