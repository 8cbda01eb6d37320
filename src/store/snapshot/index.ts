// Snapshots in etcd's own form: its data file with a SHA-256 of it at the end. `etcdutl snapshot status` and `restore` take what is written
// here, and what etcdctl saves can be restored here.
import { createHash } from 'node:crypto';
import { CorruptError } from '../errors.ts';
import type { StoreContents } from '../mvcc/log.ts';
import { boltBuckets } from './bolt-reader.ts';
import { boltFile } from './bolt-writer.ts';
import { crc32c } from './castagnoli.ts';
import { bucketsOf, contentsOfBolt } from './etcd-schema.ts';

const digestBytes = 32;
const sectorBytes = 512;

/** The snapshot in pieces, each encoded when it is asked for. */
export function* encodeSnapshot(contents: StoreContents): Generator<Buffer> {
  const digest = createHash('sha256');
  for (const piece of boltFile(bucketsOf(contents))) {
    digest.update(piece);
    yield piece;
  }
  yield digest.digest();
}

/** The data file in a snapshot. Throws CorruptError when it is not whole. */
function verified(snapshot: Buffer): Buffer {
  if (snapshot.length % sectorBytes !== digestBytes) {
    throw new CorruptError('the snapshot is not whole: its length is not that of a data file with a checksum');
  }
  const data = snapshot.subarray(0, snapshot.length - digestBytes);
  if (!createHash('sha256').update(data).digest().equals(snapshot.subarray(data.length))) {
    throw new CorruptError('the snapshot is damaged: its checksum does not match');
  }
  return data;
}

/** Throws CorruptError. Values are views into `snapshot`. */
export const decodeSnapshot = (snapshot: Buffer): StoreContents => contentsOfBolt(verified(snapshot));

/** What etcd's `snapshot status` tells of a snapshot. */
export interface SnapshotStatus {
  hash: number;
  revision: number;
  totalKey: number;
  totalSize: number;
  version: string;
}

/** Reads hash, revision, number of keys and size of a snapshot. Throws CorruptError. */
export function snapshotStatus(snapshot: Buffer): SnapshotStatus {
  const data = verified(snapshot);
  const status: SnapshotStatus = { hash: 0, revision: 0, totalKey: 0, totalSize: data.length, version: '' };
  for (const { name, entries } of boltBuckets(data)) {
    status.hash = crc32c(Buffer.from(name), status.hash);
    for (const { key, value } of entries) {
      status.hash = crc32c(value, crc32c(key, status.hash));
      status.totalKey++;
      if (name === 'key') status.revision = Number(key.readBigUInt64BE(0));
      if (name === 'meta' && key.toString() === 'storageVersion') status.version = value.toString();
    }
  }
  return status;
}
