// Flags of upstream that a component knows by name only, as rows of a table: those that tune machinery which is not here, and those that ask
// for behaviour which is not here. A command line that gives them their default means what it meant upstream.
import { type Flag, type FlagTable, flag } from './flags.ts';

const makers = {
  string: flag.string,
  bool: flag.bool,
  int: flag.int,
  float: flag.float,
  duration: flag.duration,
  strings: flag.strings,
  map: flag.stringMap,
} as const;

type DefaultOf<K extends keyof typeof makers> = Parameters<(typeof makers)[K]>[0]['default'];

/** The row of a flag without effect: its type, its default (durations in milliseconds), and why it has none. */
export type UnservedRow = {
  [K in keyof typeof makers]: readonly [type: K, usual: DefaultOf<K>, why: string];
}[keyof typeof makers];
export type UnservedRows = Readonly<Record<string, UnservedRow>>;

/** Their values are nobody's business: the table shows no keys to its readers. */
type Nameless = Readonly<Record<never, Flag<unknown>>>;

function tableOf(rows: UnservedRows, section: string, mark: 'noEffect' | 'refused'): Nameless {
  const table: Record<string, Flag<unknown>> = {};
  for (const [name, [type, usual, why]] of Object.entries(rows)) {
    const make = makers[type] as (options: { name: string; default: unknown; help: string; section: string }) => Flag<unknown>;
    table[name] = { ...make({ name, default: usual, help: why, section }), [mark]: why };
  }
  return table satisfies FlagTable as Nameless;
}

/** The flags that are accepted with a warning, because they change nothing here. */
export const flagsWithoutEffect = (rows: UnservedRows): Nameless => tableOf(rows, 'No effect', 'noEffect');

/** The flags that are refused, unless they are given their default. */
export const refusedFlags = (rows: UnservedRows): Nameless => tableOf(rows, 'Not supported', 'refused');
