import { describe, expect, test } from 'vitest';
import type { Deployment, DeploymentSpec, ReplicaSet } from '#api/apps/v1';
import type { Effect, Plan } from '#controller-runtime';
import { replicaSetName } from './new-replica-set.ts';
import { type DeploymentView, reconcile } from './reconcile.ts';

const now = Date.parse('2026-01-01T00:10:00Z');

const deployment = (image: string, spec: Partial<DeploymentSpec> = {}, extra: Partial<Deployment> = {}): Deployment => ({
  metadata: { name: 'web', namespace: 'ns', uid: 'd', generation: 1 },
  spec: {
    replicas: 10,
    selector: { matchLabels: { app: 'web' } },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } },
    progressDeadlineSeconds: 600,
    revisionHistoryLimit: 1,
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image }] } },
    ...spec,
  },
  ...extra,
});

interface Sizes {
  replicas: number;
  available?: number;
  desired?: number;
  max?: number;
  revision?: number;
}
const set = (image: string, { replicas, available = replicas, desired = 10, max = 13, revision = 1 }: Sizes): ReplicaSet => ({
  metadata: {
    name: `web-${image}`,
    namespace: 'ns',
    uid: image,
    labels: { app: 'web' },
    generation: 1,
    creationTimestamp: `2026-01-01T00:0${revision}:00Z`,
    annotations: {
      'deployment.kubernetes.io/revision': String(revision),
      'deployment.kubernetes.io/desired-replicas': String(desired),
      'deployment.kubernetes.io/max-replicas': String(max),
    },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'd', controller: true }],
  },
  spec: {
    replicas,
    selector: {},
    template: { metadata: { labels: { app: 'web', 'pod-template-hash': image } }, spec: { containers: [{ name: 'c', image }] } },
  },
  status: { replicas, readyReplicas: available, availableReplicas: available, observedGeneration: 1, terminatingReplicas: 0 },
});

const run = (view: Partial<DeploymentView> & { deployment: Deployment }): Plan =>
  reconcile({ replicaSets: [], holder: undefined, pods: new Map(), context: { monotonicMs: 0, live: new Map() }, ...view }, now);

/** Size of each ReplicaSet after the plan, by image. */
function sizes({ effects }: Plan): Record<string, number | string> {
  const result: Record<string, number | string> = {};
  for (const effect of effects) {
    if ((effect.op === 'create' || effect.op === 'update') && effect.resource.resource === 'replicasets') {
      const { spec } = effect.object as ReplicaSet;
      result[spec?.template?.spec?.containers[0]?.image ?? ''] = spec?.replicas ?? 0;
    }
    if (effect.op === 'delete') result[effect.ref.name.slice(4)] = 'deleted';
  }
  return result;
}
const written = ({ effects }: Plan): Deployment | undefined =>
  effects.filter((effect: Effect) => effect.op === 'update').find(({ resource }) => resource.resource === 'deployments')
    ?.object as Deployment | undefined;
const condition = (plan: Plan, type: string) => written(plan)?.status?.conditions?.find((one) => one.type === type);

describe('rolling update', () => {
  test('a new template gets as many pods as the surge allows, and as many old ones go as may be missing', () => {
    const status = { replicas: 10, updatedReplicas: 10, readyReplicas: 10, availableReplicas: 10 };
    const plan = run({ deployment: deployment('b', {}, { status }), replicaSets: [set('a', { replicas: 10 })] });
    expect(sizes(plan)).toEqual({ a: 8, b: 3 });
    expect(written(plan)?.metadata.annotations).toEqual({ 'deployment.kubernetes.io/revision': '2' });
    expect(condition(plan, 'Progressing')).toMatchObject({ status: 'True', reason: 'NewReplicaSetCreated' });
  });
  test.each([
    ['old pods go down to what must be available', { replicas: 10 }, { replicas: 3, available: 0, revision: 2 }, { a: 8 }],
    ['new pods follow', { replicas: 8 }, { replicas: 3, available: 0, revision: 2 }, { b: 5 }],
    ['with both bounds reached it waits', { replicas: 8 }, { replicas: 5, available: 0, revision: 2 }, {}],
    ['available new pods let old ones go', { replicas: 8 }, { replicas: 5, available: 5, revision: 2 }, { a: 3 }],
    ['pods that never worked go first', { replicas: 8, available: 4 }, { replicas: 5, available: 5, revision: 2 }, { a: 3 }],
    ['the last old pods go', { replicas: 2 }, { replicas: 10, revision: 2 }, { a: 0 }],
  ] as const)('%s', (_, old, fresh, expected) => {
    expect(sizes(run({ deployment: deployment('b'), replicaSets: [set('a', old), set('b', fresh)] }))).toEqual(expected);
  });
  test('a taken name changes the hash', () => {
    const wanted = deployment('b');
    const holder = { ...set('x', { replicas: 1 }), metadata: { name: replicaSetName(wanted), namespace: 'ns', uid: 'x' } };
    const plan = run({ deployment: wanted, holder });
    expect(sizes(plan)).toEqual({});
    expect(written(plan)?.status?.collisionCount).toBe(1);
    expect(replicaSetName({ ...wanted, status: { collisionCount: 1 } })).not.toBe(replicaSetName(wanted));
  });
});

describe('recreate', () => {
  const recreate = deployment('b', { strategy: { type: 'Recreate' } });
  test('all old pods go first', () =>
    expect(sizes(run({ deployment: recreate, replicaSets: [set('a', { replicas: 10 })] }))).toEqual({ a: 0 }));
  test('nothing starts while one is left', () => {
    const pods = new Map([['a', [{ metadata: {}, status: { phase: 'Running' } }]]]);
    expect(sizes(run({ deployment: recreate, replicaSets: [set('a', { replicas: 0 })], pods }))).toEqual({});
  });
  test('then all new ones start', () =>
    expect(sizes(run({ deployment: recreate, replicaSets: [set('a', { replicas: 0 })] }))).toEqual({ b: 10 }));
});

describe('scaling in the middle of a rollout', () => {
  test('is shared in proportion', () => {
    const replicaSets = [set('a', { replicas: 8, revision: 1 }), set('b', { replicas: 5, available: 0, revision: 2 })];
    expect(sizes(run({ deployment: deployment('b', { replicas: 20 }), replicaSets }))).toEqual({ a: 14, b: 9 });
    expect(sizes(run({ deployment: deployment('b', { replicas: 5 }), replicaSets }))).toEqual({ a: 5, b: 3 });
  });
  test('a pause keeps the template back but not the size', () => {
    const plan = run({ deployment: deployment('b', { paused: true, replicas: 4 }), replicaSets: [set('a', { replicas: 10 })] });
    expect(sizes(plan)).toEqual({ a: 4 });
    expect(condition(plan, 'Progressing')).toMatchObject({ status: 'Unknown', reason: 'DeploymentPaused' });
  });
});

describe('progress', () => {
  const stuck = (since: string) =>
    run({
      deployment: deployment(
        'b',
        {},
        {
          status: {
            replicas: 13,
            updatedReplicas: 5,
            readyReplicas: 8,
            availableReplicas: 8,
            conditions: [
              {
                type: 'Progressing',
                status: 'True',
                reason: 'ReplicaSetUpdated',
                lastUpdateTime: since,
                lastTransitionTime: since,
              },
            ],
          },
        },
      ),
      replicaSets: [set('a', { replicas: 8 }), set('b', { replicas: 5, available: 0, revision: 2 })],
    });
  test('within the deadline it is looked at again', () => expect(stuck('2026-01-01T00:05:00Z').requeueAfterMs).toBe(301_000));
  test('past it the rollout has failed', () => {
    const plan = stuck('2025-12-31T23:59:00Z');
    expect(condition(plan, 'Progressing')).toMatchObject({
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      message: 'ReplicaSet "web-b" has timed out progressing.',
    });
    expect(plan.requeueAfterMs).toBeUndefined();
  });
});

test('once complete, the oldest ReplicaSets beyond the history limit go', () => {
  const status = { replicas: 10, updatedReplicas: 10, availableReplicas: 10, observedGeneration: 1 };
  const replicaSets = [
    set('a', { replicas: 0, revision: 1 }),
    set('b', { replicas: 0, revision: 2 }),
    set('c', { replicas: 10, revision: 3 }),
  ];
  expect(sizes(run({ deployment: deployment('c', {}, { status }), replicaSets }))).toEqual({ a: 'deleted' });
});

test.each([
  ['3546343826724305832', '3546343826724305833'],
  ['9223372036854775807', '-9223372036854775808'],
  ['9223372036854775808', '1'],
  ['1e3', '1'],
])('the revision after %s is %s', (before, after) => {
  const old = set('a', { replicas: 10 });
  old.metadata.annotations = { ...old.metadata.annotations, 'deployment.kubernetes.io/revision': before };
  const plan = run({ deployment: deployment('b'), replicaSets: [old] });
  expect(written(plan)?.metadata.annotations).toEqual({ 'deployment.kubernetes.io/revision': after });
});

test('a rollback finds a revision that no JavaScript number holds', () => {
  const asked = deployment('b');
  asked.metadata.annotations = { 'deprecated.deployment.rollback.to': '9007199254740993' };
  const [near, meant] = ['9007199254740992', '9007199254740993'].map((revision, index) => {
    const found = set(`a${index}`, { replicas: 0 });
    found.metadata.annotations = { ...found.metadata.annotations, 'deployment.kubernetes.io/revision': revision };
    return found;
  });
  const replicaSets = [near, meant, set('b', { replicas: 10 })].filter((one) => one !== undefined);
  const plan = run({ deployment: asked, replicaSets });
  expect(written(plan)?.spec?.template.spec?.containers[0]?.image).toBe('a1');
  const message = 'Rolled back deployment "web" to revision 9007199254740993';
  expect(plan.effects).toContainEqual(expect.objectContaining({ reason: 'DeploymentRollback', message }));
});

test('the deprecated annotation rolls back', () => {
  const asked = deployment('b');
  asked.metadata.annotations = { 'deprecated.deployment.rollback.to': '1' };
  const plan = run({ deployment: asked, replicaSets: [set('a', { replicas: 0 }), set('b', { replicas: 10, revision: 2 })] });
  expect(written(plan)?.spec?.template.spec?.containers[0]?.image).toBe('a');
  expect(written(plan)?.metadata.annotations).toEqual({});
  expect(plan.effects).toContainEqual(
    expect.objectContaining({ reason: 'DeploymentRollback', message: 'Rolled back deployment "web" to revision 1' }),
  );
});
