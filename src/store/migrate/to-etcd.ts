// Copies a store into an empty etcd, in the order in which its keys last changed. A copy that was interrupted goes on where it was: what was copied
// is noted in the etcd, and what is there already is not written again.
import { InvalidRequestError, LeaseExistsError, StoreError } from '../errors.ts';
import { migrateRaiseMax, migrateRequestsAtOnce, migrateTxnBytes, migrateTxnOperations } from '../limits.ts';
import type { EmbeddedStore, KeyValue, Store } from '../types.ts';
import { type Digest, digestOf, noteKey, pagesOf, sameDigest } from './digest.ts';

export interface Moved extends Digest {
  /** Newest revision of the store that was copied to. */
  revision: number;
  /** Keys that an earlier try had copied. */
  already: number;
}

interface Note extends Digest {
  revision: number;
}

const put = (key: string, value: Uint8Array, lease = 0) => ({ op: 'put' as const, key, value, lease });

/** Rejects with a sentence when `target` holds anything else than an earlier try of the same copy. */
export async function copyToEtcd(source: EmbeddedStore, target: Store): Promise<Moved> {
  const revision = source.revision();
  await checkDistance(target, revision);
  const wanted: Note = { ...(await digestOf(source, revision)), revision };
  await noteDown(target, wanted);
  const missing = await whatLacks(source, target, revision);
  for (const { id, ttlSeconds } of source.leases())
    await target.leaseGrant(ttlSeconds, id).catch((error: unknown) => {
      if (!(error instanceof LeaseExistsError)) throw error;
    });
  await inParallel(batched(missing), async (batch) => {
    await target.txn({ compare: [], success: batch.map(({ key, value, lease }) => put(key, value, lease)) });
  });
  const copied = await digestOf(target, 0);
  if (!sameDigest(copied, wanted))
    throw new StoreError(
      `the copy differs: ${copied.keys} keys with checksum ${copied.checksum}, and not ${wanted.keys} with ${wanted.checksum}; run it again`,
    );
  await raiseRevision(target, revision);
  const { revision: reached } = await target.txn({ compare: [], success: [{ op: 'delete', key: noteKey }] });
  return { ...copied, revision: reached, already: wanted.keys - missing.length };
}

/** After a restore a store can be so far ahead that no etcd can be raised to it by writing. */
async function checkDistance(target: Store, revision: number): Promise<void> {
  const { revision: reached } = await target.range({ key: noteKey });
  if (revision - reached > migrateRaiseMax)
    throw new InvalidRequestError(
      `the store is at revision ${revision} and the etcd at ${reached}, too far behind to be raised; begin the etcd with a snapshot of the store instead: ` +
        'sagong snapshot save FILE, etcdctl snapshot restore FILE',
    );
}

/** The first thing that is written. */
async function noteDown(target: Store, wanted: Note): Promise<void> {
  const { kvs } = await target.range({ key: noteKey });
  const text = kvs[0] && Buffer.from(kvs[0].value).toString('utf8');
  if (text === JSON.stringify(wanted)) return;
  if (text !== undefined)
    throw new InvalidRequestError(
      `the etcd holds a part of another copy (${text}); empty it first: etcdctl del "" --from-key=true`,
    );
  const { count } = await target.range({ key: '\0', rangeEnd: '\0', countOnly: true });
  if (count > 0) throw new InvalidRequestError(`the etcd holds ${count} keys already; an empty one is needed`);
  await target.txn({ compare: [], success: [put(noteKey, Buffer.from(JSON.stringify(wanted)))] });
}

/** In the order of their last changes, so that revisions keep their order. */
async function whatLacks(source: EmbeddedStore, target: Store, revision: number): Promise<KeyValue[]> {
  const present = new Map<string, Uint8Array>();
  for await (const page of pagesOf(target, 0)) for (const { key, value } of page) present.set(key, value);
  const missing: KeyValue[] = [];
  for await (const page of pagesOf(source, revision))
    for (const kv of page) {
      const there = present.get(kv.key);
      if (!there || !Buffer.from(there).equals(kv.value)) missing.push(kv);
    }
  return missing.sort((a, b) => a.modRevision - b.modRevision);
}

function* batched(kvs: readonly KeyValue[]): Generator<KeyValue[]> {
  let batch: KeyValue[] = [];
  let bytes = 0;
  for (const kv of kvs) {
    const size = kv.key.length + kv.value.length;
    if (batch.length > 0 && (batch.length === migrateTxnOperations || bytes + size > migrateTxnBytes)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(kv);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

async function inParallel<T>(items: Iterator<T>, work: (item: T) => Promise<void>): Promise<void> {
  const worker = async (): Promise<void> => {
    for (let next = items.next(); !next.done; next = items.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: migrateRequestsAtOnce }, worker));
}

/** Clients that know a revision must never find that it lies in the future. */
async function raiseRevision(target: Store, revision: number): Promise<void> {
  const { kvs, revision: reached } = await target.range({ key: noteKey });
  const value = kvs[0]?.value ?? Buffer.alloc(0);
  let left = revision - reached;
  function* steps(): Generator<number> {
    while (left-- > 0) yield left;
  }
  await inParallel(steps(), async () => {
    await target.txn({ compare: [], success: [put(noteKey, value)] });
  });
}
