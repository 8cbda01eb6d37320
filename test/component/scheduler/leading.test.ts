// Two schedulers of which one decides: what happens when it is cut off from the apiserver, and when it is stopped. In virtual time.
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Lease } from '#api/coordination/v1';
import type { Pod } from '#api/core/v1';
import type { Transport } from '#apimachinery/transport';
import { createClient } from '#client';
import { defaultLeaderElection } from '#component-base';
import { type KubeScheduler, runKubeScheduler } from '#scheduler';
import { startTestControlPlane, type TestControlPlane, type VirtualClock, virtualClock } from '#testing';
import { seededRng, silentLogger } from '#utils';
import { nodeOf, nodes, podOf, pods } from './cluster.ts';

const leaseMs = 15_000;
const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
let clock: VirtualClock;
let plane: TestControlPlane;
let schedulers: { scheduler: KubeScheduler; ended: boolean; cutOff(): void }[];

function start(identity: string) {
  const transport = plane.apiserver.transport(
    { name: 'system:kube-scheduler', groups: ['system:authenticated'] },
    'kube-scheduler',
  );
  let isCut = false;
  const check = async (): Promise<void> => {
    if (isCut) throw new Error('cut off');
  };
  const cut: Transport = {
    ...transport,
    call: async (request, signal) => check().then(() => transport.call(request, signal)),
    watch: async (request) => check().then(() => transport.watch(request)),
    close: () => transport.close(),
  };
  const deps = { client: createClient(cut), clock, rng: seededRng(schedulers.length), logger: silentLogger };
  const scheduler = runKubeScheduler({ leaderElection: defaultLeaderElection('kube-scheduler'), identity }, deps);
  const one = { scheduler, ended: false, cutOff: () => void (isCut = true) };
  void scheduler.ended.then(() => (one.ended = true));
  schedulers.push(one);
  return one;
}
const holder = async (): Promise<string | undefined> =>
  (await plane.client.resource<Lease>(leases, 'kube-system').get('kube-scheduler')).spec?.holderIdentity;
const placed = async (name: string): Promise<boolean> =>
  Boolean((await plane.client.resource<Pod>(pods, 'default').get(name)).spec?.nodeName);

beforeEach(async () => {
  clock = virtualClock();
  schedulers = [];
  plane = await startTestControlPlane({
    clock,
    whole: true,
    admission: { disable: ['ServiceAccount', 'TaintNodesByCondition'] },
  });
  await plane.client.resource(nodes).create(nodeOf('n'));
  start('one');
  await clock.advance(3_000);
  start('two');
  await clock.advance(3_000);
});
afterEach(async () => {
  await Promise.all(schedulers.map(({ scheduler }) => scheduler.stop()));
  await plane.stop();
});

it('the one that cannot renew says so at once, and the other decides within the lease time', async () => {
  const [first, second] = schedulers;
  expect(await first?.scheduler.metrics.expose()).toContain('leader_election_master_status{name="kube-scheduler"} 1');
  first?.cutOff();
  await plane.client.resource(pods, 'default').create(podOf('p'));
  await clock.until(() => first?.ended === true, leaseMs);
  expect(await holder()).toBe('one');
  expect(await first?.scheduler.metrics.expose()).toContain('leader_election_master_status{name="kube-scheduler"} 0');
  await clock.until(() => placed('p'), leaseMs);
  expect([await holder(), second?.ended]).toEqual(['two', false]);
});

it('the one that is stopped gives its lease back, and has not failed', async () => {
  await schedulers[0]?.scheduler.stop();
  await clock.until(async () => (await holder()) === 'two', 3_000);
  await plane.client.resource(pods, 'default').create(podOf('p'));
  await clock.until(() => placed('p'), 3_000);
  expect(schedulers.map(({ ended }) => ended)).toEqual([false, false]);
});
