// How changes, leases and the store's own facts lie in LMDB. One record per change, keyed so that LMDB's order is revision order; the
// index is rebuilt from them at start. All numbers are big-endian in keys (order) and little-endian in values.
import { CorruptError } from '../errors.ts';
import { emptyValue } from '../mvcc/record.ts';
import type { Change, ChangeId, LeaseGrant } from '../mvcc/log.ts';

const changeTag = 0x72; // r
const leaseTag = 0x6c; // l
const headerBytes = 32;
const changeKeyBytes = 13;
const deletedFlag = 1;
const lastFlag = 2;
const recordFormat = 1;

export const metaKey = Buffer.from('m');

export interface StoreMeta {
  format: 1;
  /** Revision that the store began at. */
  revision: number;
  compactedRevision: number;
  historyStart: number;
}

export function changeKey({ revision, sub }: ChangeId): Buffer {
  const key = Buffer.allocUnsafe(changeKeyBytes);
  key[0] = changeTag;
  writeUint64(key, revision, 1);
  key.writeUInt32BE(sub, 9);
  return key;
}

/** Bounds of all change keys. */
export const changeKeys = { start: Buffer.from([changeTag]), end: Buffer.from([changeTag + 1]) };

export function leaseKey(id: number): Buffer {
  const key = Buffer.allocUnsafe(9);
  key[0] = leaseTag;
  writeUint64(key, id, 1);
  return key;
}

/** Bounds of all lease keys. */
export const leaseKeys = { start: Buffer.from([leaseTag]), end: Buffer.from([leaseTag + 1]) };

export function encodeLease({ ttlSeconds }: LeaseGrant): Buffer {
  const value = Buffer.allocUnsafe(8);
  value.writeDoubleLE(ttlSeconds, 0);
  return value;
}

export function decodeLease(key: Buffer, value: Buffer): LeaseGrant {
  if (key.length !== 9 || value.length !== 8) throw damaged('lease');
  return { id: readUint64(key, 1), ttlSeconds: value.readDoubleLE(0) };
}

export function encodeChange({ kv, deleted, last }: Change): Buffer {
  const keyBytes = Buffer.byteLength(kv.key);
  const record = Buffer.allocUnsafe(headerBytes + keyBytes + kv.value.byteLength);
  record[0] = recordFormat;
  record[1] = (deleted ? deletedFlag : 0) | (last ? lastFlag : 0);
  record.writeUInt16LE(0, 2);
  record.writeUInt32LE(keyBytes, 4);
  record.writeDoubleLE(kv.createRevision, 8);
  record.writeDoubleLE(kv.version, 16);
  record.writeDoubleLE(kv.lease, 24);
  record.write(kv.key, headerBytes, 'utf8');
  record.set(kv.value, headerBytes + keyBytes);
  return record;
}

/** The value is a view into `record`. */
export function decodeChange(key: Buffer, record: Buffer): Change {
  if (key.length !== changeKeyBytes || record.length < headerBytes || record[0] !== recordFormat) throw damaged('change');
  const valueStart = headerBytes + record.readUInt32LE(4);
  if (valueStart > record.length) throw damaged('change');
  const flags = record[1] ?? 0;
  const deleted = (flags & deletedFlag) !== 0;
  const kv = {
    key: record.toString('utf8', headerBytes, valueStart),
    value: valueStart === record.length ? emptyValue : record.subarray(valueStart),
    createRevision: record.readDoubleLE(8),
    modRevision: readUint64(key, 1),
    version: record.readDoubleLE(16),
    lease: record.readDoubleLE(24),
  };
  return { kv, deleted, sub: key.readUInt32BE(9), last: (flags & lastFlag) !== 0 };
}

export const encodeMeta = (meta: StoreMeta): Buffer => Buffer.from(JSON.stringify(meta));

export function decodeMeta(value: Buffer): StoreMeta {
  let meta: Partial<StoreMeta>;
  try {
    meta = JSON.parse(value.toString()) as Partial<StoreMeta>;
  } catch {
    throw damaged('meta');
  }
  const { format, revision, compactedRevision, historyStart } = meta;
  if (format !== 1) throw new CorruptError(`store format ${String(format)} is not known to this version`);
  if (typeof revision !== 'number' || typeof compactedRevision !== 'number' || typeof historyStart !== 'number')
    throw damaged('meta');
  return { format, revision, compactedRevision, historyStart };
}

const damaged = (what: string): CorruptError => new CorruptError(`store has a damaged ${what} record`);

function writeUint64(target: Buffer, value: number, offset: number): void {
  target.writeUInt32BE(Math.floor(value / 2 ** 32), offset);
  target.writeUInt32BE(value >>> 0, offset + 4);
}

const readUint64 = (source: Buffer, offset: number): number =>
  source.readUInt32BE(offset) * 2 ** 32 + source.readUInt32BE(offset + 4);
