// Moves between stores: whole, once, and again after an interruption.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyFromEtcd, copyToEtcd, type EmbeddedStore, openDiskStore, openMemoryStore, type Store } from '../index.ts';

const all = { key: '\0', rangeEnd: '\0' };
const put = (store: Store, key: string, value: string, lease = 0) =>
  store.txn({ compare: [], success: [{ op: 'put', key, value: Buffer.from(value), lease }] });

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'migrate-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function filled(): Promise<EmbeddedStore> {
  const store = openMemoryStore();
  const { id } = await store.leaseGrant(600);
  for (let i = 0; i < 700; i++) await put(store, `/registry/${i % 500}`, `value ${i} 한`, i % 7 === 0 ? id : 0);
  await store.txn({ compare: [], success: [{ op: 'delete', key: '/registry/3' }] });
  return store;
}

const contents = (store: EmbeddedStore) =>
  store.rangeSync(all).kvs.map(({ key, value, lease }) => [key, Buffer.from(value).toString(), lease]);
/** Takes so many transactions and then ends, as a process that is killed. */
const dying = (store: EmbeddedStore, after: number): Store =>
  new Proxy(store, {
    get(target, name, receiver) {
      if (name !== 'txn') return Reflect.get(target, name, receiver).bind?.(target) ?? Reflect.get(target, name, receiver);
      return (request: never) => (after-- > 0 ? target.txn(request) : Promise.reject(new Error('killed')));
    },
  });

test('a copy has the same keys, values and leases, and no lower revision', async () => {
  const [source, target] = [await filled(), openMemoryStore()];
  const moved = await copyToEtcd(source, target);
  expect(moved).toMatchObject({ keys: 499, already: 0, checksum: expect.stringMatching(/^[\da-f]{64}$/) });
  expect(contents(target)).toEqual(contents(source));
  expect(target.revision()).toBeGreaterThanOrEqual(source.revision());
  expect(target.leases()).toEqual([expect.objectContaining({ id: source.leases()[0]?.id, ttlSeconds: 600 })]);
  expect(target.rangeSync(all).count).toBe(499);
});

test.each([0, 1, 3, 5, 40])('a copy that ends after %i transactions goes on where it was', async (after) => {
  const [source, target] = [await filled(), openMemoryStore()];
  await expect(copyToEtcd(source, dying(target, after))).rejects.toThrow('killed');
  const moved = await copyToEtcd(source, target);
  expect(moved.keys).toBe(499);
  expect(contents(target)).toEqual(contents(source));
});

test('an etcd is not raised to a revision that only a restore has reached', async () => {
  const [source, target] = [await filled(), openMemoryStore()];
  const far = openMemoryStore({ snapshot: { ...source.snapshot(), revision: 1_000_000_000 } });
  await expect(copyToEtcd(far, target)).rejects.toThrow('begin the etcd with a snapshot of the store instead');
  expect(contents(target)).toEqual([]);
});

test('an etcd that holds something else is left alone', async () => {
  const [source, target] = [await filled(), openMemoryStore()];
  await put(target, '/mine', '1');
  await expect(copyToEtcd(source, target)).rejects.toThrow('the etcd holds 1 keys already; an empty one is needed');
  expect(contents(target)).toEqual([['/mine', '1', 0]]);
});

test('a part of another copy is not gone on with', async () => {
  const [source, target] = [await filled(), openMemoryStore()];
  await expect(copyToEtcd(source, dying(target, 1))).rejects.toThrow('killed');
  await put(source, '/later', '1');
  await expect(copyToEtcd(source, target)).rejects.toThrow(/holds a part of another copy/);
});

test('an embedded store begins with the same revisions', async () => {
  const source = await filled();
  const path = join(directory, 'store');
  const moved = await copyFromEtcd(source, path);
  expect(moved).toMatchObject({ keys: 499, revision: source.revision() });
  const store = await openDiskStore({ path, mustExist: true });
  expect(store.rangeSync(all).kvs).toEqual(source.rangeSync(all).kvs.map((kv) => ({ ...kv, value: Buffer.from(kv.value) })));
  expect(store.revision()).toBe(source.revision());
  await store.close();
  await expect(copyFromEtcd(source, path)).rejects.toThrow(/there is something in .* already/);
  expect(await readdir(directory)).toEqual(['store']);
});

test('a source that is written to meanwhile is no source', async () => {
  const source = await filled();
  let asked = 0;
  const busy = new Proxy(source, {
    get(target, name, receiver) {
      if (name !== 'range') return Reflect.get(target, name, receiver).bind?.(target) ?? Reflect.get(target, name, receiver);
      return async (request: never) => {
        if (++asked === 2) await put(target, '/busy', '1');
        return target.range(request);
      };
    },
  });
  await expect(copyFromEtcd(busy, join(directory, 'store'))).rejects.toThrow('somebody wrote to the etcd meanwhile');
  expect(await readdir(directory)).toEqual([]);
});
