// Key order and ranges. etcd orders keys by their bytes; JavaScript compares strings by UTF-16 units, which differs for characters
// above U+FFFF. `orderOf` maps a key to a string whose plain `<` order is the byte order (the UTF-16 "fix-up" of Unicode TN #21-like
// collation); nearly every key maps to itself.

const aboveSurrogates = /[\ud800-\uffff]/;

/** The form of `key` in which `<` is UTF-8 byte order. */
export function orderOf(key: string): string {
  if (!aboveSurrogates.test(key)) return key;
  let order = '';
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i);
    order += String.fromCharCode(unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800);
  }
  return order;
}

/** The smallest string above every string that begins with `prefix`; '\0' ("to the last key") when there is none. */
export function prefixEnd(prefix: string): string {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.length > 0) {
    const last = points.pop() ?? 0;
    if (last < 0x10ffff) return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  }
  return '\0';
}

/** A range in order form. `end` undefined: to the last key. */
export interface OrderRange {
  start: string;
  end: string | undefined;
}

/** The range that a request's `key` and `rangeEnd` mean; undefined when it is the one key. As in etcd, key '\0' begins at the first key. */
export function rangeOf(key: string, rangeEnd: string | undefined): OrderRange | undefined {
  if (rangeEnd === undefined || rangeEnd === '') return undefined;
  return { start: key === '\0' ? '' : orderOf(key), end: rangeEnd === '\0' ? undefined : orderOf(rangeEnd) };
}

/** A predicate for "this key is asked for". */
export function keyMatcher(key: string, rangeEnd: string | undefined): (key: string, order: string) => boolean {
  const range = rangeOf(key, rangeEnd);
  if (!range) return (candidate) => candidate === key;
  const { start, end } = range;
  return end === undefined ? (_, order) => order >= start : (_, order) => order >= start && order < end;
}
