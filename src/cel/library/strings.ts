// Strings and regular expressions beyond the standard (cel-go ext/strings version 2; k8s.io/apiserver/pkg/cel/library, regex).
import { global, member } from '../environment.ts';
import { find as findFirst, findAll } from '../patterns.ts';
import { doubleText } from '../standard.ts';
import { dyn, int, list, string } from '../types.ts';
import {
  CelError,
  Duration,
  durationText,
  ListValue,
  MapValue,
  Timestamp,
  timestampText,
  TypeValue,
  Uint,
  type Value,
} from '../values.ts';

const chars = (text: string): string[] => Array.from(text);
const cost = (text: string): number => Math.ceil(text.length / 10);

function charAt(text: string, at: bigint): string {
  const all = chars(text);
  if (at < 0n || at > BigInt(all.length)) throw new CelError(`index out of range: ${at}`);
  return all[Number(at)] ?? '';
}

function find(text: string, part: string, from: bigint, isLast: boolean): bigint {
  const all = chars(text);
  const wanted = chars(part);
  if (from < 0n || from > BigInt(all.length)) throw new CelError(`index out of range: ${from}`);
  const fits = (at: number): boolean => wanted.every((char, index) => all[at + index] === char);
  const last = all.length - wanted.length;
  if (isLast) {
    for (let at = Math.min(Number(from), last); at >= 0; at--) if (fits(at)) return BigInt(at);
  } else for (let at = Number(from); at <= last; at++) if (fits(at)) return BigInt(at);
  return -1n;
}

function substring(text: string, from: bigint, to?: bigint): string {
  const all = chars(text);
  const end = to ?? BigInt(all.length);
  if (from < 0n || from > BigInt(all.length)) throw new CelError(`index out of range: ${from}`);
  if (end < 0n || end > BigInt(all.length)) throw new CelError(`index out of range: ${end}`);
  if (from > end) throw new CelError(`invalid substring range. start: ${from}, end: ${end}`);
  return all.slice(Number(from), Number(end)).join('');
}

function replace(text: string, from: string, to: string, count: bigint): string {
  let rest = text;
  let done = '';
  for (let left = count; left !== 0n && from !== ''; left--) {
    const at = rest.indexOf(from);
    if (at < 0) break;
    done += rest.slice(0, at) + to;
    rest = rest.slice(at + from.length);
  }
  return done + rest;
}

function split(text: string, by: string, count: bigint): ListValue {
  if (count === 0n) return new ListValue([]);
  const parts = by === '' ? chars(text) : text.split(by);
  const most = Number(count);
  if (most < 0 || parts.length <= most) return new ListValue(parts);
  return new ListValue([...parts.slice(0, most - 1), parts.slice(most - 1).join(by)]);
}

const join = (items: ListValue, by: string): string => (items.values() as string[]).join(by);
const lower = (text: string): string => text.replace(/[A-Z]+/g, (part) => part.toLowerCase());
const upper = (text: string): string => text.replace(/[a-z]+/g, (part) => part.toUpperCase());

/** Text of a value in `%s`. */
function textOf(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'number') return doubleText(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof TypeValue) return value.name;
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value instanceof ListValue) return `[${value.values().map(textOf).join(', ')}]`;
  if (value instanceof MapValue) {
    const entries = [...value.entries.keys()].map((key) => `${textOf(key)}: ${textOf(value.get(key) ?? null)}`);
    return `{${entries.sort().join(', ')}}`;
  }
  return typeof value === 'object' ? '' : String(value);
}

function format(pattern: string, items: ListValue): string {
  let next = 0;
  return pattern.replace(
    /%(%|(?:\.(\d+))?([a-zA-Z]))/g,
    (_, whole: string, precision: string | undefined, verb: string | undefined) => {
      if (whole === '%') return '%';
      if (next >= items.size) throw new CelError(`index ${next} out of range`);
      return formatOne(verb ?? 's', items.at(next++), precision === undefined ? 6 : Number(precision));
    },
  );
}

function formatOne(verb: string, value: Value, precision: number): string {
  const integer = value instanceof Uint ? value.value : value;
  const wrong = (): CelError => new CelError(`error during formatting: no formatting function for '%${verb}' of this value`);
  switch (verb) {
    case 's':
      return textOf(value);
    case 'd':
      if (typeof integer !== 'bigint' && typeof integer !== 'number') throw wrong();
      return String(integer);
    case 'f':
    case 'e': {
      const size = typeof integer === 'bigint' ? Number(integer) : integer;
      if (typeof size !== 'number') throw wrong();
      return verb === 'f' ? size.toFixed(precision) : size.toExponential(precision).replace(/e([+-])(\d)$/, 'e$10$2');
    }
    case 'b':
    case 'o':
      if (typeof integer === 'boolean' && verb === 'b') return integer ? '1' : '0';
      if (typeof integer !== 'bigint') throw wrong();
      return integer.toString(verb === 'b' ? 2 : 8);
    case 'x':
    case 'X':
      return verb === 'x' ? hexOf(integer) : hexOf(integer).toUpperCase();
    default:
      throw new CelError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

function hexOf(value: Value): string {
  if (typeof value === 'bigint') return value.toString(16);
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  if (!(bytes instanceof Uint8Array))
    throw new CelError('error during formatting: only integers, byte buffers, and strings can be formatted as hex');
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

const allMatches = (text: string, pattern: string, most?: bigint): ListValue => new ListValue(findAll(text, pattern, most));

export const stringFunctions = [
  member('charAt', [string, int], string, charAt),
  member('indexOf', [string, string], int, (text: string, part: string) => find(text, part, 0n, false), cost),
  member(
    'indexOf',
    [string, string, int],
    int,
    (text: string, part: string, from: bigint) => find(text, part, from, false),
    cost,
  ),
  member(
    'lastIndexOf',
    [string, string],
    int,
    (text: string, part: string) => find(text, part, BigInt(chars(text).length), true),
    cost,
  ),
  member(
    'lastIndexOf',
    [string, string, int],
    int,
    (text: string, part: string, from: bigint) => find(text, part, from, true),
    cost,
  ),
  member('join', [list(string)], string, (items: ListValue) => join(items, '')),
  member('join', [list(string), string], string, join),
  member('lowerAscii', [string], string, lower, cost),
  member('upperAscii', [string], string, upper, cost),
  member(
    'replace',
    [string, string, string],
    string,
    (text: string, from: string, to: string) => text.replaceAll(from, () => to),
    cost,
  ),
  member('replace', [string, string, string, int], string, replace, cost),
  member('split', [string, string], list(string), (text: string, by: string) => split(text, by, -1n), cost),
  member('split', [string, string, int], list(string), split, cost),
  member('substring', [string, int], string, substring, cost),
  member('substring', [string, int, int], string, substring, cost),
  member('trim', [string], string, (text: string) => text.trim(), cost),
  member('format', [string, list(dyn)], string, format),
  global('strings.quote', [string], string, (text: string) => JSON.stringify(text)),
  member('find', [string, string], string, findFirst, cost),
  member('findAll', [string, string], list(string), allMatches, cost),
  member('findAll', [string, string, int], list(string), allMatches, cost),
];
