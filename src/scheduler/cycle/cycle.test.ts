import { describe, expect, test } from 'vitest';
import type { Node, Pod, PodSpec } from '#api/core/v1';
import { seededRng } from '#utils';
import { profilesOf } from '../config/index.ts';
import { emptyView, explainedNodesMax, podInfoOf, type Profile, Snapshot } from '../framework/index.ts';
import { cycle } from './cycle.ts';

const node = (name: string, cpu = '4', extra: Partial<Node['spec']> = {}, labels: Record<string, string> = {}): Node => ({
  metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
  spec: extra,
  status: { allocatable: { cpu, memory: '8Gi', pods: '10' } },
});

let made = 0;
const pod = (cpu: string | undefined, spec: Partial<PodSpec> = {}, labels: Record<string, string> = {}): Pod => ({
  metadata: { name: `p${++made}`, namespace: 'ns', uid: `u${made}`, labels },
  spec: { containers: [{ name: 'c', image: 'x', ...(cpu && { resources: { requests: { cpu } } }) }], ...spec },
});

const context = { view: emptyView, nowMs: 0, nominated: new Map() };
const defaultProfile = (): Profile => profilesOf().get('default-scheduler') as Profile;

function decide(nodes: readonly Node[], incoming: Pod, placed: readonly [string, Pod][] = []) {
  const snapshot = new Snapshot();
  for (const one of nodes) snapshot.setNode(one);
  for (const [name, one] of placed) snapshot.addPod(name, podInfoOf(one));
  return cycle(snapshot, podInfoOf(incoming), defaultProfile(), seededRng(1), context);
}

const help = 'no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.';

describe('messages', () => {
  const cases: [string, Node[], Pod, string][] = [
    [
      'a plugin before that of devices refuses the pod, which then knows nothing of claims',
      [node('a'), node('b')],
      pod('1', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'd' } }] }),
      '0/2 nodes are available: persistentvolumeclaim "d" not found. not found',
    ],
    ['no node at all', [], pod('1'), 'no nodes available to schedule pods'],
    ['more than any node has', [node('a'), node('b', '2')], pod('5'), `0/2 nodes are available: 2 Insufficient cpu. ${help}`],
    [
      'each node counts under its first failing filter',
      [node('a', '1', { unschedulable: true }), node('b', '8', { taints: [{ key: 'k', effect: 'NoSchedule' }] })],
      pod('5'),
      `0/2 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable. ${help}`,
    ],
    [
      'a selector that nothing matches',
      [node('a'), node('b')],
      pod('1', { nodeSelector: { disk: 'ssd' } }),
      `0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. ${help}`,
    ],
  ];
  test.each(cases)('%s', (_about, nodes, incoming, message) => {
    expect(decide(nodes, incoming)).toMatchObject({ kind: 'failed', reason: 'Unschedulable', message });
  });
});

test('the first node helps a pod that met none', () => {
  expect(decide([], pod('1'))).toMatchObject({ kind: 'failed', plugins: new Set(['NoNodesAvailable']) });
});

test('the less used node wins, and every plugin says how much', () => {
  const decision = decide([node('a'), node('b')], pod('1'), [['a', pod('2')]]);
  expect(decision).toMatchObject({ kind: 'chosen', node: { name: 'b' } });
  const scores = decision.kind === 'chosen' ? decision.scores : [];
  expect(scores.map((score) => score.node)).toEqual(['b', 'a']);
  for (const { total, plugins } of scores) expect(Object.values(plugins).reduce((sum, score) => sum + score, 0)).toBe(total);
});

test('a more important pod takes the least important ones off the cheapest node', () => {
  const low = pod('4', { priority: 1 });
  const middle = pod('4', { priority: 5 });
  const decision = decide([node('a'), node('b')], pod('4', { priority: 10 }), [
    ['a', middle],
    ['b', low],
  ]);
  expect(decision).toMatchObject({ kind: 'failed', nominate: 'b', message: '0/2 nodes are available: 2 Insufficient cpu.' });
  expect(decision.kind === 'failed' && decision.preemption?.victims.map(({ uid }) => uid)).toEqual([low.metadata.uid]);
});

// Above `explainedNodesMax` nodes a tree finds the best node; it must be one that scoring all of them finds best.
test('many nodes: the short cut decides as the long way does', () => {
  const rng = seededRng(5);
  const snapshot = new Snapshot();
  const profile = defaultProfile();
  for (let i = 0; i < explainedNodesMax + 50; i++) snapshot.setNode(node(`n${i}`, String(2 + rng.int(6))));
  for (let i = 0; i < 300; i++) {
    const info = podInfoOf(pod(`${100 * (1 + rng.int(3))}m`));
    const short = cycle(snapshot, info, profile, rng, context);
    // A pod nominated somewhere, however unimportant, makes the cycle go the long way.
    const other = podInfoOf(pod(undefined, { priority: -1 }));
    const long = cycle(snapshot, info, profile, rng, { ...context, nominated: new Map([['n0', [other]]]) });
    expect(short.kind === 'chosen' && short.scores[0]?.total).toBe(long.kind === 'chosen' && long.scores[0]?.total);
    expect(short.kind === 'chosen' && long.kind === 'chosen' && short.feasibleNodes === long.feasibleNodes).toBe(true);
    if (short.kind === 'chosen') snapshot.addPod(short.node.name, info);
  }
});

test('a pod with thousands of required terms is placed nowhere, and told why', () => {
  const required = Array.from({ length: 4_000 }, (_, at) => ({
    topologyKey: 'zone',
    labelSelector: { matchLabels: { app: `a${at}` } },
  }));
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  expect(decide([node('a'), node('b')], pod('1', { affinity }))).toMatchObject({
    kind: 'failed',
    message: expect.stringContaining('pod has more than 100 required (anti-)affinity terms'),
  });
});

test('hard spreading fills the emptier zone', () => {
  const labelSelector = { matchLabels: { app: 'web' } };
  const constraint = { topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', maxSkew: 1, labelSelector };
  const spread = (): Pod => pod('1', { topologySpreadConstraints: [constraint] }, { app: 'web' });
  const nodes = [node('a', '4', {}, { zone: 'x' }), node('b', '4', {}, { zone: 'y' })];
  expect(decide(nodes, spread(), [['a', spread()]])).toMatchObject({ kind: 'chosen', node: { name: 'b' } });
});
