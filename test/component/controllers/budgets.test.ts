// Evictions within budgets, as kubectl drain asks for them, and time tables over a whole day, in virtual time over the whole apiserver.
import { afterEach, describe, expect, it } from 'vitest';
import type { CronJob, Job } from '#api/batch/v1';
import type { Pod } from '#api/core/v1';
import type { PodDisruptionBudget } from '#api/policy/v1';
import { createControllers, defaultControllersConfig } from '#controllers';
import { StatusError } from '#apimachinery/errors';
import { formatTime, type GroupVersionResource, type KubeObject } from '#apimachinery/meta';
import { startTestControlPlane, type TestControlPlane, type VirtualClock, virtualClock } from '#testing';

const of = (group: string, version: string, resource: string): GroupVersionResource => ({ group, version, resource });
const pods = of('', 'v1', 'pods');
const budgets = of('policy', 'v1', 'poddisruptionbudgets');
const cronJobs = of('batch', 'v1', 'cronjobs');
const jobs = of('batch', 'v1', 'jobs');
const merge = 'application/merge-patch+json';
const hourMs = 3_600_000;

let clock: VirtualClock;
let plane: TestControlPlane;

async function start(name: string, whole: boolean): Promise<void> {
  clock = virtualClock();
  const controllers = createControllers(defaultControllersConfig).filter((loop) => loop.name === name);
  expect(controllers).toHaveLength(1);
  plane = await startTestControlPlane({ clock, controllers, whole, admission: { disable: ['ServiceAccount'] } });
  await clock.advance(1_000);
}
afterEach(() => plane.stop());

const on = <T extends KubeObject>(resource: GroupVersionResource) => plane.client.resource<T>(resource, 'default');
const all = async <T extends KubeObject>(resource: GroupVersionResource): Promise<T[]> => (await on<T>(resource).list()).items;
const events = async (): Promise<string[]> =>
  (await all<KubeObject & { reason?: string; message?: string }>(of('', 'v1', 'events'))).map(
    ({ reason, message }) => `${reason}: ${message}`,
  );

describe('evictions', () => {
  const run = async (name: string): Promise<void> => {
    await on<Pod>(pods).create({
      metadata: { name, labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image: 'c:1' }] },
    });
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await on<Pod>(pods).patch(name, 'application/strategic-merge-patch+json', { status }, { subresource: 'status' });
    await clock.advance(1_000);
  };
  const evict = async (name: string): Promise<string> => {
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: 'default' } };
    try {
      await on(pods).createSubresource(name, 'eviction', eviction);
      return 'evicted';
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return `${error.status.code} ${error.status.message} ${error.status.details?.causes?.[0]?.message}`;
    }
  };

  it('wait until the budget allows another', async () => {
    await start('disruption-controller', true);
    const spec = { minAvailable: 2, selector: { matchLabels: { app: 'web' } } };
    await on<PodDisruptionBudget>(budgets).create({ metadata: { name: 'web' }, spec });
    for (const name of ['a', 'b', 'c']) await run(name);
    await clock.advance(1_000);
    const refused =
      "429 Cannot evict pod as it would violate the pod's disruption budget. The disruption budget web needs 2 healthy pods and has 2 currently";
    expect(await evict('a')).toBe('evicted');
    await clock.advance(1_000);
    expect(await evict('b')).toBe(refused);
    await run('d');
    await clock.advance(1_000);
    expect(await evict('b')).toBe('evicted');
    await clock.advance(1_000);
    expect(await evict('c')).toBe(refused);
    expect((await all(pods)).map(({ metadata }) => metadata.name).sort()).toEqual(['c', 'd']);
    const [budget] = await all<PodDisruptionBudget>(budgets);
    expect(budget?.status).toMatchObject({ currentHealthy: 2, desiredHealthy: 2, expectedPods: 2, disruptionsAllowed: 0 });
    // What is gone is counted no longer.
    expect(budget?.status?.disruptedPods ?? {}).toEqual({});
  });
});

describe('CronJobs', () => {
  const make = (name: string, spec: Partial<CronJob['spec']>) =>
    on<CronJob>(cronJobs).create({
      metadata: { name },
      spec: {
        schedule: '0 * * * *',
        jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'c:1' }] } } } },
        ...spec,
      },
    });
  const times = async (): Promise<string[]> =>
    (await all<Job>(jobs))
      .map(({ metadata }) => metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp'] ?? '')
      .sort();
  const finish = async (): Promise<void> => {
    for (const { metadata, status } of await all<Job>(jobs)) {
      if (status?.completionTime) continue;
      const at = formatTime(clock.now());
      const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({
        type,
        status: 'True',
        lastProbeTime: at,
        lastTransitionTime: at,
      }));
      const done = { startTime: at, completionTime: at, succeeded: 1, conditions, uncountedTerminatedPods: {} };
      await on(jobs).patch(metadata.name ?? '', merge, { status: done }, { subresource: 'status' });
    }
    await clock.advance(1_000);
  };

  it('start a Job at each time of a day, and keep the newest three', async () => {
    await start('cronjob-controller', false);
    await make('hourly', {});
    await clock.advance(5_000);
    let count = 0;
    for (let hour = 1; hour <= 24; hour++) {
      await clock.advance(hourMs - 1_000);
      count += (await all<Job>(jobs)).filter(({ status }) => !status?.completionTime).length;
      await finish();
    }
    expect(count).toBe(24);
    expect(await times()).toEqual(['2026-01-01T22:00:00Z', '2026-01-01T23:00:00Z', '2026-01-02T00:00:00Z']);
    const [cronJob] = await all<CronJob>(cronJobs);
    expect(cronJob?.status?.lastScheduleTime).toBe('2026-01-02T00:00:00Z');
    expect(cronJob?.status?.active ?? []).toEqual([]);
  });

  it.each([
    ['Allow', ['2026-01-01T01:00:00Z', '2026-01-01T02:00:00Z', '2026-01-01T03:00:00Z']],
    ['Forbid', ['2026-01-01T01:00:00Z']],
    ['Replace', ['2026-01-01T03:00:00Z']],
  ])('that overlap: %s', async (concurrencyPolicy, expected) => {
    await start('cronjob-controller', false);
    await make('slow', { concurrencyPolicy });
    await clock.advance(3 * hourMs + 60_000);
    const living = (await all<Job>(jobs)).filter(({ metadata }) => !metadata.deletionTimestamp);
    expect(
      living.map(({ metadata }) => metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp']).sort(),
    ).toEqual(expected);
    if (concurrencyPolicy === 'Forbid')
      expect(await events()).toContain(
        'JobAlreadyActive: Not starting job because prior execution is running and concurrency policy is Forbid',
      );
  });

  it('catch up with the last missed time only, if it is not too late', async () => {
    await start('cronjob-controller', false);
    await make('late', { suspend: true });
    await make('too-late', { suspend: true, startingDeadlineSeconds: 600 });
    await clock.advance(5 * hourMs + 30 * 60_000);
    expect(await times()).toEqual([]);
    for (const name of ['late', 'too-late']) await on(cronJobs).patch(name, merge, { spec: { suspend: false } });
    await clock.advance(1_000);
    expect(await times()).toEqual(['2026-01-01T05:00:00Z']);
    await clock.advance(hourMs / 2);
    expect(await times()).toEqual(['2026-01-01T05:00:00Z', '2026-01-01T06:00:00Z', '2026-01-01T06:00:00Z']);
  });

  it('follow the clock of their time zone', async () => {
    await start('cronjob-controller', false);
    await make('noon', { schedule: '0 12 * * *', timeZone: 'Asia/Tokyo' });
    await clock.advance(24 * hourMs);
    expect(await times()).toEqual(['2026-01-01T12:00:00+09:00']);
    expect((await all<Job>(jobs))[0]?.metadata.name).toBe(`noon-${Date.UTC(2026, 0, 1, 3) / 60_000}`);
  });
});
