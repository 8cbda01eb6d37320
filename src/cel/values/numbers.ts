// Numbers and truth values from texts and into them, with the words of Go's strconv.
import { own } from '#utils';
import { CelError } from '../errors.ts';
import { readTextCharsMax } from '../limits.ts';
import { Uint } from './values.ts';

const int64Max = 2n ** 63n - 1n;
const int64Min = -(2n ** 63n);
const uint64Max = 2n ** 64n - 1n;

export const checked = (value: bigint): bigint => {
  if (value < -(2n ** 63n) || value >= 2n ** 63n) throw new CelError('integer overflow');
  return value;
};

function wholeFrom(text: string, grammar: RegExp, reader: string): bigint {
  const problem = (why: string): CelError => new CelError(`strconv.${reader}: parsing "${text}": ${why}`);
  if (text.length > readTextCharsMax || !grammar.test(text)) throw problem('invalid syntax');
  const value = BigInt(text.replace(/^\+/, ''));
  if (value < (reader === 'ParseInt' ? int64Min : 0n) || value > (reader === 'ParseInt' ? int64Max : uint64Max))
    throw problem('value out of range');
  return value;
}

export const intFrom = (text: string): bigint => wholeFrom(text, /^[+-]?\d+$/, 'ParseInt');
export const uintFrom = (text: string): Uint => new Uint(wholeFrom(text, /^\d+$/, 'ParseUint'));

export function wholeOf(value: number): bigint {
  if (!Number.isFinite(value) || Math.abs(value) >= 2 ** 63) throw new CelError('integer overflow');
  return BigInt(Math.trunc(value));
}

const doubleWords = { inf: Infinity, '+inf': Infinity, '-inf': -Infinity, nan: Number.NaN, infinity: Infinity };

export function doubleFrom(text: string): number {
  const word = own<number>(doubleWords, text.toLowerCase());
  const value = word ?? (/^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined);
  if (value === undefined) throw new CelError(`strconv.ParseFloat: parsing "${text}": invalid syntax`);
  return value;
}

/** The text of a number as Go's %g prints it. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const size = Math.abs(value);
  if (value !== 0 && (size < 1e-4 || size >= 1e21)) return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  return String(value);
}

const truths: Record<string, boolean> = {
  '1': true,
  t: true,
  T: true,
  true: true,
  TRUE: true,
  True: true,
  '0': false,
  f: false,
  F: false,
  false: false,
  FALSE: false,
  False: false,
};

export function boolFrom(text: string): boolean {
  const value = Object.hasOwn(truths, text) ? truths[text] : undefined;
  if (value === undefined) throw new CelError(`strconv.ParseBool: parsing "${text}": invalid syntax`);
  return value;
}
