import { describe, expect, test } from 'vitest';
import type { ControllerRevision, DaemonSet, DaemonSetSpec } from '#api/apps/v1';
import type { Node, Pod, Taint } from '#api/core/v1';
import type { Effect, Plan } from '#controller-runtime';
import { revisionData } from '#controller-runtime/workload';
import { reconcile } from './reconcile.ts';
import { targetNode } from './placement.ts';

const now = Date.parse('2026-01-01T00:10:00Z');
const template = (image: string) => ({ metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'c', image }] } });
const daemonSet = (spec: Partial<DaemonSetSpec> = {}): DaemonSet => ({
  metadata: { name: 'd', namespace: 'ns', uid: 'd', generation: 1 },
  spec: {
    selector: { matchLabels: { app: 'd' } },
    template: template('new'),
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    revisionHistoryLimit: 1,
    ...spec,
  },
});
const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd', controller: true };
const revision = (name: string, number: number): ControllerRevision => ({
  metadata: {
    name,
    namespace: 'ns',
    uid: name,
    labels: { app: 'd', 'controller-revision-hash': name },
    ownerReferences: [owner],
  },
  data: revisionData(template(name)),
  revision: number,
});
const node = (name: string, taints: Taint[] = [], labels: Record<string, string> = {}): Node => ({
  metadata: { name, labels },
  spec: { taints },
});
const pod = (on: string, hash = 'new', extra: { ready?: boolean; phase?: string; leaving?: boolean } = {}): Pod => ({
  metadata: {
    name: `${on}-${hash}`,
    namespace: 'ns',
    uid: `${on}-${hash}`,
    labels: { app: 'd', 'controller-revision-hash': hash },
    ownerReferences: [owner],
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...(extra.leaving && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
  },
  spec: { containers: [], nodeName: on },
  status: {
    phase: extra.phase ?? 'Running',
    conditions: [{ type: 'Ready', status: extra.ready === false ? 'False' : 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
  },
});

const run = (set: DaemonSet, nodes: Node[], pods: Pod[], revisions = [revision('old', 1), revision('new', 2)]): Plan =>
  reconcile({ set, nodes, pods, revisions, holder: undefined, context: { monotonicMs: 0, live: new Map() } }, now);
const flat = (effects: readonly Effect[]): Effect[] =>
  effects.flatMap((effect) => (effect.op === 'parallel' ? flat(effect.effects) : [effect]));
const told = ({ effects }: Plan): string[] =>
  flat(effects).flatMap((effect) => {
    if (effect.op === 'create')
      return [`create ${effect.object.kind === 'Pod' ? targetNode(effect.object as Pod) : effect.object.kind}`];
    if (effect.op === 'delete') return [`delete ${effect.ref.name}`];
    return effect.op === 'event' ? [effect.reason] : [];
  });
const nodes = [node('a'), node('b'), node('c')];
const noSchedule: Taint = { key: 'k', value: 'v', effect: 'NoSchedule' };
const noExecute: Taint = { key: 'k', value: 'v', effect: 'NoExecute' };

describe('placement', () => {
  test('one on each node that fits', () => {
    const mixed = [node('a'), node('b', [noSchedule]), node('c', [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }])];
    expect(told(run(daemonSet(), mixed, []))).toEqual(['create a', 'create c']);
  });
  test('a node selector', () => {
    const picky = daemonSet({ template: { ...template('new'), spec: { containers: [], nodeSelector: { disk: 'ssd' } } } });
    expect(
      told(run(picky, [node('a'), node('b', [], { disk: 'ssd' })], [], [])).filter(
        (text) => text !== 'create ControllerRevision',
      ),
    ).toEqual(['create b']);
  });
  test('a pod may stay where it could not start, but not where it may not run', () => {
    expect(told(run(daemonSet(), [node('a', [noSchedule])], [pod('a')]))).toEqual([]);
    expect(told(run(daemonSet(), [node('a', [noExecute])], [pod('a')]))).toEqual(['delete a-new']);
  });
  test('one too many goes, ended ones make room', () => {
    const doubled = {
      ...pod('a'),
      metadata: { ...pod('a').metadata, name: 'young', uid: 'young', creationTimestamp: '2026-01-01T00:05:00Z' },
    };
    expect(told(run(daemonSet(), [node('a')], [doubled, pod('a')]))).toEqual(['delete young']);
    expect(told(run(daemonSet(), [node('a')], [pod('a', 'new', { phase: 'Failed' })]))).toEqual([
      'FailedDaemonPod',
      'delete a-new',
    ]);
    expect(told(run(daemonSet(), [node('a')], [pod('a', 'new', { leaving: true })]))).toEqual([]);
  });
});

test('a pod that fails again waits longer each time', () => {
  const failed = [pod('a', 'new', { phase: 'Failed' })];
  const at = (memory: unknown, laterMs: number): Plan =>
    reconcile(
      {
        set: daemonSet(),
        nodes: [node('a')],
        pods: failed,
        revisions: [revision('new', 1)],
        holder: undefined,
        context: { monotonicMs: 0, live: new Map(), memory },
      },
      now + laterMs,
    );
  const first = at(undefined, 0);
  expect(told(first)).toEqual(['FailedDaemonPod', 'delete a-new']);
  const second = at(first.remember, 400);
  expect(told(second)).toEqual([]);
  expect(second.requeueAfterMs).toBe(600);
  const third = at(second.remember, 1_000);
  expect(told(third)).toEqual(['FailedDaemonPod', 'delete a-new']);
  expect(at(third.remember, 1_500).requeueAfterMs).toBe(1_500);
});

describe('rolling update', () => {
  test('one pod at a time', () =>
    expect(told(run(daemonSet(), nodes, [pod('a', 'old'), pod('b', 'old'), pod('c', 'old')]))).toEqual(['delete a-old']));
  test('it waits for the new pod', () =>
    expect(told(run(daemonSet(), nodes, [pod('a', 'new', { ready: false }), pod('b', 'old'), pod('c', 'old')]))).toEqual([]));
  test('broken old pods go at once', () =>
    expect(
      told(run(daemonSet(), nodes, [pod('a', 'new', { ready: false }), pod('b', 'old', { ready: false }), pod('c', 'old')])),
    ).toEqual(['delete b-old']));
  test('OnDelete leaves them', () =>
    expect(
      told(run(daemonSet({ updateStrategy: { type: 'OnDelete' } }), nodes, [pod('a', 'old'), pod('b', 'old'), pod('c', 'old')])),
    ).toEqual([]));
  const surging = daemonSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } });
  test('with a surge the new pod comes first', () =>
    expect(told(run(surging, nodes, [pod('a', 'old'), pod('b', 'old'), pod('c', 'old')]))).toEqual(['create a']));
  test('and the old one goes when it is available', () => {
    const olds = [pod('a', 'old'), pod('b', 'old'), pod('c', 'old')];
    expect(told(run(surging, nodes, [...olds, pod('a', 'new', { ready: false })]))).toEqual([]);
    expect(told(run(surging, nodes, [...olds, pod('a', 'new')]))).toEqual(['delete a-old']);
  });
});

describe('revisions', () => {
  test('a new template gets one', () => {
    const plan = run(daemonSet(), [], [], [revision('old', 4)]);
    expect(flat(plan.effects)[0]).toMatchObject({
      op: 'create',
      object: { revision: 5, data: { spec: { template: { $patch: 'replace' } } } },
    });
  });
  test('an old one is made the newest', () =>
    expect(flat(run(daemonSet(), [], [], [revision('new', 1), revision('old', 2)]).effects)[0]).toMatchObject({
      op: 'update',
      object: { metadata: { name: 'new' }, revision: 3 },
    }));
  test('unused ones beyond the limit go', () => {
    const revisions = [revision('r1', 1), revision('r2', 2), revision('r3', 3), revision('new', 4)];
    expect(told(run(daemonSet(), [node('a')], [pod('a', 'r1'), pod('a')].slice(1), revisions))).toEqual([
      'delete r1',
      'delete r2',
    ]);
  });
});

test('status', () => {
  const plan = run(daemonSet(), [...nodes, node('d', [noSchedule])], [pod('a'), pod('b', 'old', { ready: false }), pod('d')]);
  const update = flat(plan.effects).find((effect) => effect.op === 'update');
  expect(update).toMatchObject({
    object: {
      status: {
        desiredNumberScheduled: 3,
        currentNumberScheduled: 2,
        numberMisscheduled: 1,
        numberReady: 1,
        numberAvailable: 1,
        numberUnavailable: 2,
        updatedNumberScheduled: 1,
        observedGeneration: 1,
      },
    },
  });
});
