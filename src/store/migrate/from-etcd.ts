// Begins an embedded store with all that an etcd holds, at the same revisions. It is made beside its place and moved there when it was verified: an
// interrupted move leaves nothing that could be taken for the whole.
import { rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ensureDir, syncDir } from '#host';
import { InvalidRequestError, LeaseNotFoundError, StoreError } from '../errors.ts';
import { open } from '../disk/index.ts';
import { unknownLeaseSeconds } from '../limits.ts';
import type { KeyValue, Store } from '../types.ts';
import { digestOf, pagesOf, sameDigest } from './digest.ts';
import type { Moved } from './to-etcd.ts';

/** Rejects with a sentence when something is in `path` already, or when the etcd was written to meanwhile. */
export async function copyFromEtcd(source: Store, path: string): Promise<Moved> {
  if (await stat(path).catch(() => undefined))
    throw new InvalidRequestError(`there is something in ${path} already; move it away first`);
  const { revision } = await source.range({ key: '\0', countOnly: true });
  const kvs: KeyValue[] = [];
  for await (const page of pagesOf(source, revision)) kvs.push(...page);
  const draft = `${path}.moving`;
  await rm(draft, { recursive: true, force: true });
  await ensureDir(dirname(path));
  const leases = await leasesOf(source, kvs);
  const held = kvs.map((kv) => (kv.lease === 0 ? kv : { ...kv, lease: leases.get(kv.lease)?.id ?? 0 }));
  const snapshot = { revision, compactedRevision: revision, kvs: held, leases: [...leases.values()] };
  const store = await open({ path: draft, snapshot });
  try {
    const [there, here] = [await digestOf(source, revision), await digestOf(store, 0)];
    if (!sameDigest(there, here))
      throw new StoreError(
        `the copy differs: ${here.keys} keys with checksum ${here.checksum}, and not ${there.keys} with ${there.checksum}`,
      );
    const now = await source.range({ key: '\0', countOnly: true });
    if (now.revision !== revision)
      throw new StoreError('somebody wrote to the etcd meanwhile; stop every apiserver that uses it, and run it again');
    await store.close();
    await rename(draft, path);
    await syncDir(dirname(path));
    return { ...here, revision, already: 0 };
  } catch (error) {
    await store.close();
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

/**
 * The leases that keys hang on, by their ids in the etcd. Each begins its time anew, as after a restore. An id of 64 bits cannot be asked for here: such a
 * lease gets another id, and the time that apiservers give to events.
 */
async function leasesOf(source: Store, kvs: readonly KeyValue[]): Promise<Map<number, { id: number; ttlSeconds: number }>> {
  const ids = [...new Set(kvs.map(({ lease }) => lease).filter((lease) => lease !== 0))];
  const taken = new Set(ids);
  let next = 1;
  const free = (): number => {
    while (taken.has(next)) next++;
    taken.add(next);
    return next;
  };
  const leases = new Map<number, { id: number; ttlSeconds: number }>();
  for (const id of ids) {
    const ttlSeconds = Number.isSafeInteger(id) ? await remaining(source, id) : unknownLeaseSeconds;
    leases.set(id, { id: Number.isSafeInteger(id) ? id : free(), ttlSeconds });
  }
  return leases;
}

async function remaining(source: Store, id: number): Promise<number> {
  try {
    return (await source.leaseKeepAlive(id)).ttlSeconds;
  } catch (error) {
    if (error instanceof LeaseNotFoundError) return unknownLeaseSeconds;
    throw error;
  }
}
