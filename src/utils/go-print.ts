// JSON values as Go prints them (fmt, %v and %#v): some of upstream's messages carry such text and clients show it.
import { quote } from './quote.ts';

const int64 = 2 ** 63;
/** Whether Go decodes the number into an int64; others are a float64. */
export const isInt64 = (value: number): boolean => Number.isInteger(value) && value >= -int64 && value < int64;

const number = (value: number): string => {
  const size = Math.abs(value);
  if (isInt64(value)) return String(BigInt(value));
  return size >= 1e-4 && size < 1e6 ? String(value) : value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
};

const isNone = (value: unknown): value is null | undefined => value === null || value === undefined;
const sorted = (value: object): [string, unknown][] => Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));

/** Prints a value as Go's %v: `map[a:1 b:[x y]]`. */
export function goPrint(value: unknown): string {
  if (isNone(value)) return '<nil>';
  if (typeof value === 'number') return number(value);
  if (Array.isArray(value)) return `[${value.map(goPrint).join(' ')}]`;
  if (typeof value !== 'object') return String(value);
  return `map[${sorted(value)
    .map(([key, inner]) => `${key}:${goPrint(inner)}`)
    .join(' ')}]`;
}

/** Prints a value as Go's %s: what is no text says so, `%!s(int64=1)`. */
export const goString = (value: unknown): string => (isNone(value) ? '%!s(<nil>)' : goStringInside(value));

function goStringInside(value: unknown): string {
  if (isNone(value)) return '<nil>';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return `[${value.map(goStringInside).join(' ')}]`;
  if (typeof value !== 'object') return `%!s(${goTypeName(value)}=${goPrint(value)})`;
  return `map[${sorted(value)
    .map(([key, inner]) => `${key}:${goStringInside(inner)}`)
    .join(' ')}]`;
}

/** Prints a value as Go's %#v: `map[string]interface {}{"a":1}`. */
export function goSyntax(value: unknown): string {
  if (isNone(value)) return 'interface {}(nil)';
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return number(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (typeof value !== 'object') return String(value);
  return `map[string]interface {}{${sorted(value)
    .map(([key, inner]) => `${quote(key)}:${goSyntax(inner)}`)
    .join(', ')}}`;
}

/** The name of a decoded JSON value's type as Go's %T prints it. */
export function goTypeName(value: unknown): string {
  if (isNone(value)) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
      return isInt64(value) ? 'int64' : 'float64';
    default:
      return 'map[string]interface {}';
  }
}
