// What a flag may hold (spf13/pflag and k8s.io/component-base/cli/flag): parsing, printing and what a second occurrence does.
import { formatDurationMs, parseDurationMs } from '#apimachinery/duration';
import { quote } from '#utils';
import { parseBool } from '../features/index.ts';

export interface FlagType<T> {
  /** The type as help prints it: `duration`, `strings`, `mapStringString`. '' for booleans. */
  name: string;
  /** Throws an Error with Go's words. */
  parse(text: string): T;
  format(value: T): string;
  /** Joins a second occurrence to the first; without it the last one wins. */
  join?(first: T, next: T): T;
  /** The value of the flag given without one (`--leader-elect`). */
  bareValue?: string;
  /** Beside `bareValue`: a next word that looks like this is the value all the same. */
  mayTake?: RegExp;
  /** All its values, for completion. */
  choices?: readonly string[];
}

const numberError = (parser: string, text: string, why: string): Error =>
  new Error(`strconv.${parser}: parsing ${quote(text)}: ${why}`);

function parseInteger(text: string): number {
  if (!/^[+-]?(\d[\d_]*|0[xX][\da-fA-F_]+|0[oO]?[0-7_]+|0[bB][01_]+)$/.test(text))
    throw numberError('ParseInt', text, 'invalid syntax');
  const digits = text
    .replace(/^[+-]/, '')
    .replaceAll('_', '')
    .replace(/^0(?=[0-7]+$)/, '0o');
  const value = Number(digits) * (text.startsWith('-') ? -1 : 1);
  if (!Number.isSafeInteger(value)) throw numberError('ParseInt', text, 'value out of range');
  return value;
}

function parseFloat64(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isNaN(value)) throw numberError('ParseFloat', text, 'invalid syntax');
  return value;
}

function parseBoolean(text: string): boolean {
  const value = parseBool(text);
  if (value === undefined) throw numberError('ParseBool', text, 'invalid syntax');
  return value;
}

/** One CSV record: commas separate, double quotes protect. */
export function splitList(text: string): string[] {
  if (text === '') return [];
  const fields = text.match(/(?<=^|,)("(?:[^"]|"")*"|[^,]*)(?=,|$)/g) ?? [text];
  return fields.map((field) =>
    field.startsWith('"') && field.endsWith('"') && field.length > 1 ? field.slice(1, -1).replaceAll('""', '"') : field,
  );
}

function parsePairs(text: string): Record<string, string> {
  const pairs = splitList(text).filter((entry) => entry !== '');
  return Object.fromEntries(
    pairs.map((entry) => {
      const equals = entry.indexOf('=');
      if (equals < 0) throw new Error(`malformed pair, expect string=string`);
      return [entry.slice(0, equals).trim(), entry.slice(equals + 1).trim()];
    }),
  );
}

function configurationEntry(entry: string): [string, string] {
  const [key = '', ...value] = entry.split('=');
  return [key.trim(), value.join('=').trim()];
}

const formatPairs = (pairs: Record<string, unknown>): string =>
  Object.entries(pairs)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(',');

export const stringType: FlagType<string> = {
  name: 'string',
  parse: (text) => text,
  format: (value) => (value === '' ? '' : quote(value)),
};
export const boolType: FlagType<boolean> = { name: '', parse: parseBoolean, format: String, bareValue: 'true' };
export const intType: FlagType<number> = { name: 'int', parse: parseInteger, format: String };
/** A whole number from 0 to `max`, written in digits. */
export const wholeType = (max: number): FlagType<number> => ({
  name: 'int',
  parse(text) {
    const value = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value <= max)) throw new Error(`must be a whole number up to ${max}`);
    return value;
  },
  format: String,
});

export const floatType: FlagType<number> = { name: 'float', parse: parseFloat64, format: String };
/** The type of a duration: in milliseconds in the program, in Go's form on the command line. */
export const durationType: FlagType<number> = { name: 'duration', parse: parseDurationMs, format: formatDurationMs };
export const stringsType: FlagType<string[]> = {
  name: 'strings',
  parse: splitList,
  format: (list) => `[${list.join(',')}]`,
  join: (first, next) => [...first, ...next],
};
export const stringArrayType: FlagType<string[]> = { ...stringsType, name: 'stringArray', parse: (text) => [text] };

export const stringMapType: FlagType<Record<string, string>> = {
  name: 'mapStringString',
  parse: parsePairs,
  format: formatPairs,
  join: (first, next) => ({ ...first, ...next }),
};
/** Pairs whose keys also stand alone, with an empty value. */
export const configurationMapType: FlagType<Record<string, string>> = {
  ...stringMapType,
  parse: (text) => Object.fromEntries(text.split(',').filter(Boolean).map(configurationEntry)),
};
export const boolMapType: FlagType<Record<string, boolean>> = {
  name: 'mapStringBool',
  parse(text) {
    const entries = splitList(text).filter((entry) => entry !== '');
    return Object.fromEntries(
      entries.map((entry) => {
        const equals = entry.indexOf('=');
        if (equals < 0) throw new Error('malformed pair, expect string=bool');
        const key = entry.slice(0, equals).trim();
        const value = parseBool(entry.slice(equals + 1).trim());
        if (value === undefined)
          throw new Error(
            `invalid value of ${key}: ${entry.slice(equals + 1).trim()}, err: strconv.ParseBool: parsing ${quote(entry.slice(equals + 1).trim())}: invalid syntax`,
          );
        return [key, value];
      }),
    );
  },
  format: formatPairs,
  join: (first, next) => ({ ...first, ...next }),
};

/** The type of a flag that takes one of a few words. */
export const choiceType = <T extends string>(choices: readonly T[]): FlagType<T> => ({
  name: 'string',
  choices,
  parse(text) {
    const choice = choices.find((candidate) => candidate === text);
    if (choice === undefined) throw new Error(`must be one of: ${choices.filter((each) => each !== '').join(', ')}`);
    return choice;
  },
  format: (value) => (value === '' ? '' : quote(value)),
});
