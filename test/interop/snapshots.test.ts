// Snapshots between this store and a real etcd, both ways, with etcdctl's own words about them.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  CompactedError,
  type EmbeddedStore,
  openDiskStore,
  openEtcdStore,
  openMemoryStore,
  readSnapshotStatus,
  restoreSnapshot,
  saveSnapshot,
  type Store,
  writeSnapshotAhead,
} from '#store';
import { startEtcd, startMember, versionOf } from './etcd-cluster.ts';
import { freePort } from '../support/ports.ts';

const version = versionOf('etcd') && versionOf('etcdctl', 'version');
const run = promisify(execFile);
const etcdctl = async (...args: string[]): Promise<string> =>
  (await run('etcdctl', args, { env: { ...process.env, ETCDCTL_API: '3' } })).stdout.trimEnd();
const all = { key: '\0', rangeEnd: '\0' };

async function fill(store: Store): Promise<void> {
  const put = (key: string, value: string, lease = 0) =>
    store.txn({ compare: [], success: [{ op: 'put', key, value: Buffer.from(value), lease }] });
  const { id } = await store.leaseGrant(3600);
  for (let i = 0; i < 500; i++) await put(`/registry/k${i}`, `value ${i} ${'x'.repeat(i * 20)}`, i % 50 === 0 ? id : 0);
  for (let i = 0; i < 10; i++) await put('/registry/hot', String(i));
  await store.txn({ compare: [], success: [{ op: 'delete', key: '/registry/k3' }] });
  await store.compact(store.revision() - 4);
  await store.txn({ compare: [], success: [{ op: 'delete', key: '/registry/k4' }] });
  await put('/last', '마지막');
}

const plain = (response: { kvs: readonly { value: Uint8Array }[] }) =>
  response.kvs.map((kv) => ({ ...kv, value: String(Buffer.from(kv.value)) }));

describe.skipIf(!version)(`snapshots and etcd${version ? '' : ' (skipped: no etcd on this machine)'}`, () => {
  let directory = '';
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'snapshots-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  test('etcd restores what was saved here: same keys, revisions, history and leases', async () => {
    const store: EmbeddedStore = openMemoryStore();
    await fill(store);
    const file = join(directory, 'ours.db');
    await saveSnapshot(store, file);
    const said = JSON.parse(await etcdctl('snapshot', 'status', file, '--write-out=json'));
    const { hash, revision, totalKey, totalSize } = await readSnapshotStatus(file);
    expect(said).toMatchObject({ hash, revision, totalKey, totalSize });

    const ports = [await freePort(), await freePort()];
    const peer = `http://127.0.0.1:${ports[1]}`;
    const identity = ['--name', 'm0', '--initial-cluster', `m0=${peer}`, '--initial-advertise-peer-urls', peer];
    await etcdctl('snapshot', 'restore', file, '--data-dir', join(directory, 'm0'), ...identity);
    const member = startMember(directory, 0, ports[0] ?? 0, [`m0=${peer}`]);
    const etcd = await openEtcdStore({ endpoints: [member.endpoint] });
    try {
      const read = await etcd.range(all);
      expect(plain(read)).toEqual(plain(store.rangeSync(all)));
      expect(read.revision).toBe(store.revision());
      const past = store.compactedRevision() + 2;
      expect(plain(await etcd.range({ ...all, revision: past }))).toEqual(plain(store.rangeSync({ ...all, revision: past })));
      const leased = store.leases()[0];
      expect((await etcd.leaseKeepAlive(leased?.id ?? 0)).ttlSeconds).toBe(leased?.ttlSeconds);
      await etcd.txn({ compare: [], success: [{ op: 'put', key: '/new', value: Buffer.from('1') }] });
    } finally {
      await etcd.close();
      await member.kill();
      await store.close();
    }
  });

  test('etcd begins beyond all that clients of before have seen, and ends their watches, also after it was started anew', async () => {
    const store = openMemoryStore();
    await fill(store);
    const [saved, ahead] = [join(directory, 'saved.db'), join(directory, 'ahead.db')];
    await saveSnapshot(store, saved);
    const { revision } = await writeSnapshotAhead(saved, ahead);
    expect(revision).toBe(store.revision() + 1_000_000_000);
    const ports = [await freePort(), await freePort()];
    const peer = `http://127.0.0.1:${ports[1]}`;
    const identity = ['--name', 'm0', '--initial-cluster', `m0=${peer}`, '--initial-advertise-peer-urls', peer];
    await etcdctl('snapshot', 'restore', ahead, '--data-dir', join(directory, 'ahead', 'm0'), ...identity);
    for (const start of [1, 2]) {
      const member = startMember(join(directory, 'ahead'), 0, ports[0] ?? 0, [`m0=${peer}`]);
      const etcd = await openEtcdStore({ endpoints: [member.endpoint] });
      try {
        const read = await etcd.range(all);
        if (start === 1) expect(plain(read)).toEqual(plain(store.rangeSync(all)));
        expect(read.revision).toBe(revision + start - 1);
        const ended = new Promise((onEnd) =>
          etcd.watch({ key: '/', rangeEnd: '0', startRevision: store.revision() + 5_000, onEvents: () => {}, onEnd }),
        );
        expect(await ended).toBeInstanceOf(CompactedError);
        await etcd.txn({ compare: [], success: [{ op: 'put', key: '/new', value: Buffer.from('1') }] });
      } finally {
        await etcd.close();
        await member.kill();
      }
    }
    await store.close();
  });

  test('what etcdctl saved is restored here', async () => {
    const cluster = await startEtcd(1);
    try {
      const etcd = await openEtcdStore({ endpoints: cluster.endpoints });
      await fill(etcd);
      const file = join(directory, 'theirs.db');
      await etcdctl(`--endpoints=${cluster.endpoints[0]}`, 'snapshot', 'save', file);
      const said = JSON.parse(await etcdctl('snapshot', 'status', file, '--write-out=json'));
      const { hash, revision, totalKey, totalSize } = await readSnapshotStatus(file);
      expect({ hash, revision, totalKey, totalSize }).toEqual(said);
      const path = join(directory, 'restored');
      await restoreSnapshot(path, file);
      const store = await openDiskStore({ path });
      expect(plain(store.rangeSync(all))).toEqual(plain(await etcd.range(all)));
      expect(store.revision()).toBeGreaterThan(etcd.revision());
      expect(store.leases()).toEqual([
        expect.objectContaining({ ttlSeconds: 3600, keys: expect.arrayContaining(['/registry/k0']) }),
      ]);
      await store.close();
      await etcd.close();
    } finally {
      await cluster.stop();
    }
  });
});
