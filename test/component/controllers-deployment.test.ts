// Deployments with the real apiserver: rollout, rolling update, rollback, scaling.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Deployment, ReplicaSet } from '#api/apps/v1';
import type { Pod } from '#api/core/v1';
import { deployments, pods, replicaSets } from '#controller-runtime/workload';
import { createControllers, defaultControllersConfig } from '#controllers';
import { startWorld, type World } from './controllers-world.ts';

const chosen = createControllers(defaultControllersConfig).filter(({ name }) =>
  ['deployment-controller', 'replicaset-controller'].includes(name),
);

let world: World;
beforeEach(async () => {
  world = await startWorld(chosen);
});
afterEach(() => world.close());

const deployment = (image: string, replicas = 3): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
    progressDeadlineSeconds: 600,
    revisionHistoryLimit: 10,
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } },
  },
});

const patch = (body: unknown) =>
  world.client.resource<Deployment>(deployments, 'default').patch('web', 'application/strategic-merge-patch+json', body);

const setImage = (image: string) => patch({ spec: { template: { spec: { containers: [{ name: 'web', image }] } } } });

const rolledOut = (image: string, replicas = 3) =>
  world.until(`rollout of ${image}`, async () => {
    const { status, metadata, spec } = await world.get<Deployment>(deployments, 'web');
    const current = spec?.template.spec?.containers[0]?.image === image;
    const observed = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
    const done = [status?.replicas, status?.updatedReplicas, status?.availableReplicas].every((count) => count === replicas);
    const progressed = status?.conditions?.some(({ reason }) => reason === 'NewReplicaSetAvailable');
    return current && observed && done && progressed ? { status, metadata } : undefined;
  });

const livePods = async (): Promise<Pod[]> => (await world.list<Pod>(pods)).filter(({ metadata }) => !metadata.deletionTimestamp);
const sizes = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    (await world.list<ReplicaSet>(replicaSets)).map(({ spec }) => [
      spec?.template?.spec?.containers[0]?.image ?? '',
      spec?.replicas ?? 0,
    ]),
  );

test('a Deployment of 3 becomes one ReplicaSet and 3 pods', async () => {
  world.runPods();
  await world.create(deployments, deployment('a:1'));
  const { status, metadata } = await rolledOut('a:1');
  expect(metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('1');
  const [replicaSet] = await world.list<ReplicaSet>(replicaSets);
  const name = replicaSet?.metadata.name ?? '';
  expect(name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
  expect(replicaSet?.metadata.labels).toEqual({ app: 'web', 'pod-template-hash': name.slice(4) });
  expect(replicaSet?.metadata.annotations).toEqual({
    'deployment.kubernetes.io/revision': '1',
    'deployment.kubernetes.io/desired-replicas': '3',
    'deployment.kubernetes.io/max-replicas': '4',
  });
  const found = await livePods();
  expect(found).toHaveLength(3);
  for (const pod of found) {
    expect(pod.metadata.name?.startsWith(`${name}-`)).toBe(true);
    expect(pod.metadata.labels?.['pod-template-hash']).toBe(name.slice(4));
  }
  const conditions = Object.fromEntries(
    (status?.conditions ?? []).map((one) => [one.type, [one.status, one.reason, one.message]]),
  );
  expect(conditions).toEqual({
    Available: ['True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.'],
    Progressing: ['True', 'NewReplicaSetAvailable', `ReplicaSet "${name}" has successfully progressed.`],
  });
  await world.until('events', async () => {
    const events = await world.events();
    const created = events.filter((event) => event.startsWith(`SuccessfulCreate: Created pod: ${name}-`));
    return events.includes(`ScalingReplicaSet: Scaled up replica set ${name} from 0 to 3`) && created.length === 3
      ? true
      : undefined;
  });
  expect(world.complaints).toEqual([]);
});

test('a new template rolls over, never below what must be available', async () => {
  world.runPods();
  await world.create(deployments, deployment('a:1', 4));
  await rolledOut('a:1', 4);
  await setImage('a:2');
  const { metadata } = await rolledOut('a:2', 4);
  expect(metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('2');
  expect(await sizes()).toEqual({ 'a:1': 0, 'a:2': 4 });
  expect(new Set((await livePods()).map(({ spec }) => spec?.containers[0]?.image))).toEqual(new Set(['a:2']));
});

test('a rollout whose pods never get ready stops at the surge', async () => {
  const stop = world.runPods();
  await world.create(deployments, deployment('a:1', 4));
  await rolledOut('a:1', 4);
  stop();
  await setImage('broken:1');
  await world.until('the surge', async () => {
    const now = await sizes();
    return now['broken:1'] === 2 && now['a:1'] === 3 ? now : undefined;
  });
  const { status } = await world.until('the unavailable one', async () => {
    const found = await world.get<Deployment>(deployments, 'web');
    return found.status?.unavailableReplicas === 2 ? found : undefined;
  });
  expect(status?.availableReplicas).toBe(3);
});

test('going back to an old template takes the old ReplicaSet again', async () => {
  world.runPods();
  await world.create(deployments, deployment('a:1'));
  await rolledOut('a:1');
  await setImage('a:2');
  await rolledOut('a:2');
  await setImage('a:1');
  const { metadata } = await rolledOut('a:1');
  expect(metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('3');
  const all = await world.list<ReplicaSet>(replicaSets);
  expect(all).toHaveLength(2);
  const newest = all.find(({ spec }) => spec?.replicas === 3);
  expect(newest?.metadata.annotations?.['deployment.kubernetes.io/revision-history']).toBe('1');
});

test('scaling up and down keeps the ReplicaSet', async () => {
  world.runPods();
  await world.create(deployments, deployment('a:1'));
  await rolledOut('a:1');
  await patch({ spec: { replicas: 5 } });
  await rolledOut('a:1', 5);
  expect(await livePods()).toHaveLength(5);
  await patch({ spec: { replicas: 1 } });
  await rolledOut('a:1', 1);
  expect(await livePods()).toHaveLength(1);
  expect(await world.list(replicaSets)).toHaveLength(1);
});
