// The scheduler against a real apiserver: pods get nodes, conditions and events, and wait for what helps them.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Pod } from '#api/core/v1';
import { cpu, createTestCluster, nodeOf, nodes, podOf, pods, type TestCluster } from './cluster.ts';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await createTestCluster();
});
afterEach(() => cluster.close());

const placed = (pod: Pod): boolean => Boolean(pod.spec?.nodeName);
const refusal = (pod: Pod) => pod.status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
const createPod = (pod: Pod) => cluster.client.resource(pods, 'default').create(pod);

test('a pod goes to the node that has room', async () => {
  await cluster.client.resource(nodes).create(nodeOf('full', { allocatable: { cpu: '1' } }));
  await cluster.client.resource(nodes).create(nodeOf('free'));
  await createPod(podOf('p', cpu('2')));
  const pod = await cluster.pod('p', placed);
  expect(pod.spec?.nodeName).toBe('free');
  expect(pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.status).toBe('True');
});

test('a pod that fits nowhere says why, and goes to a node that comes later', async () => {
  await cluster.client.resource(nodes).create(nodeOf('small', { allocatable: { cpu: '1' } }));
  await createPod(podOf('p', cpu('2')));
  const waiting = await cluster.pod('p', (pod) => refusal(pod) !== undefined);
  expect(refusal(waiting)).toMatchObject({ reason: 'Unschedulable' });
  expect(refusal(waiting)?.message).toMatch(/^0\/1 nodes are available: 1 Insufficient cpu\./);
  await cluster.client.resource(nodes).create(nodeOf('big'));
  expect((await cluster.pod('p', placed)).spec?.nodeName).toBe('big');
});

test("another scheduler's pods are left alone", async () => {
  await cluster.client.resource(nodes).create(nodeOf('n'));
  await createPod(podOf('theirs', { schedulerName: 'other' }));
  await createPod(podOf('ours'));
  await cluster.pod('ours', placed);
  const theirs = await cluster.client.resource<Pod>(pods, 'default').get('theirs');
  expect(theirs.spec?.nodeName).toBeUndefined();
});

test('an explanation names every node with its score', async () => {
  for (const name of ['a', 'b', 'c']) await cluster.client.resource(nodes).create(nodeOf(name));
  await createPod(podOf('p'));
  const pod = await cluster.pod('p', placed);
  const decision = cluster.scheduler.explain(pod.metadata.uid ?? '');
  expect(decision?.kind === 'chosen' && decision.scores.map(({ node }) => node).sort()).toEqual(['a', 'b', 'c']);
});
