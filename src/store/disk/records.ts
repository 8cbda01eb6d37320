// Records of the log: encoded into frames, and read back with their checksums verified.
import { crc32 } from 'node:zlib';
import type { Change, LeaseGrant } from '../mvcc/log.ts';
import { emptyValue } from '../mvcc/record.ts';
import type { SegmentState } from './format.ts';

export type LogRecord =
  /** `last`: the last change of its revision. `moved`: copied here from an older segment, and therefore not in order. */
  | { type: 'change'; change: Change; last: boolean; moved: boolean }
  | { type: 'grant'; lease: LeaseGrant }
  | { type: 'revoke'; id: number }
  | { type: 'compact'; revision: number }
  | { type: 'oldest'; number: number }
  | { type: 'state'; state: SegmentState };

const types = ['change', 'grant', 'revoke', 'compact', 'oldest', 'state'] as const;
const deletedFlag = 1;
const lastFlag = 2;
const movedFlag = 4;
/** Length, checksum, type, flags. */
const headBytes = 12;
const changeHeadBytes = 56;
const smallBytes = 32;

/** What a record takes on the disk. */
export function recordBytes(record: LogRecord): number {
  if (record.type === 'change') return changeBytes(record.change);
  return record.type === 'state' ? headBytes + Buffer.byteLength(JSON.stringify(record.state)) : smallBytes;
}

export const changeBytes = ({ kv }: Change): number => changeHeadBytes + Buffer.byteLength(kv.key) + kv.value.byteLength;

/** Writes the record to `target` at `at`; answers where it ends. */
export function encodeRecord(target: Buffer, at: number, record: LogRecord, seed: number): number {
  const end = record.type === 'change' ? encodeChange(target, at, record) : encodeSmall(target, at, record);
  target.writeUInt32LE(end - at, at);
  target.writeUInt32LE(types.indexOf(record.type), at + 8);
  if (record.type === 'change') {
    target[at + 9] = (record.change.deleted ? deletedFlag : 0) | (record.last ? lastFlag : 0) | (record.moved ? movedFlag : 0);
  }
  target.writeUInt32LE(crc32(target.subarray(at + 8, end), seed), at + 4);
  return end;
}

function encodeChange(target: Buffer, at: number, { change: { kv, sub } }: Extract<LogRecord, { type: 'change' }>): number {
  const keyBytes = target.write(kv.key, at + changeHeadBytes, 'utf8');
  target.writeUInt32LE(keyBytes, at + 12);
  target.writeDoubleLE(kv.modRevision, at + 16);
  target.writeDoubleLE(sub, at + 24);
  target.writeDoubleLE(kv.createRevision, at + 32);
  target.writeDoubleLE(kv.version, at + 40);
  target.writeDoubleLE(kv.lease, at + 48);
  const valueAt = at + changeHeadBytes + keyBytes;
  target.set(kv.value, valueAt);
  return valueAt + kv.value.byteLength;
}

function encodeSmall(target: Buffer, at: number, record: Exclude<LogRecord, { type: 'change' }>): number {
  if (record.type === 'state') return at + headBytes + target.write(JSON.stringify(record.state), at + headBytes, 'utf8');
  target.fill(0, at + headBytes, at + smallBytes);
  const numbers = numbersOf(record);
  for (const [i, number] of numbers.entries()) target.writeDoubleLE(number, at + 16 + 8 * i);
  return at + smallBytes;
}

function numbersOf(record: Exclude<LogRecord, { type: 'change' | 'state' }>): number[] {
  switch (record.type) {
    case 'grant':
      return [record.lease.id, record.lease.ttlSeconds];
    case 'revoke':
      return [record.id];
    case 'compact':
      return [record.revision];
    case 'oldest':
      return [record.number];
  }
}

/** The record at `at` and where it ends; `record` undefined where its checksum does not match, and then `end` is a guess. */
export interface DecodedRecord {
  record: LogRecord | undefined;
  end: number;
}

/** Reads the record that begins at `at` and lies before `limit`. A change's value is a view into `source`. */
export function decodeRecord(source: Buffer, at: number, limit: number, seed: number): DecodedRecord {
  if (at + headBytes > limit) return { record: undefined, end: limit };
  const end = at + source.readUInt32LE(at);
  if (end < at + headBytes || end > limit) return { record: undefined, end: limit };
  const sound = source.readUInt32LE(at + 4) === crc32(source.subarray(at + 8, end), seed);
  return { record: sound ? parse(source, at, end) : undefined, end };
}

function parse(source: Buffer, at: number, end: number): LogRecord | undefined {
  const type = types[source[at + 8] ?? types.length];
  switch (type) {
    case 'change':
      return parseChange(source, at, end);
    case 'grant':
      return { type, lease: { id: source.readDoubleLE(at + 16), ttlSeconds: source.readDoubleLE(at + 24) } };
    case 'revoke':
      return { type, id: source.readDoubleLE(at + 16) };
    case 'compact':
      return { type, revision: source.readDoubleLE(at + 16) };
    case 'oldest':
      return { type, number: source.readDoubleLE(at + 16) };
    case 'state':
      return { type, state: JSON.parse(source.toString('utf8', at + headBytes, end)) as SegmentState };
    case undefined:
      return undefined;
  }
}

function parseChange(source: Buffer, at: number, end: number): LogRecord | undefined {
  const valueAt = at + changeHeadBytes + source.readUInt32LE(at + 12);
  if (valueAt > end) return undefined;
  const flags = source[at + 9] ?? 0;
  const kv = {
    key: source.toString('utf8', at + changeHeadBytes, valueAt),
    value: valueAt === end ? emptyValue : source.subarray(valueAt, end),
    createRevision: source.readDoubleLE(at + 32),
    modRevision: source.readDoubleLE(at + 16),
    version: source.readDoubleLE(at + 40),
    lease: source.readDoubleLE(at + 48),
  };
  const change = { kv, deleted: (flags & deletedFlag) !== 0, sub: source.readDoubleLE(at + 24) };
  return { type: 'change', change, last: (flags & lastFlag) !== 0, moved: (flags & movedFlag) !== 0 };
}

/** Key and revision that a damaged record seems to be of, for a message. */
export function guessRecord(source: Buffer, at: number, limit: number): string {
  if (at + changeHeadBytes > limit || source[at + 8] !== 0) return 'a record';
  const key = source.toString('utf8', at + changeHeadBytes, Math.min(limit, at + changeHeadBytes + source.readUInt32LE(at + 12)));
  // biome-ignore lint: control characters are what is looked for
  const legible = key.length > 0 && key.length < 512 && !/[\u0000-\u001f\ufffd]/.test(key);
  return legible ? `the record of ${key} at revision ${source.readDoubleLE(at + 16)}` : 'a record';
}
