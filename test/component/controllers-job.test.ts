// Jobs with the real apiserver: to completion, to failure, indexed, suspended.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Job, JobSpec } from '#api/batch/v1';
import type { Pod } from '#api/core/v1';
import { jobs, pods } from '#controller-runtime/workload';
import { createControllers, defaultControllersConfig } from '#controllers';
import { startWorld, type World } from './controllers-world.ts';

const chosen = createControllers(defaultControllersConfig).filter(({ name }) => name === 'job-controller');

let world: World;
beforeEach(async () => {
  world = await startWorld(chosen);
});
afterEach(() => world.close());

const job = (spec: Partial<JobSpec> = {}): Job => ({
  metadata: { name: 'pi', namespace: 'default' },
  spec: {
    parallelism: 2,
    completions: 3,
    backoffLimit: 6,
    selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u' } },
    manualSelector: true,
    template: {
      metadata: { labels: { 'batch.kubernetes.io/controller-uid': 'u' } },
      spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
    },
    ...spec,
  },
});

const ended = (type: string) =>
  world.until(`${type} of the Job`, async () => {
    const found = await world.get<Job>(jobs, 'pi');
    return found.status?.conditions?.some((one) => one.type === type && one.status === 'True') ? found : undefined;
  });

const conditions = ({ status }: Job) =>
  (status?.conditions ?? []).map(({ type, status: value, reason }) => [type, value, reason]);
const eventSeen = (event: string) => world.until(event, async () => ((await world.events()).includes(event) ? true : undefined));

test('three successes complete it', async () => {
  world.runPods('Succeeded');
  await world.create(jobs, job());
  const done = await ended('Complete');
  expect(done.status).toMatchObject({ succeeded: 3, ready: 0, terminating: 0, uncountedTerminatedPods: {} });
  expect(done.status?.active).toBeUndefined();
  expect(done.status?.completionTime).toBeDefined();
  expect(conditions(done)).toEqual([
    ['SuccessCriteriaMet', 'True', 'CompletionsReached'],
    ['Complete', 'True', 'CompletionsReached'],
  ]);
  const all = await world.list<Pod>(pods);
  expect(all).toHaveLength(3);
  for (const { metadata } of all) expect(metadata.finalizers ?? []).toEqual([]);
  await eventSeen('Completed: Job completed');
  expect(world.complaints).toEqual([]);
});

test('a failure beyond the back-off limit fails it', async () => {
  world.runPods('Failed');
  await world.create(jobs, job({ backoffLimit: 0, parallelism: 1 }));
  const done = await ended('Failed');
  expect(conditions(done)).toEqual([
    ['FailureTarget', 'True', 'BackoffLimitExceeded'],
    ['Failed', 'True', 'BackoffLimitExceeded'],
  ]);
  expect(done.status?.failed).toBe(1);
  await eventSeen('BackoffLimitExceeded: Job has reached the specified backoff limit');
});

test('an Indexed Job gives each pod an index', async () => {
  world.runPods('Succeeded');
  await world.create(jobs, job({ completionMode: 'Indexed', completions: 4, parallelism: 4 }));
  const done = await ended('Complete');
  expect(done.status?.completedIndexes).toBe('0-3');
  const all = await world.list<Pod>(pods);
  const indexes = all.map(({ metadata }) => metadata.annotations?.['batch.kubernetes.io/job-completion-index']).sort();
  expect(indexes).toEqual(['0', '1', '2', '3']);
  const first = all.find(({ spec }) => spec?.hostname === 'pi-0');
  expect(first?.metadata.name).toMatch(/^pi-0-/);
  expect(first?.spec?.containers[0]?.env).toEqual([
    {
      name: 'JOB_COMPLETION_INDEX',
      valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']" } },
    },
  ]);
});

test('suspending takes the pods away, resuming brings them back', async () => {
  world.runPods('Running');
  await world.create(jobs, job());
  const active = (count: number) =>
    world.until(`${count} active`, async () => {
      const { status } = await world.get<Job>(jobs, 'pi');
      return (status?.active ?? 0) === count ? status : undefined;
    });
  await active(2);
  const suspend = (value: boolean) =>
    world.client.resource(jobs, 'default').patch('pi', 'application/merge-patch+json', { spec: { suspend: value } });
  await suspend(true);
  await eventSeen('Suspended: Job suspended');
  const status = await active(0);
  expect(status.failed).toBeUndefined();
  expect(status.startTime).toBeUndefined();
  await suspend(false);
  await eventSeen('Resumed: Job resumed');
  await active(2);
});
