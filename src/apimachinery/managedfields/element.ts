// One step of a field path in its FieldsV1 spelling: f:name, k:{"name":"x"} (item of a keyed list), v:"x" (item of a set), i:0.
// Sets of paths are kept in this spelling all the time, so reading and writing managedFields costs nothing.
import { quote } from '#utils';

// Upstream's encoder escapes what could end a script element.
const json = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'null';
  return /[<>&\u2028\u2029]/.test(text)
    ? text.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : text;
};

export const valueElement = (value: unknown): string => `v:${json(value)}`;

/** The element of a list item that is known by its keys, which are put in the order of their names. */
export function keyElement(keys: readonly (readonly [string, unknown])[]): string {
  let text = 'k:{';
  for (const [name, value] of keys) text += `${text === 'k:{' ? '' : ','}${json(name)}:${json(value)}`;
  return `${text}}`;
}

/** The element is one of the known spellings with a readable body. */
export function isElement(text: string): boolean {
  if (text.startsWith('f:')) return true;
  if (text.startsWith('i:')) return /^i:-?\d+$/.test(text);
  if (!text.startsWith('k:') && !text.startsWith('v:')) return false;
  try {
    const body: unknown = JSON.parse(text.slice(2));
    return text.startsWith('v:') || (typeof body === 'object' && body !== null && !Array.isArray(body));
  } catch {
    return false;
  }
}

const rankOf = (value: unknown): number => {
  if (typeof value === 'number') return 0;
  if (typeof value === 'string') return 1;
  if (typeof value === 'boolean') return 2;
  return value === null ? 5 : Array.isArray(value) ? 3 : 4;
};

const compareScalars = (a: unknown, b: unknown): number => {
  const rank = rankOf(a) - rankOf(b);
  if (rank !== 0) return rank;
  if (typeof a === 'object') return compareStrings(json(a), json(b));
  return (a as string) < (b as string) ? -1 : a === b ? 0 : 1;
};

const compareStrings = (a: string, b: string): number => (a < b ? -1 : a === b ? 0 : 1);

type Keys = readonly (readonly [string, unknown])[];

function compareKeys(a: Keys, b: Keys): number {
  for (let i = 0; i < a.length || i < b.length; i++) {
    const [left, right] = [a[i], b[i]];
    if (left === undefined) return -1;
    if (right === undefined) return 1;
    const order = compareStrings(left[0], right[0]) || compareScalars(left[1], right[1]);
    if (order !== 0) return order;
  }
  return 0;
}

/** An element with what its place among others depends on. */
interface Read {
  text: string;
  /** A value or an index. */
  value?: unknown;
  /** Those of a list item, in the order of their names. */
  keys?: Keys;
}

function readElement(text: string): Read {
  const kind = text.charAt(0);
  // A field, or the mark of a member.
  if (kind === 'f' || kind === '.') return { text };
  const value: unknown = JSON.parse(text.slice(2));
  if (kind !== 'k') return { text, value };
  return { text, keys: Object.entries(value as object).sort(([a], [b]) => compareStrings(a, b)) };
}

const order = 'fkvi';

function compareRead(a: Read, b: Read): number {
  if (a.text === b.text) return 0;
  const kind = a.text.charAt(0);
  if (kind !== b.text.charAt(0)) return order.indexOf(kind) - order.indexOf(b.text.charAt(0));
  if (kind === 'f') return a.text < b.text ? -1 : 1;
  return a.keys && b.keys ? compareKeys(a.keys, b.keys) : compareScalars(a.value, b.value);
}

/** The order upstream writes elements in: fields, keys, values, indexes, each by content. */
export const compareElements = (a: string, b: string): number => (a === b ? 0 : compareRead(readElement(a), readElement(b)));

/** The elements in that order. Each is read once, however many there are. */
export const sortedElements = (elements: readonly string[]): string[] =>
  elements
    .map(readElement)
    .sort(compareRead)
    .map(({ text }) => text);

function valueText(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, inner]) => `${key}=${valueText(inner)}`)
    .join('');
}

/** A step of a path as messages print it: `.name`, `[name="x"]`, `[="x"]`, `[0]`. */
export function elementText(element: string): string {
  const body = element.slice(2);
  if (element.startsWith('f:')) return `.${body}`;
  if (element.startsWith('i:')) return `[${body}]`;
  const value: unknown = JSON.parse(body);
  if (element.startsWith('v:')) return `[=${valueText(value)}]`;
  const keys = Object.entries(value as Record<string, unknown>);
  return `[${keys.map(([name, inner]) => `${name}=${valueText(inner)}`).join(',')}]`;
}
