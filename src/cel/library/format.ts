// `format` of texts (cel-go ext/strings version 2, formatting.go).
import { CelError } from '../errors.ts';
import { spendWork } from '../meter.ts';
import { Duration, durationText, Timestamp, timestampText } from '../values/times.ts';
import { ListValue, MapValue, TypeValue, Uint, type Value } from '../values/values.ts';
import { doubleText } from '../values/numbers.ts';
import { joined } from './text.ts';

/** Digits after the point that the host can print. */
const precisionMax = 100;

/** Text of a value in `%s`. */
function textOf(value: Value): string {
  spendWork(1);
  if (value === null) return 'null';
  if (typeof value === 'number') return doubleText(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof TypeValue) return value.name;
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value instanceof ListValue) return `[${joined(value.values().map(textOf), ', ')}]`;
  if (value instanceof MapValue) {
    const entries = value.keys.map((key) => `${textOf(key)}: ${textOf(value.get(key) ?? null)}`);
    return `{${joined(entries.sort(), ', ')}}`;
  }
  return typeof value === 'object' ? '' : String(value);
}

const clause = /%(%|(?:\.(\d+))?([a-zA-Z]))/g;

export function format(pattern: string, items: ListValue): string {
  let next = 0;
  let end = 0;
  const parts: string[] = [];
  for (const { 0: whole, 1: inner, 2: precision, 3: verb = 's', index } of pattern.matchAll(clause)) {
    parts.push(pattern.slice(end, index));
    end = index + whole.length;
    if (inner === '%') parts.push('%');
    else {
      if (next >= items.size) throw new CelError(`index ${next} out of range`);
      parts.push(formatOne(verb, items.at(next++), precision === undefined ? 6 : Number(precision)));
    }
  }
  return joined([...parts, pattern.slice(end)], '');
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
    case 'e':
      return fraction(verb, integer, precision) ?? raise(wrong());
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

function raise(error: Error): never {
  throw error;
}

function fraction(verb: 'f' | 'e', value: Value, precision: number): string | undefined {
  const size = typeof value === 'bigint' ? Number(value) : value;
  if (typeof size !== 'number') return undefined;
  if (precision > precisionMax)
    throw new CelError(`error during formatting: precision ${precision} is larger than ${precisionMax}`);
  return verb === 'f' ? size.toFixed(precision) : size.toExponential(precision).replace(/e([+-])(\d)$/, 'e$10$2');
}

function hexOf(value: Value): string {
  if (typeof value === 'bigint') return value.toString(16);
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  if (!(bytes instanceof Uint8Array))
    throw new CelError('error during formatting: only integers, byte buffers, and strings can be formatted as hex');
  spendWork(bytes.length * 4);
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
