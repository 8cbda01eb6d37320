import { describe, expect, test } from 'vitest';
import type { ReplicaSet } from '#api/apps/v1';
import type { Pod } from '#api/core/v1';
import type { Effect, Plan, ViewContext } from '#controller-runtime';
import { replicaSetController } from './index.ts';

const now = Date.parse('2026-01-01T00:10:00Z');
const replicaSet = (replicas: number, extra: Partial<ReplicaSet> = {}): ReplicaSet => ({
  metadata: { name: 'web', namespace: 'ns', uid: 'rs', generation: 1 },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [] } },
  },
  ...extra,
});
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs', controller: true };
const pod = (name: string, extra: Partial<Pod['metadata']> = {}, status: Pod['status'] = { phase: 'Running' }): Pod => ({
  metadata: {
    name,
    namespace: 'ns',
    uid: name,
    labels: { app: 'web' },
    ownerReferences: [owner],
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...extra,
  },
  spec: { containers: [], nodeName: 'n' },
  status,
});
const ready = (since = '2026-01-01T00:01:00Z'): Pod['status'] => ({
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }],
});

const flat = (effects: readonly Effect[]): Effect[] =>
  effects.flatMap((effect) => (effect.op === 'parallel' ? flat(effect.effects) : [effect]));
const told = ({ effects }: Plan): string[] =>
  flat(effects).map((effect) =>
    effect.op === 'delete' || effect.op === 'patch'
      ? `${effect.op} ${effect.ref.name}`
      : effect.op === 'update'
        ? 'status'
        : effect.op,
  );
const statusOf = ({ effects }: Plan): ReplicaSet['status'] =>
  flat(effects)
    .filter((effect) => effect.op === 'update')
    .map(({ object }) => (object as ReplicaSet).status)[0];

const run = (
  set: ReplicaSet | undefined,
  pods: Pod[],
  context: ViewContext = { monotonicMs: 0, live: new Map() },
  crowd = new Map<string, number>(),
) => replicaSetController.reconcile({ owner: set, pods, crowd, context }, now);

describe('pods', () => {
  test('missing ones are created, at most 500 at once', () => {
    expect(told(run(replicaSet(2), [pod('a')]))).toEqual(['create', 'status']);
    expect(told(run(replicaSet(900), [])).filter((effect) => effect === 'create')).toHaveLength(500);
  });
  test('of too many the one that is not ready goes', () => {
    expect(told(run(replicaSet(1), [pod('a', {}, ready()), pod('b')]))).toContain('delete b');
  });
  test('pods that ended or are leaving do not count', () => {
    const pods = [pod('a', {}, { phase: 'Failed' }), pod('b', { deletionTimestamp: '2026-01-01T00:09:00Z' })];
    const plan = run(replicaSet(1), pods);
    expect(told(plan)).toEqual(['create', 'status']);
    expect(statusOf(plan)).toMatchObject({ replicas: 0, terminatingReplicas: 1 });
  });
  test('a set that is being deleted leaves its pods alone', () => {
    const leaving = replicaSet(3);
    leaving.metadata.deletionTimestamp = '2026-01-01T00:09:00Z';
    expect(told(run(leaving, []))).toEqual(['status']);
  });
  test('gone: nothing', () => expect(run(undefined, []).effects).toEqual([]));
});

describe('adoption', () => {
  const orphan = pod('o', { ownerReferences: [] });
  const live = (set: ReplicaSet | undefined) => ({ monotonicMs: 0, live: new Map([['apps/replicasets/ns/web', set]]) });

  test('asks for the set as it is now, then takes the orphan', () => {
    const set = replicaSet(1);
    expect(run(set, [orphan]).needsLive).toEqual([{ resource: expect.anything(), namespace: 'ns', name: 'web' }]);
    expect(told(run(set, [orphan], live(set)))).toEqual(['patch o', 'status']);
  });
  test('takes none when the set is another one by now', () => {
    const other = replicaSet(1);
    other.metadata.uid = 'other';
    expect(told(run(replicaSet(1), [orphan], live(other)))).toEqual(['create', 'status']);
  });
  test('lets go of a pod that it selects no longer', () => {
    const plan = run(replicaSet(1), [pod('a', { labels: { app: 'other' } })]);
    expect(told(plan)).toEqual(['patch a', 'create', 'status']);
    expect(flat(plan.effects)[0]).toMatchObject({
      body: { metadata: { uid: 'a', ownerReferences: [{ $patch: 'delete', uid: 'rs' }] } },
    });
  });
});

describe('status', () => {
  test('counts', () => {
    const plan = run(replicaSet(2), [pod('a', {}, ready()), pod('b', { labels: { app: 'web', more: 'x' } })]);
    expect(statusOf(plan)).toEqual({
      replicas: 2,
      fullyLabeledReplicas: 2,
      readyReplicas: 1,
      availableReplicas: 1,
      terminatingReplicas: 0,
      observedGeneration: 1,
    });
  });
  test('ready is not available before minReadySeconds, and is looked at then', () => {
    const set = replicaSet(1);
    set.spec = { ...set.spec, selector: set.spec?.selector ?? {}, minReadySeconds: 30 };
    const plan = run(set, [pod('a', {}, ready('2026-01-01T00:09:50Z'))]);
    expect(statusOf(plan)).toMatchObject({ readyReplicas: 1 });
    expect(statusOf(plan)?.availableReplicas).toBeUndefined();
    expect(plan.requeueAfterMs).toBe(20_000);
  });
  test('a failure to create is a condition until it is over', () => {
    const lastFailure = { op: 'create' as const, message: 'exceeded quota', reason: 'Forbidden' };
    const failed = statusOf(run(replicaSet(1), [], { monotonicMs: 0, live: new Map(), lastFailure }));
    expect(failed?.conditions).toMatchObject([
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' },
    ]);
    const over = statusOf(run(replicaSet(1, { status: failed }), [pod('a')]));
    expect(over?.conditions).toBeUndefined();
  });
  test('is not written again when nothing changed', () => {
    const pods = [pod('a', {}, ready())];
    const status = statusOf(run(replicaSet(1), pods));
    expect(run(replicaSet(1, { status }), pods).effects).toEqual([]);
  });
});
