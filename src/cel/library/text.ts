// Texts as sequences of code points, in linear time. JavaScript counts UTF-16 units; where a text has no surrogates the two are the same.
import { CelError, CostError } from '../errors.ts';
import { madeTextCharsMax } from '../limits.ts';
import { spendWork } from '../meter.ts';

const surrogate = /[\ud800-\udfff]/;

/** Whether every unit is a code point. */
function isPlain(text: string): boolean {
  spendWork(text.length / 32);
  return !surrogate.test(text);
}

const isPair = (text: string, at: number): boolean => (text.codePointAt(at) ?? 0) > 0xffff;

export function codePointCount(text: string): number {
  if (isPlain(text)) return text.length;
  spendWork(text.length / 4);
  let count = 0;
  for (let at = 0; at < text.length; at++, count++) if (isPair(text, at)) at++;
  return count;
}

/** The unit at which a code point begins, or the text ends; undefined: the text has fewer. */
function unitAt(text: string, index: bigint): number | undefined {
  if (index < 0n || index > BigInt(text.length)) return undefined;
  if (isPlain(text)) return Number(index);
  spendWork(text.length / 4);
  let at = 0;
  for (let left = Number(index); left > 0; left--) {
    if (at >= text.length) return undefined;
    at += isPair(text, at) ? 2 : 1;
  }
  return at;
}

function needUnit(text: string, index: bigint): number {
  const at = unitAt(text, index);
  if (at === undefined) throw new CelError(`index out of range: ${index}`);
  return at;
}

export function charAt(text: string, index: bigint): string {
  const at = needUnit(text, index);
  return at < text.length ? String.fromCodePoint(text.codePointAt(at) ?? 0) : '';
}

export function substring(text: string, from: bigint, to?: bigint): string {
  const start = needUnit(text, from);
  if (to === undefined) return text.slice(start);
  const end = needUnit(text, to);
  if (from > to) throw new CelError(`invalid substring range. start: ${from}, end: ${to}`);
  return text.slice(start, end);
}

/** The host's own search may look at the whole part again at every place; short parts and texts cannot make that slow. */
const shortPart = 8;
const shortText = 4096;

/** For each length of a beginning of `part`, the longest beginning that ends there as well (Knuth, Morris, Pratt). */
function borders(part: string): Int32Array {
  const table = new Int32Array(part.length);
  for (let at = 1, length = 0; at < part.length; at++) {
    while (length > 0 && part[at] !== part[length]) length = table[length - 1] as number;
    if (part[at] === part[length]) length++;
    table[at] = length;
  }
  return table;
}

/** Where a part begins, one place after another from a unit on; `apart`: places do not overlap. The part is not empty. */
function* places(text: string, part: string, from: number, apart: boolean): Generator<number> {
  if (part.length > text.length) return;
  if (part.length <= shortPart || text.length <= shortText) {
    spendWork((text.length - from) / 8);
    for (let at = text.indexOf(part, from); at >= 0; at = text.indexOf(part, at + (apart ? part.length : 1))) {
      spendWork(1);
      yield at;
    }
    return;
  }
  spendWork((text.length - from + part.length) / 2);
  const table = borders(part);
  for (let at = from, length = 0; at < text.length; at++) {
    while (length > 0 && text[at] !== part[length]) length = table[length - 1] as number;
    if (text[at] === part[length]) length++;
    if (length < part.length) continue;
    yield at + 1 - part.length;
    length = apart ? 0 : (table[length - 1] as number);
  }
}

/** The code point that begins at a unit. */
function indexOfUnit(text: string, unit: number): bigint {
  return BigInt(codePointCount(text.slice(0, unit)));
}

export function indexOf(text: string, part: string, from = 0n): bigint {
  const start = needUnit(text, from);
  if (part === '') return from;
  for (const at of places(text, part, start, false)) return indexOfUnit(text, at);
  return -1n;
}

export function lastIndexOf(text: string, part: string, from?: bigint): bigint {
  const end = from === undefined ? text.length : needUnit(text, from);
  if (part === '') return from ?? BigInt(codePointCount(text));
  let last = -1;
  for (const at of places(text, part, 0, false)) {
    if (at > end) break;
    last = at;
  }
  return last < 0 ? -1n : indexOfUnit(text, last);
}

/** Throws `CostError` for a text that would be too long. */
export function joined(parts: readonly string[], by: string): string {
  const length = parts.reduce((sum, part) => sum + part.length, by.length * Math.max(0, parts.length - 1));
  if (length > madeTextCharsMax) throw new CostError();
  spendWork(parts.length + length / 16);
  return parts.join(by);
}

/** Splits a text into at most `most` parts; a number below 0 means all. */
export function split(text: string, by: string, most: number): string[] {
  if (most === 0) return [];
  if (by === '') return splitChars(text, most);
  const parts: string[] = [];
  let start = 0;
  for (const at of places(text, by, 0, true)) {
    if (parts.length + 1 === most) break;
    parts.push(text.slice(start, at));
    start = at + by.length;
  }
  parts.push(text.slice(start));
  return parts;
}

function splitChars(text: string, most: number): string[] {
  spendWork(text.length);
  const chars = Array.from(text);
  return most < 0 || chars.length <= most ? chars : [...chars.slice(0, most - 1), chars.slice(most - 1).join('')];
}

/** Replaces `from` at most `most` times; a number below 0 means everywhere. An empty `from` is found before each character and at the end. */
export function replace(text: string, from: string, to: string, most = -1n): string {
  if (most === 0n) return text;
  const times = most < 0n ? Infinity : Number(most);
  if (from !== '') return joined(split(text, from, times === Infinity ? -1 : times + 1), to);
  const chars = splitChars(text, -1);
  const here = Math.min(times, chars.length + 1);
  const parts = chars.slice(0, here - 1);
  return joined(['', ...parts, chars.slice(here - 1).join('')], to);
}

// Only ASCII is changed.
// oxlint-disable-next-line no-control-regex
const ascii = /^[\x00-\x7f]*$/;
export function lowerAscii(text: string): string {
  spendWork(text.length / 8);
  return ascii.test(text) ? text.toLowerCase() : text.replace(/[A-Z]+/g, (part) => part.toLowerCase());
}
export function upperAscii(text: string): string {
  spendWork(text.length / 8);
  return ascii.test(text) ? text.toUpperCase() : text.replace(/[a-z]+/g, (part) => part.toUpperCase());
}
