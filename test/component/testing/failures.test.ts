// An error that nobody caught, in a timer or in a promise of one component, restarts that component and nobody else; each goes wrong once, and then
// the cluster rolls out a Deployment as ever.
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Deployment } from '#api/apps/v1';
import { startCluster, type TestCluster, type VirtualClock } from '#testing';
import { type How, SabotagedClock, takeListeners } from './sabotage.ts';

const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };
const timeout = 120_000;
const limitMs = 900_000;

let undo = (): void => {};
beforeEach(() => {
  undo = takeListeners();
});
afterEach(() => undo());

const deployment = (name: string): Deployment => {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'example.org/c:1' }] } };
  return { metadata: { name }, spec: { replicas: 2, selector: { matchLabels: labels }, template } };
};

async function passUntil(
  clock: VirtualClock,
  what: string,
  holds: () => Promise<boolean> | boolean,
  poke = async () => {},
  stepMs = 5_000,
): Promise<void> {
  const endMs = clock.now() + limitMs;
  while (!(await holds())) {
    if (clock.now() > endMs) throw new Error(`not in time: ${what}`);
    await poke();
    await clock.advance(stepMs);
  }
}

async function rollsOut(cluster: TestCluster, clock: VirtualClock, name: string): Promise<void> {
  const client = cluster.client.resource<Deployment>(deployments, 'default');
  await client.create(deployment(name));
  await passUntil(clock, `${name} is available`, async () => (await client.get(name)).status?.availableReplicas === 2);
}

/** Has every component wait for something. */
async function unsettle({ faults }: TestCluster, clock: VirtualClock): Promise<void> {
  faults.inject({ users: ['*'], verbs: ['watch'], fault: { kind: 'error' } });
  faults.dropWatches({ users: ['*'] });
  await clock.advance(100);
  faults.clear();
}

const readyz = async ({ client }: TestCluster): Promise<{ status: number; text: string }> =>
  client.transport.raw('GET', '/readyz?verbose');

it.each<[string, How]>([
  ['kube-scheduler', 'throws'],
  ['kube-scheduler', 'rejects'],
  ['kube-controller-manager', 'rejects'],
  ['kube-controller-manager/deployment-controller', 'throws'],
  ['kube-controller-manager/garbage-collector-controller', 'rejects'],
  ['kube-controller-manager/node-lifecycle-controller', 'throws'],
  ['cloud-controller-manager', 'rejects'],
  ['cloud-controller-manager/cloud-node-lifecycle-controller', 'throws'],
  ['local-path-provisioner', 'rejects'],
  ['kubelet/node-1', 'throws'],
  ['kubelet/node-2', 'rejects'],
])('%s %s: it is started again, the others go on', { timeout }, async (name, how) => {
  const clock = new SabotagedClock();
  await using cluster = await startCluster({ nodes: 2, clock });
  await rollsOut(cluster, clock, 'before');
  const client = cluster.client.resource<Deployment>(deployments, 'default');
  clock.sabotage(name, how);
  let size = 2;
  await passUntil(
    clock,
    `${name} has failed`,
    () => cluster.failures.length > 0,
    async () => {
      size = size === 2 ? 3 : 2;
      await client.patch('before', 'application/merge-patch+json', { spec: { replicas: size } });
      await unsettle(cluster, clock);
    },
  );
  expect(cluster.failures).toMatchObject([{ component: name, kind: 'stray', message: `sabotage of ${name}` }]);
  expect((await readyz(cluster)).status).toBe(200);
  await passUntil(clock, `${name} is back`, async () => !(await readyz(cluster)).text.includes('[-]'));
  await rollsOut(cluster, clock, 'after');
  expect(cluster.failures).toHaveLength(1);
});

it.each<How>(['throws', 'rejects'])('kube-apiserver %s: it goes on, and tells of it', { timeout }, async (how) => {
  const clock = new SabotagedClock();
  await using cluster = await startCluster({ nodes: 1, clock });
  await rollsOut(cluster, clock, 'before');
  clock.sabotage('kube-apiserver', how);
  await passUntil(
    clock,
    'it has failed',
    () => cluster.failures.length > 0,
    () => unsettle(cluster, clock),
  );
  expect(cluster.failures).toMatchObject([{ component: 'kube-apiserver', kind: 'stray' }]);
  const metrics = await cluster.client.transport.raw('GET', '/metrics');
  expect(metrics.text).toContain('sagong_component_failures_total{component="kube-apiserver",kind="stray"} 1');
  expect((await readyz(cluster)).status).toBe(200);
  await rollsOut(cluster, clock, 'after');
});

it('a component that goes on failing is started again later and later, and is told of', { timeout }, async () => {
  const clock = new SabotagedClock();
  await using cluster = await startCluster({ nodes: 1, clock });
  await rollsOut(cluster, clock, 'before');
  for (let failures = 1; failures <= 4; failures++) {
    clock.sabotage('kube-scheduler', 'rejects');
    await passUntil(
      clock,
      'it has failed',
      () => cluster.failures.length === failures,
      () => unsettle(cluster, clock),
      100,
    );
  }
  expect((await readyz(cluster)).text).toContain('[-]component/kube-scheduler failed: reason withheld');
  const metrics = await cluster.client.transport.raw('GET', '/metrics');
  expect(metrics.text).toContain('sagong_component_failures_total{component="kube-scheduler",kind="stray"} 4');
  await rollsOut(cluster, clock, 'after');
});
