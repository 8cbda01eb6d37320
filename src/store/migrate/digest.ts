// What two stores must have in common after a move: number and checksum of their keys with values and versions of leases.
import { createHash } from 'node:crypto';
import type { KeyValue, Store } from '../types.ts';
import { migratePageKeys } from '../limits.ts';

/** Where a move notes what it copies, in the store that it copies to. */
export const noteKey = '/sagong.dev/migration';

export interface Digest {
  keys: number;
  /** SHA-256 over all keys, in order, with their values and whether they have a lease. */
  checksum: string;
}

/** All keys at one revision, page by page, without the note of a move. */
export async function* pagesOf(store: Store, revision: number): AsyncGenerator<KeyValue[]> {
  for (let key = '\0'; ; ) {
    const { kvs, more } = await store.range({ key, rangeEnd: '\0', revision, limit: migratePageKeys });
    yield kvs.filter((kv) => kv.key !== noteKey);
    const last = kvs.at(-1);
    if (!more || !last) return;
    key = `${last.key}\0`;
  }
}

export async function digestOf(store: Store, revision: number): Promise<Digest> {
  const hash = createHash('sha256');
  let keys = 0;
  const length = Buffer.alloc(9);
  for await (const page of pagesOf(store, revision))
    for (const { key, value, lease } of page) {
      keys++;
      const name = Buffer.from(key);
      length.writeUInt32BE(name.length, 0);
      length.writeUInt32BE(value.length, 4);
      length.writeUInt8(lease === 0 ? 0 : 1, 8);
      hash.update(length).update(name).update(value);
    }
  return { keys, checksum: hash.digest('hex') };
}

export const sameDigest = (a: Digest, b: Digest): boolean => a.keys === b.keys && a.checksum === b.checksum;
