// Snapshots in etcd's form: written and read back, refused when damaged, restored with all that the store had.
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { seededRng } from '#utils';
import {
  CompactedError,
  checkDiskStore,
  CorruptError,
  LockedError,
  openDiskStore,
  openMemoryStore,
  readSnapshotStatus,
  restoreSnapshot,
  saveSnapshot,
} from '../index.ts';
import { manualClock } from '../suite/manual-clock.ts';
import type { EmbeddedStore } from '../types.ts';
import { aheadOf } from './ahead.ts';
import { decodeSnapshot } from './index.ts';
import { crc32c } from './castagnoli.ts';

const root = await mkdtemp(join(tmpdir(), 'store-snapshot-'));
let paths = 0;
const fresh = (): string => join(root, String(paths++));
afterAll(() => rm(root, { recursive: true, force: true }));

const put = (key: string, value: string | Buffer, lease = 0) => ({
  compare: [],
  success: [{ op: 'put' as const, key, value: Buffer.from(value), lease }],
});
const all = { key: '\0', rangeEnd: '\0' };
/** All keys with a digest of what is stored under them, as text that is quick to compare. */
function stateOf(store: EmbeddedStore, revision = 0): string {
  const { kvs } = store.rangeSync({ ...all, revision });
  const lines = kvs.map(({ value, ...facts }) => `${JSON.stringify(facts)} ${createHash('sha256').update(value).digest('hex')}`);
  return lines.join('\n');
}

/** Many keys, one of them large, a lease, deletions, revisions of two changes, a compaction. */
async function busyStore(): Promise<EmbeddedStore> {
  const store = openMemoryStore({ clock: manualClock() });
  const { id } = await store.leaseGrant(500, 12_345_678_901);
  await Promise.all(Array.from({ length: 3000 }, (_, i) => store.txn(put(`/many/${i}`, `value ${i}`, i % 100 === 0 ? id : 0))));
  await store.txn(put('/large', Buffer.alloc(1_200_000, 'L')));
  await store.txn(put('/empty', ''));
  for (let i = 0; i < 20; i++)
    await store.txn({ compare: [], success: [...put('/a', String(i)).success, ...put('/b', '한글').success] });
  await store.txn({ compare: [], success: [{ op: 'delete', key: '/many/7' }] });
  await store.compact(store.revision() - 5);
  await store.txn({ compare: [], success: [{ op: 'delete', key: '/many/8' }] });
  return store;
}

test('a store that was saved and restored has the same keys and leases, and goes on where no client has been', async () => {
  const store = await busyStore();
  const file = fresh();
  const { revision, bytes } = await saveSnapshot(store, file);
  expect([revision, (await stat(file)).size, (await stat(file)).mode & 0o777]).toEqual([store.revision(), bytes, 0o600]);
  expect(await readSnapshotStatus(file)).toMatchObject({ revision, totalSize: bytes - 32, version: '3.6.0' });

  const path = fresh();
  const next = revision + 1_000_000_000;
  expect(await restoreSnapshot(path, file)).toEqual({ snapshot: revision, revision: next, before: undefined });
  const restored = await openDiskStore({ path });
  expect(stateOf(restored)).toBe(stateOf(store));
  expect([restored.revision(), restored.compactedRevision()]).toEqual([next, next]);
  for (const past of [revision, next - 1]) expect(() => restored.rangeSync({ ...all, revision: past })).toThrow(CompactedError);
  expect(restored.leases()).toEqual([expect.objectContaining({ id: 12_345_678_901, ttlSeconds: 500 })]);
  expect(restored.leases()[0]?.keys.length).toBe(30);
  await restored.close();
  await saveSnapshot(path, file);
  expect(decodeSnapshot(await readFile(file)).revision).toBe(next);
});

test('watches of after the snapshot end where it is restored, whatever was written since', async () => {
  const [path, file] = [fresh(), fresh()];
  const store = await openDiskStore({ path });
  await store.txn(put('/kept', '1'));
  await saveSnapshot(store, file);
  for (let i = 0; i < 9; i++) await store.txn(put('/lost', String(i)));
  const seen = store.revision();
  await store.close();
  expect(await restoreSnapshot(path, file)).toMatchObject({ snapshot: 2, revision: seen + 1 });
  const restored = await openDiskStore({ path });
  const ended = new Promise((onEnd) => restored.watch({ key: '/lost', startRevision: seen + 1, onEvents: () => {}, onEnd }));
  expect(await ended).toBeInstanceOf(CompactedError);
  const events = new Promise((onEvents) => restored.watch({ key: '/lost', startRevision: seen + 2, onEvents, onEnd: onEvents }));
  await restored.txn(put('/lost', 'again'));
  expect(await events).toMatchObject([{ kv: { modRevision: seen + 2, createRevision: seen + 2, version: 1 } }]);
  await restored.close();
});

test('a restore that was cut off has changed nothing, and the next one does not mind', async () => {
  const [path, file] = [fresh(), fresh()];
  const store = await openDiskStore({ path });
  await store.txn(put('/kept', '1'));
  await saveSnapshot(store, file);
  await store.close();
  await mkdir(join(`${path}.moving`, 'half'), { recursive: true });
  const before = await openDiskStore({ path });
  expect(before.rangeSync(all).kvs.map(({ key }) => key)).toEqual(['/kept']);
  await before.close();
  expect(await restoreSnapshot(path, file)).toMatchObject({ before: join(`${path}-before`, '1') });
  await expect(stat(`${path}.moving`)).rejects.toThrow('ENOENT');
  expect((await readdir(path)).filter((name) => name === 'half' || name === 'store.lock')).toEqual([]);
});

test('the mark of an earlier restore of etcd is no key, and leases with one id are one', () => {
  const kv = (key: string, modRevision: number) => ({
    key,
    value: Buffer.from(''),
    createRevision: 1,
    modRevision,
    version: 1,
    lease: 7,
  });
  const changes = [kv('/a', 2), kv('/b', 2), kv('/a', 3), kv('', 900)].map((one, sub) => ({ kv: one, deleted: false, sub }));
  const leases = [60, 3600, 5].map((ttlSeconds) => ({ id: 7, ttlSeconds }));
  const contents = { revision: 900, compactedRevision: 0, historyStart: 901, changes, leases };
  expect(aheadOf(contents, 5000)).toEqual({
    revision: 5001,
    compactedRevision: 5001,
    historyStart: 5002,
    changes: [
      { kv: kv('/b', 2), deleted: false, sub: 0 },
      { kv: kv('/a', 3), deleted: false, sub: 0 },
    ],
    leases: [{ id: 7, ttlSeconds: 3600 }],
  });
});

test('a damaged or cut snapshot is refused, and the store stays as it is', async () => {
  const store = openMemoryStore();
  await store.txn(put('/a', '1'));
  const file = fresh();
  await saveSnapshot(store, file);
  const whole = await readFile(file);
  const path = fresh();
  await (await openDiskStore({ path })).close();
  const rng = seededRng(5);
  for (let round = 0; round < 50; round++) {
    const damaged = Buffer.from(whole);
    const at = rng.int(damaged.length);
    damaged[at] = (damaged[at] ?? 0) ^ (1 << rng.int(8));
    await writeFile(file, damaged);
    await expect(restoreSnapshot(path, file)).rejects.toThrow('the snapshot is damaged: its checksum does not match');
  }
  for (const length of [0, 100, 4096, whole.length - 32, whole.length - 1]) {
    await writeFile(file, whole.subarray(0, length));
    await expect(readSnapshotStatus(file)).rejects.toBeInstanceOf(CorruptError);
  }
  await writeFile(file, 'kind: Config');
  await expect(restoreSnapshot(path, file)).rejects.toThrow('the snapshot is not whole');
  for (const endless of ['/dev/zero', tmpdir()])
    await expect(restoreSnapshot(path, endless)).rejects.toThrow(`a snapshot is a file, and ${endless} is none`);
  expect((await checkDiskStore(path)).damages).toEqual([]);
});

test('a store that is open is not replaced; one that is closed is kept aside', async () => {
  const file = fresh();
  const source = openMemoryStore();
  await source.txn(put('/from', 'snapshot'));
  await saveSnapshot(source, file);
  const path = fresh();
  const store = await openDiskStore({ path });
  await store.txn(put('/before', '1'));
  await expect(restoreSnapshot(path, file)).rejects.toBeInstanceOf(LockedError);
  expect(await checkDiskStore(path)).toMatchObject({ damages: [], records: 1, openIn: process.pid });
  await store.close();
  expect(await restoreSnapshot(path, file)).toEqual({ snapshot: 2, revision: 3, before: join(`${path}-before`, '1') });
  const [restored, kept] = [await openDiskStore({ path }), await openDiskStore({ path: join(`${path}-before`, '1') })];
  expect([restored, kept].map((one) => one.rangeSync(all).kvs.map(({ key }) => key))).toEqual([['/from'], ['/before']]);
  await Promise.all([restored.close(), kept.close()]);
});

test('whatever the bytes of a data file are, reading it ends', async () => {
  const store = await busyStore();
  const file = fresh();
  await saveSnapshot(store, file);
  const whole = await readFile(file);
  const { contentsOfBolt } = await import('./etcd-schema.ts');
  const rng = seededRng(9);
  for (let round = 0; round < 100; round++) {
    const damaged = Buffer.from(whole.subarray(0, whole.length - 32));
    for (let i = 0; i < 20; i++) damaged[8192 + rng.int(damaged.length - 8192)] = rng.int(256);
    try {
      contentsOfBolt(damaged);
    } catch (error) {
      expect((error as Error).name).toMatch(/CorruptError|InvalidRequestError/);
    }
  }
});

test('CRC-32C of the check string of the standard', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
  expect(crc32c(Buffer.from('6789'), crc32c(Buffer.from('12345')))).toBe(0xe3069283);
});
