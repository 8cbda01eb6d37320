// Reading DER (ITU-T X.690). What comes in is hostile: every length is checked, every failure is a `PkiError`.
import { PkiError } from '../errors.ts';
import { limits } from '../limits.ts';
import { tag } from './encode.ts';

/** One decoded value; `content` and `raw` are views into the input. */
export interface DerValue {
  /** The identifier octet. */
  type: number;
  content: Buffer;
  /** The whole tag-length-value. */
  raw: Buffer;
}

function readLength(input: Buffer, at: number): { length: number; next: number } {
  const first = input[at];
  if (first === undefined) throw new PkiError('asn1: truncated length');
  if (first < 0x80) return { length: first, next: at + 1 };
  const count = first & 0x7f;
  if (count === 0 || count > 4 || at + 1 + count > input.length) throw new PkiError('asn1: unsupported length');
  return { length: input.readUIntBE(at + 1, count), next: at + 1 + count };
}

function readAt(input: Buffer, at: number): { value: DerValue; next: number } {
  const type = input[at];
  if (type === undefined || (type & 0x1f) === 0x1f) throw new PkiError('asn1: unsupported tag');
  const { length, next } = readLength(input, at + 1);
  const end = next + length;
  if (end > input.length) throw new PkiError('asn1: data truncated');
  return { value: { type, content: input.subarray(next, end), raw: input.subarray(at, end) }, next: end };
}

/** The one value that `input` consists of. */
export function decode(input: Buffer): DerValue {
  const { value, next } = readAt(input, 0);
  if (next !== input.length) throw new PkiError('asn1: trailing data');
  return value;
}

/** The values inside a constructed one. */
export function children(value: DerValue, depth = 0): DerValue[] {
  if (depth > limits.derDepthMax) throw new PkiError('asn1: nested too deeply');
  const items: DerValue[] = [];
  for (let at = 0; at < value.content.length; ) {
    const item = readAt(value.content, at);
    items.push(item.value);
    at = item.next;
  }
  return items;
}

/** Checks the type and hands the value on. */
export function expectType(value: DerValue | undefined, type: number, what: string): DerValue {
  if (value === undefined || value.type !== type) throw new PkiError(`asn1: malformed ${what}`);
  return value;
}

export const sequenceItems = (value: DerValue | undefined, what: string): DerValue[] =>
  children(expectType(value, tag.sequence, what));

/** Reads an object identifier as dotted text. */
export function readObjectId(value: DerValue | undefined, what: string): string {
  const { content } = expectType(value, tag.oid, what);
  const numbers: number[] = [];
  let current = 0;
  for (const octet of content) {
    current = current * 128 + (octet & 0x7f);
    if (!Number.isSafeInteger(current)) throw new PkiError(`asn1: malformed ${what}`);
    if (octet & 0x80) continue;
    numbers.push(current);
    current = 0;
  }
  const [head = 0, ...rest] = numbers;
  const first = Math.min(2, Math.floor(head / 40));
  return [first, head - first * 40, ...rest].join('.');
}

const stringTypes: Record<number, BufferEncoding> = {
  0x0c: 'utf8',
  0x13: 'latin1',
  0x14: 'latin1',
  0x16: 'latin1',
  0x1e: 'utf16le',
};

/** A directory string of any of the usual types. */
export function readString(value: DerValue | undefined, what: string): string {
  const encoding = value && stringTypes[value.type];
  if (!value || !encoding) throw new PkiError(`asn1: malformed ${what}`);
  return encoding === 'utf16le' ? Buffer.from(value.content).swap16().toString(encoding) : value.content.toString(encoding);
}

/** The content of a BIT STRING that holds whole octets. */
export function readBitString(value: DerValue | undefined, what: string): { bits: Buffer; unusedBits: number } {
  const { content } = expectType(value, tag.bitString, what);
  const unusedBits = content[0];
  if (unusedBits === undefined || unusedBits > 7) throw new PkiError(`asn1: malformed ${what}`);
  return { bits: content.subarray(1), unusedBits };
}

/** A UTCTime or GeneralizedTime in Unix milliseconds. */
export function readTime(value: DerValue | undefined, what: string): number {
  const text = value?.content.toString('latin1') ?? '';
  const full = value?.type === tag.utcTime ? `${Number(text.slice(0, 2)) >= 50 ? '19' : '20'}${text}` : text;
  const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(full);
  if (!match || (value?.type !== tag.utcTime && value?.type !== tag.generalizedTime))
    throw new PkiError(`asn1: malformed ${what}`);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
