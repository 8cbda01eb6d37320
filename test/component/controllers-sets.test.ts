// DaemonSets, StatefulSets and ReplicationControllers with the real apiserver.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ControllerRevision, DaemonSet, StatefulSet } from '#api/apps/v1';
import type { Node, PersistentVolumeClaim, Pod, PodTemplateSpec, ReplicationController } from '#api/core/v1';
import {
  controllerRevisions,
  daemonSets,
  nodes,
  persistentVolumeClaims,
  pods,
  replicationControllers,
  statefulSets,
} from '#controller-runtime/workload';
import { createControllers, defaultControllersConfig } from '#controllers';
import { startWorld, type World } from './controllers-world.ts';

const names = ['daemonset-controller', 'statefulset-controller', 'replicationcontroller-controller'];
const chosen = createControllers(defaultControllersConfig).filter(({ name }) => names.includes(name));

let world: World;
beforeEach(async () => {
  world = await startWorld(chosen);
});
afterEach(() => world.close());

const template = (image: string): PodTemplateSpec => ({
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'c', image }] },
});
const addNode = (name: string, extra: Partial<Node> = {}) =>
  world.client.resource<Node>(nodes).create({ metadata: { name, labels: { 'kubernetes.io/hostname': name } }, ...extra });
const setImage = (resource: typeof daemonSets, image: string) =>
  world.client.resource(resource, 'default').patch('x', 'application/strategic-merge-patch+json', {
    spec: { template: { spec: { containers: [{ name: 'c', image }] } } },
  });
const live = async () => (await world.list<Pod>(pods)).filter(({ metadata }) => !metadata.deletionTimestamp);
const boundFor = ({ spec }: Pod) =>
  spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms?.[0]?.matchFields?.[0]
    ?.values?.[0];

const daemonSet: DaemonSet = {
  metadata: { name: 'x', namespace: 'default' },
  spec: {
    selector: { matchLabels: { app: 'x' } },
    template: template('a:1'),
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    revisionHistoryLimit: 10,
  },
};

test('a DaemonSet has a pod on each node it fits, and follows nodes and template', async () => {
  world.runPods();
  await addNode('n1');
  await addNode('n2');
  await addNode('n3', { spec: { taints: [{ key: 'dedicated', value: 'x', effect: 'NoSchedule' }] } });
  await world.create(daemonSets, daemonSet);
  const settled = (count: number) =>
    world.until(`${count} daemon pods`, async () => {
      const { status, metadata } = await world.get<DaemonSet>(daemonSets, 'x');
      const counts = [status?.desiredNumberScheduled, status?.numberAvailable, status?.updatedNumberScheduled];
      return status?.observedGeneration === metadata.generation && counts.every((one) => one === count) ? status : undefined;
    });
  await settled(2);
  expect((await live()).map(boundFor).sort()).toEqual(['n1', 'n2']);
  expect((await live())[0]?.spec?.tolerations).toContainEqual({
    key: 'node.kubernetes.io/unschedulable',
    operator: 'Exists',
    effect: 'NoSchedule',
  });
  await addNode('n4');
  await settled(3);
  await setImage(daemonSets, 'a:2');
  await settled(3);
  expect((await live()).map(({ spec }) => spec?.containers[0]?.image)).toEqual(['a:2', 'a:2', 'a:2']);
  const revisions = await world.list<ControllerRevision>(controllerRevisions);
  expect(revisions.map(({ revision }) => revision).sort()).toEqual([1, 2]);
  expect(world.complaints).toEqual([]);
});

const statefulSet = (extra: Partial<NonNullable<StatefulSet['spec']>> = {}): StatefulSet => ({
  metadata: { name: 'x', namespace: 'default' },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'x' } },
    serviceName: 'svc',
    template: template('a:1'),
    podManagementPolicy: 'OrderedReady',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    revisionHistoryLimit: 10,
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ],
    ...extra,
  },
});

const updated = (count: number) =>
  world.until(`${count} updated pods`, async () => {
    const { status, metadata } = await world.get<StatefulSet>(statefulSets, 'x');
    const counts = [status?.replicas, status?.readyReplicas, status?.updatedReplicas, status?.currentReplicas];
    return status?.observedGeneration === metadata.generation && counts.every((one) => (one ?? 0) === count) ? status : undefined;
  });

test('a StatefulSet makes its pods in order, with claims, updates and shrinks from the end', async () => {
  world.runPods();
  await world.create(statefulSets, statefulSet());
  const first = await updated(3);
  expect(first.currentRevision).toBe(first.updateRevision);
  const made = await live();
  expect(made.map(({ metadata }) => metadata.name)).toEqual(['x-0', 'x-1', 'x-2']);
  expect(made[1]?.metadata.labels).toMatchObject({
    'statefulset.kubernetes.io/pod-name': 'x-1',
    'apps.kubernetes.io/pod-index': '1',
    'controller-revision-hash': first.updateRevision,
  });
  expect(made[1]?.spec).toMatchObject({ hostname: 'x-1', subdomain: 'svc' });
  const claims = await world.list<PersistentVolumeClaim>(persistentVolumeClaims);
  expect(claims.map(({ metadata }) => metadata.name).sort()).toEqual(['data-x-0', 'data-x-1', 'data-x-2']);
  await setImage(statefulSets, 'a:2');
  const second = await updated(3);
  expect(second.updateRevision).not.toBe(first.updateRevision);
  expect((await live()).map(({ spec }) => spec?.containers[0]?.image)).toEqual(['a:2', 'a:2', 'a:2']);
  await world.client.resource(statefulSets, 'default').patch('x', 'application/merge-patch+json', { spec: { replicas: 1 } });
  await updated(1);
  await world.until('only x-0', async () =>
    (await live()).map(({ metadata }) => metadata.name).join() === 'x-0' ? true : undefined,
  );
  await world.until('events', async () => {
    const events = await world.events();
    return events.includes('SuccessfulCreate: Create Pod x-0 in StatefulSet x successful') &&
      events.includes('SuccessfulCreate: Create Claim data-x-0 Pod x-0 in StatefulSet x success')
      ? true
      : undefined;
  });
  expect(world.complaints).toEqual([]);
});

test('without ready pods an ordered StatefulSet stops at the first, a parallel one does not', async () => {
  await world.create(statefulSets, statefulSet());
  await world.until('x-0', async () => ((await live()).length === 1 ? true : undefined));
  await world.create(statefulSets, {
    ...statefulSet({ podManagementPolicy: 'Parallel' }),
    metadata: { name: 'y', namespace: 'default' },
  });
  await world.until('all of y', async () =>
    (await live()).filter(({ metadata }) => metadata.name?.startsWith('y-')).length === 3 ? true : undefined,
  );
  expect((await live()).filter(({ metadata }) => metadata.name?.startsWith('x-'))).toHaveLength(1);
});

test('a ReplicationController keeps its pods', async () => {
  world.runPods();
  const controller: ReplicationController = {
    metadata: { name: 'x', namespace: 'default' },
    spec: { replicas: 2, selector: { app: 'x' }, template: template('a:1') },
  };
  await world.create(replicationControllers, controller);
  const settled = () =>
    world.until('two', async () => {
      const { status } = await world.get<ReplicationController>(replicationControllers, 'x');
      return status?.availableReplicas === 2 && (await live()).length === 2 ? true : undefined;
    });
  await settled();
  const [victim] = await live();
  await world.client.resource(pods, 'default').delete(victim?.metadata.name ?? '', { gracePeriodSeconds: 0 });
  await world.until('another', async () =>
    (await live()).some(({ metadata }) => metadata.name === victim?.metadata.name) || (await live()).length < 2
      ? undefined
      : true,
  );
  await settled();
});
