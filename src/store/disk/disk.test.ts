// The store on a disk through the contract suite, and what a disk adds: reopening, restoring, exclusive use, file modes.
import { mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { EmbeddedStore } from '../index.ts';
import { CompactedError, CorruptError, LockedError, openDiskStore, openMemoryStore } from '../index.ts';
import { storeSuite } from '../suite/index.ts';
import { manualClock } from '../suite/manual-clock.ts';

const root = await mkdtemp(join(tmpdir(), 'store-disk-'));
let directories = 0;
const freshPath = (): string => join(root, String(directories++));
afterAll(() => rm(root, { recursive: true, force: true }));

storeSuite('disk', {
  async open() {
    const clock = manualClock();
    const store = await openDiskStore({ path: freshPath(), clock });
    return { store, advance: async (milliseconds) => clock.advance(milliseconds), release: () => store.close() };
  },
});

const put = (key: string, value = key) => ({ compare: [], success: [{ op: 'put' as const, key, value: Buffer.from(value) }] });
const everything = (store: EmbeddedStore, revision = 0) => store.rangeSync({ key: '\0', rangeEnd: '\0', revision });

async function eventsFrom(store: EmbeddedStore, startRevision: number): Promise<string[]> {
  const events: string[] = [];
  const watch = store.watch({
    key: '\0',
    rangeEnd: '\0',
    startRevision,
    onEvents: (batch) => events.push(...batch.map(({ type, kv }) => `${kv.modRevision} ${type} ${kv.key}`)),
    onEnd: (error) => events.push(error.name),
  });
  await new Promise((resolve) => setImmediate(resolve));
  watch.cancel();
  return events;
}

test('a reopened store has the same keys, history, leases and revisions', async () => {
  const path = freshPath();
  const clock = manualClock();
  const before = await openDiskStore({ path, clock });
  const { id } = await before.leaseGrant(30);
  await before.txn(put('/a', '1'));
  await before.txn({ compare: [], success: [...put('/b').success, ...put('/c').success] });
  await before.txn({ compare: [], success: [{ op: 'put', key: '/leased', value: Buffer.alloc(0), lease: id }] });
  await before.txn({ compare: [], success: [{ op: 'delete', key: '/b' }] });
  await before.txn(put('/a', '2'));
  const state = everything(before);
  const past = everything(before, 3);
  const history = await eventsFrom(before, 2);
  await before.close();

  const after = await openDiskStore({ path, clock });
  expect(everything(after)).toEqual(state);
  expect(everything(after, 3)).toEqual(past);
  expect(await eventsFrom(after, 2)).toEqual(history);
  expect(history).toHaveLength(6);
  clock.advance(31_000);
  await after.txn(put('/d'));
  expect(after.rangeSync({ key: '/leased' }).count).toBe(0);
  await after.close();
});

test('compaction survives a restart and gives records back', async () => {
  const path = freshPath();
  const before = await openDiskStore({ path });
  for (let i = 0; i < 50; i++) await before.txn(put('/hot', String(i)));
  await before.txn(put('/gone'));
  await before.txn({ compare: [], success: [{ op: 'delete', key: '/gone' }] });
  const { revision } = await before.txn(put('/hot', 'kept'));
  await before.txn(put('/hot', 'last'));
  await before.compact(revision);
  await before.close();

  const after = await openDiskStore({ path });
  expect([after.revision(), after.compactedRevision(), after.stats().keys]).toEqual([revision + 1, revision, 1]);
  expect(() => everything(after, revision - 1)).toThrow(CompactedError);
  expect(everything(after, revision).kvs.map((kv) => String(kv.value))).toEqual(['kept']);
  expect(await eventsFrom(after, revision - 1)).toEqual(['CompactedError']);
  expect(await eventsFrom(after, revision)).toEqual([`${revision} PUT /hot`, `${revision + 1} PUT /hot`]);
  await after.close();
});

test('a snapshot is restored into an empty directory only', async () => {
  const source = openMemoryStore();
  for (const key of ['/a', '/b', '/c']) await source.txn(put(key));
  await source.txn({ compare: [], success: [{ op: 'delete', key: '/b' }] });
  const path = freshPath();
  const restored = await openDiskStore({ path, snapshot: source.snapshot() });
  expect(everything(restored)).toEqual(everything(source));
  expect((await restored.txn(put('/d'))).revision).toBe(source.revision() + 1);
  await restored.close();
  await expect(openDiskStore({ path, snapshot: source.snapshot() })).rejects.toBeInstanceOf(CorruptError);
  const reopened = await openDiskStore({ path });
  expect([reopened.revision(), reopened.stats().keys]).toEqual([source.revision() + 1, 3]);
  await reopened.close();
});

test('a second opening is refused by name, and possible again after closing or after the holder died', async () => {
  const path = freshPath();
  const store = await openDiskStore({ path });
  const failure = await openDiskStore({ path }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(LockedError);
  expect((failure as Error).message).toBe(`store ${path} is already open in this process`);
  await store.close();
  // A process id that cannot exist: beyond the kernel's largest. Earlier versions wrote a file.
  await symlink(`${2 ** 22 + 1}:x/1:y`, join(path, 'store.lock'));
  await (await openDiskStore({ path })).close();
  await writeFile(join(path, 'store.lock'), JSON.stringify({ pid: 2 ** 22 + 1, started: 'x/1', nonce: 'y' }));
  await (await openDiskStore({ path })).close();
});

test('only the owner can read the files', async () => {
  const path = freshPath();
  const store = await openDiskStore({ path });
  const files = (await readdir(path)).filter((name) => name !== 'store.lock');
  const modes = await Promise.all(['', ...files].map((file) => stat(join(path, file))));
  expect(files).toEqual(expect.arrayContaining(['000000000001.log', 'store']));
  expect(modes.map(({ mode }) => (mode & 0o777).toString(8))).toEqual(['700', ...files.map(() => '600')]);
  await store.close();
});
