import { describe, expect, test } from 'vitest';
import type { ControllerRevision, StatefulSet, StatefulSetSpec, StatefulSetStatus } from '#api/apps/v1';
import type { PersistentVolumeClaim, Pod } from '#api/core/v1';
import type { Cache, Effect, Plan } from '#controller-runtime';
import { revisionData } from '#controller-runtime/workload';
import { statefulSetController } from './index.ts';
import { reconcile } from './reconcile.ts';

const now = Date.parse('2026-01-01T00:10:00Z');
const template = (image: string) => ({ metadata: { labels: { app: 's' } }, spec: { containers: [{ name: 'c', image }] } });
const set = (spec: Partial<StatefulSetSpec> = {}, status?: StatefulSetStatus): StatefulSet => ({
  metadata: { name: 's', namespace: 'ns', uid: 's', generation: 1 },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 's' } },
    serviceName: 'svc',
    template: template('new'),
    podManagementPolicy: 'OrderedReady',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    revisionHistoryLimit: 10,
    ...spec,
  },
  ...(status && { status }),
});
const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 's', uid: 's', controller: true };
const revision = (name: string, number: number): ControllerRevision => ({
  metadata: { name, namespace: 'ns', uid: name, labels: { app: 's' }, ownerReferences: [owner] },
  data: revisionData(template(name)),
  revision: number,
});
const revisions = [revision('old', 1), revision('new', 2)];
interface Extra {
  of?: string;
  ready?: boolean;
  phase?: string;
  leaving?: boolean;
}
const pod = (ordinal: number, { of = 'new', ready = true, phase = 'Running', leaving = false }: Extra = {}): Pod => ({
  metadata: {
    name: `s-${ordinal}`,
    namespace: 'ns',
    uid: `s-${ordinal}`,
    labels: { app: 's', 'controller-revision-hash': of, 'statefulset.kubernetes.io/pod-name': `s-${ordinal}` },
    ownerReferences: [owner],
    ...(leaving && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
  },
  spec: { containers: [] },
  status: {
    phase,
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' }],
  },
});
const run = (one: StatefulSet, pods: Pod[], claims: PersistentVolumeClaim[] = [], history = revisions): Plan =>
  reconcile(
    {
      set: one,
      pods,
      revisions: history,
      holder: undefined,
      claims: new Map(claims.map((claim) => [claim.metadata.name ?? '', claim])),
      context: { monotonicMs: 0, live: new Map() },
    },
    now,
  );
const flat = (effects: readonly Effect[]): Effect[] =>
  effects.flatMap((effect) => (effect.op === 'parallel' ? flat(effect.effects) : [effect]));
const told = ({ effects }: Plan): string[] =>
  flat(effects).flatMap((effect) => {
    if (effect.op === 'create') return [`create ${effect.object.metadata.name}`];
    if (effect.op === 'delete') return [`delete ${effect.ref.name}`];
    return effect.op === 'update' && effect.subresource === undefined ? [`update ${effect.object.metadata.name}`] : [];
  });
const statusOf = ({ effects }: Plan): StatefulSetStatus | undefined =>
  flat(effects).flatMap((effect) =>
    effect.op === 'update' && effect.subresource === 'status' ? [(effect.object as StatefulSet).status] : [],
  )[0];

describe('in order', () => {
  test.each([
    ['the first', [], ['create s-0']],
    ['the next once the first is ready', [pod(0)], ['create s-1']],
    ['not before', [pod(0, { ready: false })], []],
    ['nor while one is leaving', [pod(0), pod(1, { leaving: true })], []],
    ['an ended pod is made again', [pod(0), pod(1, { phase: 'Failed' }), pod(2)], ['delete s-1']],
    ['a gap is filled first', [pod(0), pod(2)], ['create s-1']],
    ['what is too much goes from the end', [pod(0), pod(1), pod(2), pod(3), pod(4)], ['delete s-4']],
    ['but waits for an unhealthy one', [pod(0), pod(1), pod(2), pod(3, { ready: false }), pod(4)], ['delete s-4']],
    ['one that is leaving holds the others', [pod(0), pod(1), pod(2), pod(3), pod(4, { leaving: true })], []],
  ] as const)('%s', (_, pods, expected) => expect(told(run(set(), [...pods]))).toEqual(expected));
  test('another start', () => expect(told(run(set({ ordinals: { start: 5 } }), []))).toEqual(['create s-5']));
});

test('Parallel: all at once', () => {
  expect(told(run(set({ podManagementPolicy: 'Parallel' }), []))).toEqual(['create s-0', 'create s-1', 'create s-2']);
  expect(told(run(set({ podManagementPolicy: 'Parallel', replicas: 0 }), [pod(0), pod(1)]))).toEqual([
    'delete s-1',
    'delete s-0',
  ]);
});

describe('as many replicas as a number can say', () => {
  const replicas = 2 ** 31 - 1;
  test('in order: the first that is missing', () => {
    expect(told(run(set({ replicas }), [pod(0)]))).toEqual(['create s-1']);
    expect(told(run(set({ replicas, ordinals: { start: 7 } }), []))).toEqual(['create s-7']);
  });
  test('Parallel: as many as one pass makes', () => {
    const made = told(run(set({ replicas, podManagementPolicy: 'Parallel' }), [pod(1)]));
    expect([made.length, made[0], made[1]]).toEqual([500, 'create s-0', 'create s-2']);
  });
  test('claims are looked for where a pod is, or may be made', () => {
    const one = set({ replicas, volumeClaimTemplates: [{ metadata: { name: 'data' } }] });
    const asked: string[] = [];
    const get = (resource: { resource: string }, _: string, name: string): unknown => {
      if (resource.resource === 'persistentvolumeclaims') asked.push(name);
      return resource.resource === 'statefulsets' ? one : undefined;
    };
    const cache = { get, ownedBy: () => [pod(0)], list: () => [], byIndex: () => [] };
    statefulSetController.view('ns/s', cache as unknown as Cache, { monotonicMs: 0, live: new Map() });
    expect(asked).toEqual(['data-s-0', 'data-s-1']);
  });
});

describe('update', () => {
  const old = (ordinal: number): Pod => pod(ordinal, { of: 'old' });
  const rolling = set({}, { replicas: 3, currentRevision: 'old', updateRevision: 'new', currentReplicas: 3 });
  test.each([
    ['from the end', [old(0), old(1), old(2)], ['delete s-2']],
    ['on to the next when the new one is ready', [old(0), old(1), pod(2)], ['delete s-1']],
    ['not while it is not', [old(0), old(1), pod(2, { ready: false })], []],
  ] as const)('%s', (_, pods, expected) => expect(told(run(rolling, [...pods]))).toEqual(expected));
  test('down to the partition', () => {
    const partial = set({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } }, rolling.status);
    expect(told(run(partial, [old(0), old(1), pod(2)]))).toEqual([]);
    const made = flat(run(partial, [old(0)]).effects).flatMap((effect) =>
      effect.op === 'create' ? [effect.object as Pod] : [],
    )[0];
    expect(made?.spec?.containers[0]?.image).toBe('old');
    expect(made?.metadata.labels?.['controller-revision-hash']).toBe('old');
  });
  test('OnDelete leaves them', () =>
    expect(told(run(set({ updateStrategy: { type: 'OnDelete' } }, rolling.status), [old(0), old(1), old(2)]))).toEqual([]));
  test('once done the new revision is the current one', () => {
    expect(statusOf(run(rolling, [pod(0), pod(1), pod(2)]))).toMatchObject({
      currentRevision: 'new',
      updateRevision: 'new',
      currentReplicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
    });
  });
});

describe('claims', () => {
  const spec = { volumeClaimTemplates: [{ metadata: { name: 'data' } }], replicas: 1 };
  const claim = (
    ownerReferences: PersistentVolumeClaim['metadata']['ownerReferences'] = [],
    ordinal = 0,
  ): PersistentVolumeClaim => ({
    metadata: { name: `data-s-${ordinal}`, namespace: 'ns', uid: 'c', ownerReferences },
  });
  const stored = (ordinal: number): Pod => ({
    ...pod(ordinal),
    spec: { containers: [], volumes: [{ name: 'data', persistentVolumeClaim: { claimName: `data-s-${ordinal}` } }] },
  });
  const deletes = { persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Delete' } };

  test('come before their pod', () => expect(told(run(set(spec), []))).toEqual(['create data-s-0', 'create s-0']));
  test('are kept', () => expect(told(run(set(spec), [], [claim()]))).toEqual(['create s-0']));
  test('belong to the set when they are to be deleted with it', () => {
    const plan = run(set({ ...spec, ...deletes }), [stored(0)], [claim()]);
    expect(flat(plan.effects)[0]).toMatchObject({
      object: { metadata: { name: 'data-s-0', ownerReferences: [{ kind: 'StatefulSet', uid: 's' }] } },
    });
  });
  test('belong to the pod when it is scaled away', () => {
    const plan = run(
      set({ ...spec, ...deletes }),
      [stored(0), stored(1)],
      [claim([{ ...owner, blockOwnerDeletion: true }]), claim([], 1)],
    );
    expect(told(plan)).toEqual(['update data-s-1', 'delete s-1']);
    expect(flat(plan.effects)[0]).toMatchObject({ object: { metadata: { ownerReferences: [{ kind: 'Pod', uid: 's-1' }] } } });
  });
  test('of the pod before must be gone first', () => {
    const stale = claim([{ apiVersion: 'v1', kind: 'Pod', name: 's-0', uid: 'gone' }]);
    const plan = run(set({ ...spec, ...deletes }), [], [stale]);
    expect(told(plan)).toEqual([]);
    expect(plan.requeueAfterMs).toBe(1_000);
  });
});

test('pods of other names are not taken, whatever their labels', () => {
  const stranger: Pod = { ...pod(0), metadata: { ...pod(0).metadata, name: 'other-0', ownerReferences: [] } };
  expect(told(run(set(), [stranger]))).toEqual(['create s-0']);
});
