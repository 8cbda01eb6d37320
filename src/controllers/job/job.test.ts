import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Job, JobSpec, JobStatus } from '#api/batch/v1';
import type { Pod } from '#api/core/v1';
import type { Effect, Plan } from '#controller-runtime';
import { includes, intervalsText, lowestOutside, overlap, parseIntervals, total, withIndexes } from './intervals.ts';
import { judgeFailure, successMet } from './policies.ts';
import { reconcile } from './reconcile.ts';

const now = Date.parse('2026-01-01T00:10:00Z');
const tracked = 'batch.kubernetes.io/job-tracking';

const job = (spec: Partial<JobSpec> = {}, status: JobStatus = { startTime: '2026-01-01T00:00:00Z' }): Job => ({
  metadata: { name: 'j', namespace: 'ns', uid: 'j' },
  spec: {
    parallelism: 2,
    completions: 4,
    backoffLimit: 6,
    selector: { matchLabels: { job: 'j' } },
    template: { metadata: { labels: { job: 'j' } }, spec: { containers: [], restartPolicy: 'Never' } },
    ...spec,
  },
  status,
});
const pod = (name: string, phase: string, extra: Partial<Pod['metadata']> = {}, status: Partial<Pod['status']> = {}): Pod => ({
  metadata: {
    name,
    namespace: 'ns',
    uid: name,
    labels: { job: 'j' },
    finalizers: [tracked],
    creationTimestamp: '2026-01-01T00:00:00Z',
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'j', controller: true }],
    ...extra,
  },
  spec: { containers: [] },
  status: { phase, ...status },
});
const index = (value: number) => ({ annotations: { 'batch.kubernetes.io/job-completion-index': String(value) } });

const run = (one: Job, pods: Pod[], at = now): Plan =>
  reconcile({ job: one, pods, strays: [], context: { monotonicMs: 0, live: new Map() } }, at);
const flat = (effects: readonly Effect[]): Effect[] =>
  effects.flatMap((effect) => (effect.op === 'parallel' ? flat(effect.effects) : [effect]));
const told = ({ effects }: Plan): string[] =>
  flat(effects).map((effect) => ('ref' in effect ? `${effect.op} ${effect.ref.name}` : effect.op));
const statusOf = ({ effects }: Plan): JobStatus | undefined =>
  flat(effects).flatMap((effect) => (effect.op === 'update' ? [(effect.object as Job).status] : []))[0];
const types = (plan: Plan): string[] => (statusOf(plan)?.conditions ?? []).map(({ type, reason }) => `${type} ${reason}`);

describe('pods', () => {
  test('as many as parallelism, never more than successes are missing', () => {
    expect(told(run(job(), []))).toEqual(['update', 'create', 'create']);
    const done = job({}, { startTime: '2026-01-01T00:00:00Z', succeeded: 3, uncountedTerminatedPods: {} });
    expect(told(run(done, [])).filter((effect) => effect === 'create')).toHaveLength(1);
  });
  test('without completions the first success ends the making of pods', () => {
    const open = job({ completions: undefined }, { startTime: '2026-01-01T00:00:00Z', succeeded: 1 });
    expect(told(run(open, [pod('a', 'Running')]))).toEqual(['update']);
  });
  test('too many go, and their finalizer first', () => {
    const plan = run(job({ parallelism: 1 }), [pod('a', 'Running'), pod('b', 'Pending')]);
    expect(told(plan)).toEqual(['patch b', 'delete b', 'update']);
  });
  test('a failed pod is replaced after a while', () => {
    const failed = pod(
      'a',
      'Failed',
      {},
      {
        containerStatuses: [
          {
            name: 'c',
            image: 'i',
            imageID: '',
            ready: false,
            restartCount: 0,
            state: { terminated: { exitCode: 1, finishedAt: '2026-01-01T00:09:55Z' } },
          },
        ],
      },
    );
    const plan = run(job(), [failed]);
    expect(told(plan)).toEqual(['update', 'patch a']);
    expect(plan.requeueAfterMs).toBe(5_000);
    expect(told(run(job(), [failed], now + 5_000))).toEqual(['update', 'patch a', 'create', 'create']);
  });
  test('suspended: none', () => {
    const plan = run(job({ suspend: true }), [pod('a', 'Running')]);
    expect(told(plan)).toEqual(['patch a', 'delete a', 'update']);
    expect(types(plan)).toEqual(['Suspended JobSuspended']);
    expect(statusOf(plan)?.startTime).toBeUndefined();
  });
  test('Indexed: the lowest indexes that neither ran nor run', () => {
    const some = job(
      { completionMode: 'Indexed', completions: 6 },
      { startTime: '2026-01-01T00:00:00Z', completedIndexes: '0,2', succeeded: 2 },
    );
    const created = flat(run(some, [pod('a', 'Running', index(1))]).effects).flatMap((effect) =>
      effect.op === 'create' ? [effect.object.metadata.generateName] : [],
    );
    expect(created).toEqual(['j-3-']);
  });
  test('Indexed: an index taken twice is given back', () => {
    const pods = [pod('a', 'Running', index(0)), pod('b', 'Pending', index(0))];
    expect(told(run(job({ completionMode: 'Indexed' }), pods))).toContain('delete b');
  });
});

describe('counting', () => {
  test('a finished pod is noted, then released, then counted', () => {
    const first = run(job(), [pod('a', 'Succeeded'), pod('b', 'Running')]);
    expect(statusOf(first)?.uncountedTerminatedPods).toEqual({ succeeded: ['a'] });
    expect(told(first)).toEqual(['update', 'patch a', 'create']);
    const second = run(job({}, statusOf(first)), [pod('a', 'Succeeded', { finalizers: [] }), pod('b', 'Running')]);
    expect(statusOf(second)).toMatchObject({ succeeded: 1, uncountedTerminatedPods: {} });
  });
  test('a pod that is deleted while it runs has failed', () => {
    const plan = run(job(), [pod('a', 'Running', { deletionTimestamp: '2026-01-01T00:09:00Z' })]);
    expect(statusOf(plan)?.uncountedTerminatedPods).toEqual({ failed: ['a'] });
  });
  test('but not when only ended pods are replaced', () => {
    const plan = run(job({ podReplacementPolicy: 'Failed' }), [
      pod('a', 'Running', { deletionTimestamp: '2026-01-01T00:09:00Z' }),
    ]);
    expect(statusOf(plan)).toMatchObject({ terminating: 1, uncountedTerminatedPods: {} });
    expect(told(plan).filter((effect) => effect === 'create')).toHaveLength(1);
  });
});

describe('the end', () => {
  const atEnd = (status: JobStatus): JobStatus => ({ startTime: '2026-01-01T00:00:00Z', uncountedTerminatedPods: {}, ...status });
  test('all succeeded', () => {
    const plan = run(job({}, atEnd({ succeeded: 4 })), []);
    expect(types(plan)).toEqual(['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached']);
    expect(statusOf(plan)?.completionTime).toBe('2026-01-01T00:10:00Z');
  });
  test('too many failures: running pods go, and the end waits for them', () => {
    const plan = run(job({ backoffLimit: 1 }, atEnd({ failed: 2 })), [pod('a', 'Running')]);
    expect(types(plan)).toEqual(['FailureTarget BackoffLimitExceeded']);
    expect(told(plan)).toEqual(['delete a', 'update', 'patch a']);
    const later = run(job({ backoffLimit: 1 }, { ...statusOf(plan), uncountedTerminatedPods: {}, terminating: 0 }), []);
    expect(types(later)).toEqual(['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded']);
  });
  test('the deadline', () => {
    expect(types(run(job({ activeDeadlineSeconds: 600 }), []))[0]).toBe('FailureTarget DeadlineExceeded');
    expect(run(job({ activeDeadlineSeconds: 700 }), [pod('a', 'Running'), pod('b', 'Running')]).requeueAfterMs).toBe(100_000);
  });
  test('a rule of the success policy', () => {
    const policy = { completionMode: 'Indexed', successPolicy: { rules: [{ succeededIndexes: '0-1', succeededCount: 1 }] } };
    const plan = run(job(policy, atEnd({ completedIndexes: '1', succeeded: 1 })), []);
    expect(types(plan)).toEqual(['SuccessCriteriaMet SuccessPolicy', 'Complete SuccessPolicy']);
  });
  test('every index done, some failed', () => {
    const perIndex = { completionMode: 'Indexed', completions: 2, backoffLimitPerIndex: 0 };
    const plan = run(job(perIndex, atEnd({ completedIndexes: '0', succeeded: 1 })), [pod('b', 'Failed', index(1))]);
    expect(types(plan)).toEqual(['FailureTarget FailedIndexes']);
    expect(statusOf(plan)).toMatchObject({ failedIndexes: '1', uncountedTerminatedPods: { failed: ['b'] } });
  });
  test('it is not touched again', () => {
    const over = job({}, atEnd({ conditions: [{ type: 'Complete', status: 'True' }] }));
    expect(run(over, []).effects).toEqual([]);
  });
  test('pods without a Job lose its finalizer', () => {
    const plan = reconcile(
      { job: undefined, pods: [], strays: [pod('a', 'Running')], context: { monotonicMs: 0, live: new Map() } },
      now,
    );
    expect(told(plan)).toEqual(['patch a']);
  });
});

describe('policies', () => {
  const failed = pod(
    'a',
    'Failed',
    {},
    {
      conditions: [{ type: 'DisruptionTarget', status: 'True' }],
      containerStatuses: [
        { name: 'c', image: 'i', imageID: '', ready: false, restartCount: 0, state: { terminated: { exitCode: 42 } } },
      ],
    },
  );
  const onCodes = (action: string, values: number[], operator = 'In') => ({
    rules: [{ action, onExitCodes: { operator, values } }],
  });
  test.each([
    [undefined, { counts: true }],
    [onCodes('Ignore', [42]), { counts: false, action: 'Ignore' }],
    [onCodes('Count', [42]), { counts: true, action: 'Count' }],
    [onCodes('Ignore', [42], 'NotIn'), { counts: true }],
    [
      onCodes('FailJob', [42]),
      {
        counts: true,
        action: 'FailJob',
        jobFailure: 'Container c for pod ns/a failed with exit code 42 matching FailJob rule at index 0',
      },
    ],
    [
      { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }] },
      { counts: false, action: 'Ignore' },
    ],
  ])('failure %#', (policy, verdict) => expect(judgeFailure(policy, failed)).toEqual(verdict));
  test('success', () => {
    const rules = [{ succeededIndexes: '0-2' }, { succeededCount: 2 }];
    expect(successMet({ rules }, 5, parseIntervals('1,2', 5))).toBe('Matched rules at index 1');
    expect(successMet({ rules }, 5, parseIntervals('0-2', 5))).toBe('Matched rules at index 0');
    expect(successMet({ rules }, 5, parseIntervals('4', 5))).toBeUndefined();
  });
});

test('intervals', () => {
  const some = parseIntervals('0,2-4,7-99,x', 10);
  expect(intervalsText(some)).toBe('0,2-4,7-9');
  expect(total(some)).toBe(7);
  expect([includes(some, 3), includes(some, 5)]).toEqual([true, false]);
  expect(intervalsText(withIndexes(some, [6, 5, 1]))).toBe('0-9');
  expect(overlap(some, parseIntervals('3-8', 10))).toBe(4);
  expect(intervalsText(parseIntervals('1,2', 10))).toBe('1,2');
});

test('what is asked of intervals is what one finds by counting', () => {
  const indexes = fc.uniqueArray(fc.nat(40), { maxLength: 30 });
  fc.assert(
    fc.property(indexes, indexes, fc.nat(45), fc.nat(10), (a, b, end, count) => {
      const [one, two] = [withIndexes([], a), withIndexes([], b)];
      const all = Array.from({ length: end }, (_, index) => index);
      expect(all.filter((index) => includes(one, index))).toEqual(all.filter((index) => a.includes(index)));
      expect(overlap(one, two)).toBe(a.filter((index) => b.includes(index)).length);
      expect(lowestOutside(one, end, count)).toEqual(all.filter((index) => !a.includes(index)).slice(0, count));
    }),
  );
});

test('two thousand million completions are not counted one by one', () => {
  const completions = 2 ** 31 - 1;
  const one = job(
    { completions, parallelism: 2, completionMode: 'Indexed' },
    { startTime: '2026-01-01T00:00:00Z', completedIndexes: `0-${completions - 2}` },
  );
  expect(told(run(one, [])).filter((effect) => effect === 'create')).toHaveLength(1);
});
