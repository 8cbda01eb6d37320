// The commands of the `sagong` binary as a tree: groups, and commands with a table of flags each. Words are read as spf13/cobra and pflag read them.
import { quote } from '#utils';
import { gitVersion } from '../version.ts';
import { versionInfo } from '../version-info.ts';
import { flagHelp } from './help.ts';
import { type FlagTable, FlagError, type ParsedFlags, parseFlags } from './flags.ts';

export interface CommandOptions<F extends FlagTable> {
  name: string;
  description: string;
  /** What it takes beside flags, in order: `<file>` must be given, `[node]` may be, and `<image...>` or `[word...]` takes all that follow. */
  takes?: string;
  flags: F;
  /** More flags, which depend on what the command line says; their values come beside the others. May throw a FlagError. */
  moreFlags?: (argv: readonly string[]) => Promise<FlagTable>;
  /** Runs it; its promise is the command's. */
  run: (parsed: ParsedFlags<F>) => void | Promise<void>;
  /** A program of upstream's: `--version` prints Kubernetes' version, and errors are followed by nothing. */
  upstream?: boolean;
  /** Not in help and completion. */
  hidden?: boolean;
  /** Words by which people of other tools look for it. */
  suggestFor?: readonly string[];
}

export interface Command {
  name: string;
  description: string;
  hidden?: boolean;
  suggestFor?: readonly string[];
  /** The commands of a group. */
  commands?: readonly Command[];
  /** Loads the command: its code is needed only when it is called. */
  load?: () => Promise<Command>;
  takes?: string;
  flags?: FlagTable;
  upstream?: boolean;
  /**
   * For a command: reads its words and answers with the work to do. `path` is how it was called: `sagong node add`. Throws a FlagError for words
   * that cannot be used.
   */
  read?: (argv: readonly string[], path: string, write: CommandWriter) => Promise<() => void | Promise<void>>;
}

export type CommandWriter = (stream: 'stdout' | 'stderr', text: string) => void;

/** What `--version` and `--version=raw` print (k8s.io/component-base/version/verflag). */
const versionText = (given: string): string =>
  given === 'raw' ? `${JSON.stringify(versionInfo())}\n` : `Kubernetes ${gitVersion}\n`;

const processStreams: CommandWriter = (stream, text) => void process[stream].write(text);

/** Throws for too few words and for too many. */
function checkArguments(path: string, takes: string | undefined, args: readonly string[]): void {
  const places = takes?.split(' ') ?? [];
  const missing = places.find((place, index) => place.startsWith('<') && args.length <= index);
  if (missing !== undefined) throw new FlagError(`${quote(path)} needs ${missing}`);
  if (args.length <= places.length || places.at(-1)?.includes('...')) return;
  const given = `[${args.map(quote).join(' ')}]`;
  if (places.length === 0) throw new FlagError(`${quote(path)} does not take any arguments, got ${given}`);
  throw new FlagError(`${quote(path)} takes ${takes} and no more, got ${given}`);
}

/** A command over a flag table. */
export function command<F extends FlagTable>(options: CommandOptions<F>): Command {
  const { name, description, takes, flags, upstream, hidden, suggestFor } = options;
  const helpOf = (path: string, table: FlagTable): string => {
    const usage = [path, ...(takes ? [takes] : []), ...(Object.keys(table).length > 0 ? ['[flags]'] : [])].join(' ');
    return `${description}\n\nUsage:\n  ${usage}\n\n${flagHelp(table)}`;
  };
  return {
    ...{ name, description, takes, flags, upstream, hidden, suggestFor },
    async read(argv, path, write) {
      const table = { ...flags, ...(await options.moreFlags?.(argv)) };
      const parsed: ParsedFlags<F> = parseFlags(table, argv);
      if (parsed.help) return () => write('stdout', helpOf(path, table));
      if (parsed.version !== undefined && !upstream) throw new FlagError('unknown flag: --version');
      const { version = 'false', warnings } = parsed;
      if (version !== 'false') return () => write('stdout', versionText(version));
      checkArguments(path, takes, parsed.args);
      return () => {
        for (const warning of warnings) write('stderr', `${warning}\n`);
        return options.run(parsed);
      };
    },
  };
}

function groupHelp({ description, commands = [] }: Command, path: string): string {
  const shown = commands.filter(({ hidden }) => !hidden);
  const width = Math.max(...shown.map(({ name }) => name.length)) + 2;
  const lines = shown.map(({ name, description: what }) => `  ${name.padEnd(width)}${what}`);
  return `${description}\n\nUsage:\n  ${path} <command>\n\nCommands:\n${lines.join('\n')}\n\nUse "${path} <command> --help" for more.\n`;
}

const isHelp = (word: string | undefined): boolean => word === 'help' || word === '--help' || word === '-h';

/** How many letters have to be put in, left out or changed to make one word of the other. */
function distance(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [row, letter] of [...one].entries()) {
    const here = [row + 1];
    for (let at = 0; at < other.length; at++)
      here.push(Math.min((above[at] ?? 0) + (letter === other[at] ? 0 : 1), (above[at + 1] ?? 0) + 1, (here[at] ?? 0) + 1));
    above = here;
  }
  return above[other.length] ?? 0;
}

const lettersApart = 2;

/** Names of commands that may have been meant, in cobra's words. */
function suggestions({ commands = [] }: Command, word: string): string {
  const typed = word.toLowerCase();
  const isNear = (name: string): boolean => {
    if (name.startsWith(typed)) return true;
    const longer = Math.max(typed.length, name.length);
    return longer <= name.length + lettersApart && distance(typed, name) <= Math.min(lettersApart, longer / 2);
  };
  const found = commands.filter(
    ({ name, hidden, suggestFor = [] }) => !hidden && (suggestFor.includes(typed) || (typed !== '' && isNear(name))),
  );
  return found.length === 0 ? '' : `\n\nDid you mean this?\n${found.map(({ name }) => `\t${name}\n`).join('')}`;
}

/** The command of a group that the next words name, and what is left of them. Throws a FlagError where there is none. */
function enter(group: Command, path: string, argv: readonly string[]): [next: Command, rest: readonly string[]] {
  const [first, ...others] = argv;
  // `sagong help node add` is `sagong node add --help`.
  const [word = '', ...rest] = isHelp(first) && others.length > 0 ? [...others, '--help'] : argv;
  if (word.startsWith('-')) throw new FlagError(`unknown flag: ${word}`);
  const next = group.commands?.find(({ name }) => name === word);
  if (!next) throw new FlagError(`unknown command ${quote(word)} for ${quote(path)}${suggestions(group, word)}`);
  return [next, rest];
}

/** Follows the words to a command and runs it. A bad command line prints upstream's `Error: ...` and sets exit code 1. */
export async function runCommandLine(
  root: Command,
  argv: readonly string[],
  write: CommandWriter = processStreams,
): Promise<void> {
  let [at, path, rest]: [Command, string, readonly string[]] = [root, root.name, argv];
  let work: (() => void | Promise<void>) | undefined;
  try {
    while (!at.read) {
      if (rest.length === 0 || (isHelp(rest[0]) && rest.length === 1)) return write('stdout', groupHelp(at, path));
      [at, rest] = enter(at, path, rest);
      path = `${path} ${at.name}`;
      at = (await at.load?.()) ?? at;
    }
    work = await at.read(rest, path, write);
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    write('stderr', `Error: ${error.message}\n${at.upstream ? '' : `See '${path} --help' for usage.\n`}`);
    process.exitCode = 1;
  }
  await work?.();
}
