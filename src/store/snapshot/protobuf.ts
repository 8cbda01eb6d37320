// The two messages that etcd stores: mvccpb.KeyValue and leasepb.Lease. Encoded and decoded by hand, for there may be a million of them.
import { CorruptError } from '../errors.ts';
import type { KeyValue } from '../types.ts';

const varintBytes = (value: number): number => {
  let bytes = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
};

/** Answers where it ends. */
function writeVarint(target: Buffer, at: number, value: number): number {
  let rest = value;
  while (rest >= 128) {
    target[at++] = (rest % 128) | 128;
    rest = Math.floor(rest / 128);
  }
  target[at++] = rest;
  return at;
}

const numberBytes = (value: number): number => (value === 0 ? 0 : 1 + varintBytes(value));
const lengthBytes = (length: number): number => (length === 0 ? 0 : 1 + varintBytes(length) + length);

const numberFields = (kv: KeyValue): readonly (readonly [number, number])[] => [
  [2, kv.createRevision],
  [3, kv.modRevision],
  [4, kv.version],
  [6, kv.lease],
];

export function keyValueBytes(kv: KeyValue, deleted: boolean): number {
  const key = lengthBytes(Buffer.byteLength(kv.key));
  if (deleted) return key;
  return numberFields(kv).reduce((sum, [, value]) => sum + numberBytes(value), key + lengthBytes(kv.value.byteLength));
}

/** Writes one key and value as protobuf. etcd keeps only the key of a deletion. */
export function encodeKeyValue(kv: KeyValue, deleted: boolean): Buffer {
  const target = Buffer.alloc(keyValueBytes(kv, deleted));
  let at = writeBytes(target, 0, 1, Buffer.from(kv.key));
  if (deleted) return target;
  const [create, mod, version, lease] = numberFields(kv);
  for (const field of [create, mod, version]) at = writeNumber(target, at, field as readonly [number, number]);
  at = writeBytes(target, at, 5, kv.value);
  writeNumber(target, at, lease as readonly [number, number]);
  return target;
}

function writeNumber(target: Buffer, at: number, [field, value]: readonly [number, number]): number {
  if (value === 0) return at;
  target[at] = field << 3;
  return writeVarint(target, at + 1, value);
}

function writeBytes(target: Buffer, at: number, field: number, bytes: Uint8Array): number {
  if (bytes.byteLength === 0) return at;
  target[at] = (field << 3) | 2;
  const start = writeVarint(target, at + 1, bytes.byteLength);
  target.set(bytes, start);
  return start + bytes.byteLength;
}

export function encodeLease(id: number, ttlSeconds: number): Buffer {
  const target = Buffer.alloc(numberBytes(id) + numberBytes(ttlSeconds));
  writeNumber(target, writeNumber(target, 0, [1, id]), [2, ttlSeconds]);
  return target;
}

/** Fields by number: numbers of varints, bytes of length-delimited ones. Throws CorruptError. */
export function decodeFields(source: Buffer): Map<number, number | Buffer> {
  const fields = new Map<number, number | Buffer>();
  for (let at = 0; at < source.length; ) {
    const tag = readVarint(source, at);
    const value = readVarint(source, tag.end);
    const field = Math.floor(tag.value / 8);
    at = value.end;
    if (tag.value % 8 === 0) fields.set(field, value.value);
    else if (tag.value % 8 === 2 && value.end + value.value <= source.length) {
      at += value.value;
      fields.set(field, source.subarray(value.end, at));
    } else throw unreadable();
  }
  return fields;
}

/** Numbers beyond 2^53 lose their last digits. */
function readVarint(source: Buffer, at: number): { value: number; end: number } {
  let value = 0;
  let factor = 1;
  for (let end = at; end < source.length && end < at + 10; end++) {
    const byte = source[end] ?? 0;
    value += (byte & 127) * factor;
    factor *= 128;
    if (byte < 128) return { value, end: end + 1 };
  }
  throw unreadable();
}

const unreadable = (): CorruptError => new CorruptError('the snapshot is damaged: a record in it cannot be read');
