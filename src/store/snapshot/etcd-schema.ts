// What is in which bucket of etcd's data (go.etcd.io/etcd/server/v3/storage/schema): every change under its revision, leases, and a few facts.
import { CorruptError } from '../errors.ts';
import type { Change, LeaseGrant, StoreContents } from '../mvcc/log.ts';
import { emptyValue } from '../mvcc/record.ts';
import { keyOf } from '../rpc/bytes.ts';
import { boltBuckets } from './bolt-reader.ts';
import type { BoltBucket, BoltEntry } from './bolt-writer.ts';
import { decodeFields, encodeKeyValue, encodeLease, keyValueBytes } from './protobuf.ts';

/** The release of etcd whose data this is. */
const storageVersion = '3.6.0';
const revisionBytes = 17;
const deletedMark = 0x74; // t
const separator = 0x5f; // _

function revisionKey(revision: number, sub: number, deleted: boolean): Buffer {
  const key = Buffer.alloc(revisionBytes + (deleted ? 1 : 0));
  key.writeBigUInt64BE(BigInt(revision), 0);
  key[8] = separator;
  key.writeBigUInt64BE(BigInt(sub), 9);
  if (deleted) key[revisionBytes] = deletedMark;
  return key;
}

const changeEntry = ({ kv, deleted, sub }: Change): BoltEntry => ({
  keyBytes: revisionBytes + (deleted ? 1 : 0),
  valueBytes: keyValueBytes(kv, deleted),
  key: () => revisionKey(kv.modRevision, sub, deleted),
  value: () => encodeKeyValue(kv, deleted),
});

function plainEntry(key: Buffer, value: Buffer): BoltEntry {
  return { keyBytes: key.length, valueBytes: value.length, key: () => key, value: () => value };
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

/** The buckets of etcd's file with this content. Changes must come in the order of their revisions. */
export function bucketsOf({ changes, leases, revision, compactedRevision }: StoreContents): BoltBucket[] {
  const facts: [string, Buffer][] = [
    ['confState', Buffer.from('{"voters":[1],"auto_leave":false}')],
    ['consistent_index', uint64(revision)],
    ['finishedCompactRev', revisionKey(compactedRevision, 0, false)],
    ['scheduledCompactRev', revisionKey(compactedRevision, 0, false)],
    ['storageVersion', Buffer.from(storageVersion)],
    ['term', uint64(1)],
  ];
  const meta = facts.filter(([name]) => compactedRevision > 0 || !name.endsWith('CompactRev'));
  const byId = [...leases].sort((a, b) => a.id - b.id);
  const empty = ['alarm', 'auth', 'authRoles', 'authUsers', 'cluster'].map((name) => ({ name, entries: [] }));
  return [
    ...empty,
    { name: 'key', entries: Array.from(changes, changeEntry) },
    { name: 'lease', entries: byId.map(({ id, ttlSeconds }) => plainEntry(uint64(id), encodeLease(id, ttlSeconds))) },
    { name: 'members', entries: [] },
    { name: 'members_removed', entries: [] },
    { name: 'meta', entries: meta.map(([name, value]) => plainEntry(Buffer.from(name), value)) },
  ];
}

/** The contents of a data file of etcd; values are views into it. Throws CorruptError. */
export function contentsOfBolt(file: Buffer): StoreContents {
  const changes: Change[] = [];
  const leases: LeaseGrant[] = [];
  let compactedRevision = 0;
  for (const { name, entries } of boltBuckets(file)) {
    for (const { key, value } of entries) {
      if (name === 'key') changes.push(changeOf(key, value));
      else if (name === 'lease') leases.push(leaseOf(value));
      else if (name === 'meta' && key.toString() === 'finishedCompactRev') compactedRevision = revisionOf(value);
    }
  }
  const revision = Math.max(1, compactedRevision, changes.at(-1)?.kv.modRevision ?? 0);
  const historyStart = wholeSince(changes, Math.max(2, compactedRevision), revision);
  return { revision, compactedRevision: Math.max(compactedRevision, historyStart - 1), historyStart, changes, leases };
}

/** The first revision, not before `first`, from which on the changes of every one are there. */
function wholeSince(changes: readonly Change[], first: number, revision: number): number {
  let since = revision + 1;
  for (let i = changes.length - 1; i >= 0; i--) {
    const at = changes[i]?.kv.modRevision ?? 0;
    if (at < first || at < since - 1) break;
    since = at;
  }
  return since;
}

const revisionOf = (key: Buffer): number => (key.length >= 8 ? Number(key.readBigUInt64BE(0)) : 0);

function changeOf(key: Buffer, value: Buffer): Change {
  if (key.length < revisionBytes) throw new CorruptError('the snapshot is damaged: a revision in it cannot be read');
  const fields = decodeFields(value);
  const number = (field: number): number => Number(fields.get(field) ?? 0);
  const bytes = (field: number): Buffer | undefined => {
    const found = fields.get(field);
    return Buffer.isBuffer(found) ? found : undefined;
  };
  const deleted = key[revisionBytes] === deletedMark;
  const kv = {
    key: keyOf(bytes(1) ?? Buffer.alloc(0)),
    value: bytes(5) ?? emptyValue,
    createRevision: number(2),
    modRevision: revisionOf(key),
    version: number(4),
    lease: number(6),
  };
  return { kv, deleted, sub: Number(key.readBigUInt64BE(9)) };
}

function leaseOf(value: Buffer): LeaseGrant {
  const fields = decodeFields(value);
  return { id: Number(fields.get(1) ?? 0), ttlSeconds: Number(fields.get(2) ?? 0) };
}
