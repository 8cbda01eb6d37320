// A control plane on three machines, each with an etcd member: one of them is switched off, paused, cut off by the network, loses its disk, or is replaced,
// while clients write. They go on after a bounded pause, and no write that was acknowledged is lost.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, run, TestCluster } from '../cluster/harness.ts';
import { stored, Writers } from './writers.ts';

const names = [1, 2, 3].map((number) => `control-plane-${number}`);
let cluster: TestCluster;
let writers: Writers;

const kubeconfig = (): string => join(cluster.dataDir, 'kubeconfig');
async function node(action: string, name: string): Promise<void> {
  const { code, stdout, stderr } = await cluster.sagong('node', action, name);
  if (code !== 0) throw new Error(`sagong node ${action} ${name}: ${stdout}${stderr}`);
}
const inside = async (name: string, ...words: string[]) => run('nsenter', [await cluster.nodeNetns(name), ...words]);
/** Processes of a machine. */
async function pids(name: string): Promise<string[]> {
  const netns = (await cluster.nodeNetns(name)).slice('--net=/run/netns/'.length);
  return (await run('ip', ['netns', 'pids', netns])).stdout.trim().split('\n');
}
const healthy = (): Promise<unknown> =>
  eventually(
    'all apiservers are ready',
    async () => (await cluster.sagong('status')).stdout.match(/ healthy$/gm)?.length === names.length,
    120_000,
  );
async function etcdctl(name: string, ...words: string[]): Promise<string> {
  const pki = join(cluster.dataDir, 'control-planes', name, 'pki', 'etcd');
  const flags = ['--cacert', `${pki}/ca.crt`, '--cert', `${pki}/peer.crt`, '--key', `${pki}/peer.key`];
  const { stdout } = await inside(name, 'env', 'ETCDCTL_API=3', 'etcdctl', ...flags, '--endpoints', '127.0.0.1:2379', ...words);
  return stdout;
}
/** The members as one of them sees them. */
const members = async (name: string): Promise<string[]> => (await etcdctl(name, 'member', 'list')).trim().split('\n');
/** Whose etcd leads: the worst one to lose. */
async function leader(): Promise<string> {
  for (const name of names) {
    if ((await etcdctl(name, 'endpoint', 'status')).split(', ')[4] === 'true') return name;
  }
  throw new Error('no member of etcd leads');
}
/** How clients fare while `fail` has happened to a machine, and after `mend`. */
async function through(
  kind: string,
  fail: (name: string) => Promise<unknown>,
  mend: (name: string) => Promise<unknown>,
): Promise<void> {
  const name = await leader();
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
  await healthy();
}

beforeAll(async () => {
  cluster = await TestCluster.create();
  await cluster.up('--control-planes', '3', '--nodes', '1');
  await healthy();
  writers = new Writers(kubeconfig(), 8);
}, 240_000);
afterAll(async () => {
  await writers?.stop();
  await cluster?.destroy();
}, 120_000);

describe('a control plane on three machines', { timeout: 240_000 }, () => {
  it('shows its machines and who leads', async () => {
    const { stdout } = await cluster.sagong('status');
    for (const [index, name] of names.entries())
      expect(stdout).toMatch(new RegExp(`^${name} +local-1${'abc'[index]} +running`, 'm'));
    expect((await cluster.sagong('node', 'list')).stdout).toMatch(/^control-plane-1 .* control-plane$/m);
    const leases = await cluster.kubectl('get', 'leases', '-n', 'kube-system', '-o', 'name');
    for (const lease of ['kube-controller-manager', 'kube-scheduler', 'cloud-controller-manager'])
      expect(leases).toContain(`/${lease}\n`);
  });

  it('goes on when one is switched off', () =>
    through(
      'switched off',
      (name) => node('stop', name),
      (name) => node('start', name),
    ));

  it('goes on when one is paused', async () => {
    let paused: string[] = [];
    await through(
      'paused',
      async (name) => {
        paused = await pids(name);
        await run('kill', ['-STOP', ...paused]);
      },
      () => run('kill', ['-CONT', ...paused]),
    );
  });

  it('goes on when one is cut off', () => {
    const cut = async (name: string, action: string): Promise<void> => {
      await inside(name, 'iptables', '-w', action, 'INPUT', '!', '-i', 'lo', '-j', 'DROP');
      await inside(name, 'iptables', '-w', action, 'OUTPUT', '!', '-o', 'lo', '-j', 'DROP');
    };
    return through(
      'cut off',
      (name) => cut(name, '-I'),
      (name) => cut(name, '-D'),
    );
  });

  it('goes on when one loses its disk, and takes it back as a new member', async () => {
    let lost = '';
    await through(
      'disk gone',
      async (name) => {
        lost = name;
        await node('stop', name);
        await rm(join(cluster.dataDir, 'control-planes', name, 'etcd'), { recursive: true });
      },
      (name) => node('start', name),
    );
    const all = await members(lost);
    expect(all).toHaveLength(3);
    expect(all.every((line) => line.includes(', started, '))).toBe(true);
  });

  it('goes on when one is replaced by a new machine', async () => {
    await through(
      'replaced',
      (name) => node('terminate', name),
      (name) => node('add', name),
    );
    expect(await members(names[0] ?? '')).toHaveLength(3);
  });

  it('has lost no acknowledged write', async () => {
    await writers.stop();
    const there = await stored(kubeconfig());
    console.info(`${writers.acknowledged.length} acknowledged writes`);
    expect(writers.acknowledged.filter((name) => !there.has(name))).toEqual([]);
    expect(writers.acknowledged.length).toBeGreaterThan(1_000);
  });

  it('still runs pods and comes back after a stop of everything', async () => {
    expect((await cluster.sagong('stop')).code).toBe(0);
    await cluster.up();
    await healthy();
    expect((await stored(kubeconfig())).size).toBeGreaterThan(1_000);
    expect(await cluster.kubectl('get', 'nodes')).toMatch(/node-1 +Ready/);
  });
});
