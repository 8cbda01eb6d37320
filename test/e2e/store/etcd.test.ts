// The data of a cluster in a real etcd and back, and the embedded store behind etcd's API: `sagong store migrate`, `sagong etcd`, etcdctl.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEtcd, type EtcdCluster, versionOf } from '../../interop/etcd-cluster.ts';
import { freePort } from '../../support/ports.ts';
import { binary, eventually, type Output, run, TestCluster } from '../cluster/harness.ts';

const version = versionOf('etcd') && versionOf('etcdctl', 'version');
const alone = ['--nodes', '0'];

describe.skipIf(!version)(`etcd${version ? '' : ' (skipped: no etcd on this machine)'}`, () => {
  let cluster: TestCluster;
  let etcd: EtcdCluster;
  const started: ChildProcess[] = [];
  beforeAll(async () => {
    cluster = await TestCluster.create();
    etcd = await startEtcd(3);
    await cluster.up(...alone);
  });
  afterAll(async () => {
    for (const child of started) child.kill('SIGKILL');
    await cluster.sagong('down');
    await etcd.stop();
    await rm(cluster.home, { recursive: true, force: true });
  });
  const etcdctl = (endpoint: string, ...args: string[]): Promise<Output> =>
    run('etcdctl', [`--endpoints=${endpoint}`, ...args], { env: { ETCDCTL_API: '3' } });
  const migrate = (...args: string[]): Promise<Output> => cluster.run(['store', 'migrate'], args);
  const configMaps = async (): Promise<string[]> =>
    (await cluster.kubectl('get', 'configmaps', '-o', 'name')).split('\n').filter((name) => name.includes('/kept-'));

  test('the data moves to etcd and back; who is interrupted goes on; nothing moves while the cluster runs', async () => {
    const toEtcd = ['--to', 'etcd', '--etcd-servers', etcd.endpoints.join(',')];
    for (let i = 0; i < 5; i++) await cluster.kubectl('create', 'configmap', `kept-${i}`, '--from-literal=a=b');
    const kept = await configMaps();
    const uid = await cluster.kubectl('get', 'configmap', 'kept-0', '-o', 'jsonpath={.metadata.uid}');
    const running = await migrate(...toEtcd);
    expect([running.code, running.stderr]).toEqual([
      1,
      expect.stringMatching(/runs \(process \d+\); stop it first: sagong stop/),
    ]);
    await cluster.sagong('stop');

    // Killed wherever it is; the next one is whole all the same, also when a member dies.
    const first = spawn(process.execPath, [binary, 'store', 'migrate', '--data-dir', cluster.dataDir, ...toEtcd], {
      stdio: 'ignore',
    });
    await eventually('the first keys are copied', async () => {
      if (first.exitCode !== null) return true;
      return (await etcdctl(etcd.endpoints[0] ?? '', 'get', '', '--from-key', '--keys-only')).stdout !== '';
    });
    first.kill('SIGKILL');
    if (first.exitCode === null && first.signalCode === null) await once(first, 'exit');
    if (first.exitCode !== 0) {
      const going = migrate(...toEtcd);
      await etcd.members[0]?.kill();
      // Two of three go on; who was at the third begins again.
      const went = await going;
      const moved = went.code === 0 ? went : await migrate(...toEtcd);
      expect([moved.code, moved.stdout + moved.stderr]).toEqual([0, expect.stringMatching(/^Moved \d+ keys.*verified: SHA-256/)]);
    }
    const settings = JSON.parse(await readFile(join(cluster.dataDir, 'cluster.json'), 'utf8')) as { etcd: { servers: string[] } };
    expect(settings.etcd.servers).toEqual(etcd.endpoints);
    await cluster.up(...alone);
    expect(await configMaps()).toEqual(kept);
    expect(await cluster.kubectl('get', 'configmap', 'kept-0', '-o', 'jsonpath={.metadata.uid}')).toBe(uid);
    await cluster.kubectl('create', 'configmap', 'kept-in-etcd', '--from-literal=a=b');
    const key = '/registry/configmaps/default/kept-in-etcd';
    expect((await etcdctl(etcd.endpoints[1] ?? '', 'get', key, '--keys-only')).stdout.trim()).toBe(key);
    const again = await migrate('--to', 'embedded');
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('stop it first')]);

    await cluster.sagong('stop');
    const back = await migrate('--to', 'embedded');
    expect([back.code, back.stdout + back.stderr]).toEqual([0, expect.stringMatching(/^Moved \d+ keys/)]);
    await etcd.stop();
    await cluster.up(...alone);
    expect(await configMaps()).toEqual([...kept, 'configmap/kept-in-etcd']);
  });

  test('sagong etcd serves the store of a stopped cluster to etcdctl, with snapshots', async () => {
    const path = join(cluster.dataDir, 'store');
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const flags = ['etcd', '--data-dir', path, '--listen-client-urls', url, '--advertise-client-urls', url];
    const taken = await cluster.run(flags, [], false);
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining('is already open in process')]);
    await cluster.sagong('stop');
    const child = spawn(process.execPath, [binary, ...flags], { stdio: 'ignore' });
    started.push(child);
    await eventually('it answers', async () => (await etcdctl(url, 'endpoint', 'health')).code === 0);
    expect((await etcdctl(url, 'member', 'list')).stdout).toContain(url);
    expect((await etcdctl(url, 'get', '/registry/configmaps/default/kept-0', '--keys-only')).stdout.trim()).toMatch(/kept-0$/);
    expect((await etcdctl(url, 'alarm', 'list')).stdout).toBe('');
    const file = join(cluster.home, 'etcd.db');
    const saved = await etcdctl(url, 'snapshot', 'save', file);
    expect([saved.code, saved.stdout]).toEqual([0, expect.stringContaining('Snapshot saved at')]);
    const [theirs, ours] = await Promise.all([
      run('etcdctl', ['snapshot', 'status', file, '--write-out=json'], { env: { ETCDCTL_API: '3' } }),
      cluster.run(['snapshot', 'status'], [file, '-o', 'json'], false),
    ]);
    const { version: _, ...status } = JSON.parse(ours.stdout) as Record<string, unknown>;
    expect(JSON.parse(theirs.stdout)).toEqual(status);
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).toBe(0);
    const several = await cluster.run([...flags, '--initial-cluster', 'a=http://1.2.3.4:2380,b=http://1.2.3.5:2380'], [], false);
    expect([several.code, several.stderr]).toEqual([1, expect.stringContaining('names 2 members, and this etcd is one')]);
  });
});
