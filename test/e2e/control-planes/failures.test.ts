// A control plane on three machines, each with an etcd member: one of them is switched off, paused, cut off by the network, loses its disk, or is replaced,
// while clients write. They go on after a bounded pause, and no write that was acknowledged is lost.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, TestCluster } from '../cluster/harness.ts';
import { failureKinds, Planes } from './planes.ts';
import { stored, Writers } from './writers.ts';

let cluster: TestCluster;
let planes: Planes;
let writers: Writers;

/** The members as one of them sees them. */
const members = async (name: string): Promise<string[]> => (await planes.etcdctl(name, 'member', 'list')).trim().split('\n');
/** How clients fare while `fail` has happened to a machine, and after `mend`. */
async function through(
  kind: string,
  fail: (name: string) => Promise<unknown>,
  mend: (name: string) => Promise<unknown>,
): Promise<void> {
  const name = await planes.leader();
  writers.mark();
  await fail(name);
  const before = writers.acknowledged.length;
  await eventually('others serve the clients', async () => writers.acknowledged.length > before + 200, 90_000);
  const { nobodyMs, slowestMs } = writers.pauses;
  console.info(
    `${kind}: nobody wrote for ${nobodyMs} ms, the slowest write took ${slowestMs} ms`,
    Object.fromEntries(writers.refusals),
  );
  await mend(name);
  await planes.healthy();
}

beforeAll(async () => {
  cluster = await TestCluster.create();
  planes = new Planes(cluster);
  await cluster.up('--control-planes', '3', '--nodes', '1');
  await planes.healthy();
  writers = new Writers(planes.kubeconfig, 8);
}, 240_000);
afterAll(async () => {
  await writers?.stop();
  await cluster?.destroy();
}, 120_000);

describe('a control plane on three machines', { timeout: 240_000 }, () => {
  it('shows its machines and who leads', async () => {
    const { stdout } = await cluster.sagong('status');
    for (const [index, name] of planes.names.entries())
      expect(stdout).toMatch(new RegExp(`^${name} +local-1${'abc'[index]} +running`, 'm'));
    expect((await cluster.sagong('node', 'list')).stdout).toMatch(/^control-plane-1 .* control-plane$/m);
    const leases = await cluster.kubectl('get', 'leases', '-n', 'kube-system', '-o', 'name');
    for (const lease of ['kube-controller-manager', 'kube-scheduler', 'cloud-controller-manager'])
      expect(leases).toContain(`/${lease}\n`);
  });

  it.each(failureKinds)('goes on when one is %s', (kind) =>
    through(
      kind,
      (name) => planes.fail(kind, name),
      (name) => planes.mend(kind, name),
    ),
  );

  it('goes on when one loses its disk, and takes it back as a new member', async () => {
    let lost = '';
    await through(
      'disk gone',
      async (name) => {
        lost = name;
        await planes.node('stop', name);
        await rm(join(cluster.dataDir, 'control-planes', name, 'etcd'), { recursive: true });
      },
      (name) => planes.node('start', name),
    );
    const all = await members(lost);
    expect(all).toHaveLength(3);
    expect(all.every((line) => line.includes(', started, '))).toBe(true);
  });

  it('goes on when one is replaced by a new machine', async () => {
    await through(
      'replaced',
      (name) => planes.node('terminate', name),
      (name) => planes.node('add', name),
    );
    expect(await members(planes.names[0] ?? '')).toHaveLength(3);
  });

  it('has lost no acknowledged write', async () => {
    await writers.stop();
    console.info(`${writers.acknowledged.length} acknowledged writes`);
    expect(await writers.lost(planes.kubeconfig)).toEqual([]);
    expect(writers.acknowledged.length).toBeGreaterThan(1_000);
  });

  it('comes back from a snapshot after a stop of everything, and still runs pods', async () => {
    const file = join(cluster.home, 'etcd.db');
    const saved = await cluster.run(['snapshot', 'save'], [file]);
    expect(saved.stdout + saved.stderr).toMatch(/^Snapshot of etcd saved at .*etcd\.db from control-plane-\d: /);
    await cluster.kubectl('create', 'configmap', 'later');
    expect((await cluster.run(['snapshot', 'restore'], [file])).stderr).toContain('stop it first');
    expect((await cluster.sagong('stop')).code).toBe(0);
    const restored = await cluster.run(['snapshot', 'restore'], [file]);
    expect(restored.stdout).toContain('control-plane-2 and control-plane-3 will join it at the next start\n');
    await cluster.up();
    await planes.whole();
    expect((await stored(planes.kubeconfig)).size).toBeGreaterThan(1_000);
    expect((await cluster.tryKubectl('get', 'configmap', 'later')).stderr).toContain('NotFound');
    expect(await cluster.kubectl('get', 'nodes')).toMatch(/node-1 +Ready/);
  });
});
