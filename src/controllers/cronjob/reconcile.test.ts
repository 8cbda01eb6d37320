import { describe, expect, test } from 'vitest';
import type { CronJob, CronJobSpec, Job } from '#api/batch/v1';
import type { Effect, ViewContext } from '#controller-runtime';
import { reconcile } from './reconcile.ts';

const created = '2026-01-01T00:00:30Z';
const now = Date.parse('2026-01-01T00:02:10Z');

const cronJob = (spec: Partial<CronJobSpec> = {}, status: CronJob['status'] = {}): CronJob => ({
  metadata: { name: 'c', namespace: 'ns', uid: 'u', creationTimestamp: created },
  spec: {
    schedule: '*/1 * * * *',
    concurrencyPolicy: 'Allow',
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
    jobTemplate: { metadata: { labels: { a: 'b' } }, spec: { template: {} } },
    ...spec,
  },
  status,
});
const context: ViewContext = { monotonicMs: 0, live: new Map() };
const job = (name: string, outcome?: string, extra: Partial<Job['metadata']> = {}): Job => ({
  metadata: {
    name,
    namespace: 'ns',
    uid: name,
    annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T00:02:00Z' },
    ...extra,
  },
  status: {
    startTime: '2026-01-01T00:02:00Z',
    ...(outcome && { completionTime: '2026-01-01T00:02:05Z', conditions: [{ type: outcome, status: 'True' }] }),
  },
});
const active = (name: string) => ({ name, namespace: 'ns', uid: name });
const told = (effects: Effect[]): string[] =>
  effects.map((effect) => {
    if (effect.op === 'event') return effect.reason;
    if (effect.op === 'create') return `create ${effect.object.metadata.name}`;
    if (effect.op === 'delete') return `delete ${effect.ref.name}`;
    return effect.op;
  });

describe('the time has come', () => {
  const minute = Date.parse('2026-01-01T00:02:00Z') / 60_000;

  test('starts the Job of the newest missed time, named after it', () => {
    const { effects, requeueAfterMs } = reconcile({ cronJob: cronJob(), jobs: [], context }, now);
    expect(told(effects)).toEqual([`create c-${minute}`, 'update']);
    expect(effects[0]).toMatchObject({
      object: {
        metadata: {
          labels: { a: 'b' },
          annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T00:02:00Z' },
          ownerReferences: [{ kind: 'CronJob', uid: 'u', controller: true }],
        },
      },
    });
    expect(effects[1]).toMatchObject({ afterSuccess: true, object: { status: { lastScheduleTime: '2026-01-01T00:02:00Z' } } });
    expect(requeueAfterMs).toBe(50_100);
  });
  test('not twice', () => {
    const done = cronJob({}, { lastScheduleTime: '2026-01-01T00:02:00Z', active: [active(`c-${minute}`)] });
    expect(reconcile({ cronJob: done, jobs: [job(`c-${minute}`)], context }, now).effects).toEqual([]);
  });
  test('the Job it started becomes active', () => {
    const { effects } = reconcile(
      { cronJob: cronJob({}, { lastScheduleTime: '2026-01-01T00:02:00Z' }), jobs: [job(`c-${minute}`)], context },
      now,
    );
    expect(told(effects)).toEqual(['update']);
    expect(effects[0]).toMatchObject({ object: { status: { active: [{ kind: 'Job', name: `c-${minute}` }] } } });
  });
  test('Forbid waits for the Job before', () => {
    const busy = cronJob({ concurrencyPolicy: 'Forbid' }, { active: [active('old')] });
    expect(told(reconcile({ cronJob: busy, jobs: [job('old')], context }, now).effects)).toEqual(['JobAlreadyActive']);
  });
  test('Replace takes the Job before away', () => {
    const busy = cronJob({ concurrencyPolicy: 'Replace' }, { active: [active('old')] });
    expect(told(reconcile({ cronJob: busy, jobs: [job('old')], context }, now).effects)).toEqual([
      'delete old',
      `create c-${minute}`,
      'update',
    ]);
  });
  test('too late is too late', () => {
    const strict = cronJob({ schedule: '0 0 * * *', startingDeadlineSeconds: 60 }, { lastScheduleTime: '2025-12-30T00:00:00Z' });
    expect(told(reconcile({ cronJob: strict, jobs: [], context }, now).effects)).toEqual([]);
  });
});

test('suspended, unknown zone, unreadable schedule and one without times start nothing', () => {
  const effectsOf = (spec: Partial<CronJobSpec>) => told(reconcile({ cronJob: cronJob(spec), jobs: [], context }, now).effects);
  expect(effectsOf({ suspend: true })).toEqual([]);
  expect(effectsOf({ timeZone: 'Mars/Base' })).toEqual(['UnknownTimeZone']);
  expect(effectsOf({ schedule: 'often' })).toEqual(['UnparseableSchedule']);
  expect(effectsOf({ schedule: '59 23 31 2 *' })).toEqual(['InvalidSchedule']);
});

test('finished Jobs leave the active list, and the oldest beyond the limit go', () => {
  const status = { lastScheduleTime: '2026-01-01T00:02:00Z', active: [active('b')] };
  const jobs = [job('a', 'Failed'), job('b', 'Failed'), job('d', 'Complete')];
  const { effects } = reconcile({ cronJob: cronJob({}, status), jobs, context }, now);
  expect(told(effects)).toEqual(['SawCompletedJob', 'delete a', 'update']);
  expect(effects[2]).toMatchObject({ object: { status: { lastSuccessfulTime: '2026-01-01T00:02:05Z' } } });
});

test('an active Job that the cache does not know is looked up, and forgotten when it is gone', () => {
  const status = { lastScheduleTime: '2026-01-01T00:02:00Z', active: [active('lost')] };
  const view = { cronJob: cronJob({}, status), jobs: [], context };
  expect(reconcile(view, now).needsLive?.map(({ name }) => name)).toEqual(['lost']);
  const live = new Map([['batch/jobs/ns/lost', undefined]]);
  expect(told(reconcile({ ...view, context: { monotonicMs: 0, live } }, now).effects)).toEqual(['MissingJob', 'update']);
});
