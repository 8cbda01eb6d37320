// Command-line flags in upstream's style (spf13/pflag with k8s.io/component-base/cli/flag's name normalisation): `--foo-bar=x`, `--foo-bar x`,
// `--foo_bar`, `--bool`, `--bool=false`. A component declares its flags as data; names, types and defaults are upstream's.
import { quote } from '#utils';
import {
  boolMapType,
  boolType,
  choiceType,
  configurationMapType,
  durationType,
  type FlagType,
  floatType,
  intType,
  stringArrayType,
  stringMapType,
  stringsType,
  stringType,
  wholeType,
} from './types.ts';

export interface FlagOptions<T> {
  /** Without the dashes: `secure-port`. */
  name: string;
  default: T;
  help: string;
  /** Heading in the help: `Secure serving`. Default: `Misc`. */
  section?: string;
  /** One letter: `v`. */
  shorthand?: string;
  /** Accepted, hidden from help, and warned about with this text. */
  deprecated?: string;
  hidden?: boolean;
  /** Why a value other than the default changes nothing here: it is accepted and warned about. */
  noEffect?: string;
  /** What is not here that a value other than the default asks for: such a command line is refused. */
  refused?: string;
  /** A command line without it is refused. */
  required?: boolean;
  /** The value is kept with what the command makes, and holds until another one is given: the default is that of the first time. */
  kept?: boolean;
  /** What stands for an empty default in the help: `the machine's host name`. */
  usual?: string;
}

export interface Flag<T> extends FlagOptions<T> {
  type: FlagType<T>;
}

/** Flags by the name the program knows their values by. */
export type FlagTable = Readonly<Record<string, Flag<unknown>>>;
export type FlagValues<F> = { [K in keyof F]: F[K] extends { type: { parse(text: string): infer T } } ? T : never };

/** What the flags are when nobody gives them. */
export const defaultsOf = <F extends FlagTable>(flags: F): FlagValues<F> =>
  Object.fromEntries(Object.entries(flags).map(([name, { default: usual }]) => [name, usual])) as FlagValues<F>;

/** Makers of flags, by the type of their values. */
export const flag = {
  string: (options: FlagOptions<string>): Flag<string> => ({ ...options, type: stringType }),
  bool: (options: FlagOptions<boolean>): Flag<boolean> => ({ ...options, type: boolType }),
  int: (options: FlagOptions<number>): Flag<number> => ({ ...options, type: intType }),
  float: (options: FlagOptions<number>): Flag<number> => ({ ...options, type: floatType }),
  /** Values in milliseconds. */
  duration: (options: FlagOptions<number>): Flag<number> => ({ ...options, type: durationType }),
  /** Digits only, `max` at most. */
  whole: ({ max, ...options }: FlagOptions<number> & { max: number }): Flag<number> => ({ ...options, type: wholeType(max) }),
  /** Repeatable; commas belong to the value. */
  stringArray: (options: FlagOptions<string[]>): Flag<string[]> => ({ ...options, type: stringArrayType }),
  /** Comma separated, repeatable. */
  strings: (options: FlagOptions<string[]>): Flag<string[]> => ({ ...options, type: stringsType }),
  stringMap: (options: FlagOptions<Record<string, string>>): Flag<Record<string, string>> => ({
    ...options,
    type: stringMapType,
  }),
  /** Pairs whose keys also stand alone: `--node-labels=a,b=c`. */
  configurationMap: (options: FlagOptions<Record<string, string>>): Flag<Record<string, string>> => ({
    ...options,
    type: configurationMapType,
  }),
  boolMap: (options: FlagOptions<Record<string, boolean>>): Flag<Record<string, boolean>> => ({ ...options, type: boolMapType }),
  choice: <T extends string>(choices: readonly T[], options: FlagOptions<T>): Flag<T> => ({
    ...options,
    type: choiceType(choices),
  }),
};

/** A command line that cannot be used; the message is pflag's. */
export class FlagError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FlagError';
  }
}

export interface ParsedFlags<F> {
  values: FlagValues<F>;
  /** The flags that were given on the command line. */
  changed: ReadonlySet<keyof F>;
  /** The values of those given on the command line, and no others. */
  given: Partial<FlagValues<F>>;
  /** What is no flag, and everything after `--`. */
  args: string[];
  /** `-h` or `--help` was given. */
  help: boolean;
  /** What `--version` was given: `true`, `raw`; undefined: it was not. */
  version: string | undefined;
  /** Warnings about deprecated flags that were given, and about flags that have no effect. */
  warnings: string[];
}

const normalize = (name: string): string => name.replaceAll('_', '-');

class Parser {
  readonly #byName = new Map<string, [key: string, flag: Flag<unknown>]>();
  readonly #byShorthand = new Map<string, [key: string, flag: Flag<unknown>]>();
  readonly values: Record<string, unknown> = {};
  readonly changed = new Set<string>();
  readonly args: string[] = [];
  readonly warnings: string[] = [];
  help = false;
  version: string | undefined;

  constructor(flags: FlagTable) {
    for (const [key, one] of Object.entries(flags)) {
      this.#byName.set(normalize(one.name), [key, one]);
      if (one.shorthand) this.#byShorthand.set(one.shorthand, [key, one]);
      this.values[key] = one.default;
    }
  }

  parse(argv: readonly string[]): void {
    const rest = [...argv];
    for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
      if (arg === '--') {
        this.args.push(...rest);
        return;
      }
      if (arg.startsWith('--')) this.#long(arg.slice(2), rest);
      else if (arg.startsWith('-') && arg.length > 1) this.#short(arg.slice(1), rest);
      else this.args.push(arg);
    }
  }

  #long(text: string, rest: string[]): void {
    const equals = text.indexOf('=');
    const name = normalize(equals < 0 ? text : text.slice(0, equals));
    if (name === '' || name.startsWith('-')) throw new FlagError(`bad flag syntax: --${text}`);
    const found = this.#byName.get(name);
    if (found === undefined && name === 'help') this.help = true;
    else if (found === undefined && name === 'version') this.version = equals < 0 ? 'true' : text.slice(equals + 1);
    else if (found === undefined) throw new FlagError(`unknown flag: --${name}`);
    else this.#set(found, equals < 0 ? undefined : text.slice(equals + 1), rest, `--${name}`);
  }

  #short(text: string, rest: string[]): void {
    const letter = text.charAt(0);
    const found = this.#byShorthand.get(letter);
    const tail = text.slice(1);
    if (found === undefined && letter === 'h') this.help = true;
    else if (found === undefined) throw new FlagError(`unknown shorthand flag: '${letter}' in -${text}`);
    else if (found[1].type.bareValue !== undefined && !tail.startsWith('=')) {
      this.#set(found, found[1].type.bareValue, rest, `-${letter}`);
      if (tail !== '') this.#short(tail, rest);
    } else this.#set(found, tail === '' ? undefined : tail.replace(/^=/, ''), rest, `'${letter}' in -${text}`);
  }

  #set([key, one]: [string, Flag<unknown>], given: string | undefined, rest: string[], shown: string): void {
    const { bareValue, mayTake } = one.type;
    const takesNext = rest[0] !== undefined && mayTake?.test(rest[0]) === true;
    const text = given ?? (takesNext ? rest.shift() : (bareValue ?? rest.shift()));
    if (text === undefined) throw new FlagError(`flag needs an argument: ${shown}`);
    let value: unknown;
    try {
      value = one.type.parse(text);
    } catch (error) {
      throw new FlagError(
        `invalid argument ${quote(text)} for "--${one.name}" flag: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    this.values[key] = this.changed.has(key) && one.type.join ? one.type.join(this.values[key], value) : value;
    if (one.deprecated !== undefined && !this.changed.has(key))
      this.warnings.push(`Flag --${one.name} has been deprecated, ${one.deprecated}`);
    this.changed.add(key);
  }
}

/** Refuses a command line that lacks what a command cannot do without. */
function checkRequired(flags: FlagTable, changed: ReadonlySet<string>): void {
  const missing = Object.entries(flags).flatMap(([key, { name, required }]) => (required && !changed.has(key) ? [name] : []));
  if (missing.length > 0) throw new FlagError(`required flag(s) ${missing.map(quote).join(', ')} not set`);
}

/** Looks at what was given to flags that upstream has and that do nothing here. Throws `FlagError` for what may not go unheard. */
function checkUnserved(flags: FlagTable, { values, changed, warnings }: Parser): void {
  for (const key of changed) {
    const { name, type, default: usual, noEffect, refused } = flags[key] as Flag<unknown>;
    if (type.format(values[key]) === type.format(usual)) continue;
    if (refused !== undefined) throw new FlagError(`--${name} is not supported: ${refused}`);
    if (noEffect !== undefined) warnings.push(`Flag --${name} has no effect: ${noEffect}`);
  }
}

/** Parses `argv` (without program and command names). Throws `FlagError`. */
export function parseFlags<F extends FlagTable>(flags: F, argv: readonly string[]): ParsedFlags<F> {
  const parser = new Parser(flags);
  parser.parse(argv);
  const { args, help, version, warnings } = parser;
  if (!help && version === undefined) {
    checkUnserved(flags, parser);
    checkRequired(flags, parser.changed);
  }
  const given = Object.fromEntries([...parser.changed].map((key) => [key, parser.values[key]])) as Partial<FlagValues<F>>;
  return { values: parser.values as FlagValues<F>, changed: parser.changed, given, args, help, version, warnings };
}
