// The status of a CronJob as its Jobs show it, and the Jobs that history no longer holds (pkg/controller/cronjob).
import type { CronJob, CronJobStatus, Job } from '#api/batch/v1';
import type { Effect } from '#controller-runtime';
import { jobs as jobResource } from '#controller-runtime/workload';

export const scheduledAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/** How a Job ended, Complete or Failed; undefined while it runs. */
export const outcomeOf = ({ status }: Job): string | undefined =>
  status?.conditions?.find(({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True')?.type;

export const notice = (regarding: CronJob, type: 'Normal' | 'Warning', reason: string, message: string): Effect => ({
  op: 'event',
  regarding,
  type,
  reason,
  message,
});

const timeOf = (text: string | null | undefined, unset = Number.NEGATIVE_INFINITY): number => (text ? Date.parse(text) : unset);

const referTo = ({ metadata: { namespace, name, uid, resourceVersion } }: Job): NonNullable<CronJobStatus['active']>[number] => ({
  kind: 'Job',
  namespace,
  name,
  uid,
  apiVersion: 'batch/v1',
  resourceVersion,
});

export interface Observed {
  /** Status with the Jobs' present state. */
  status: CronJobStatus;
  events: Effect[];
}

/** `gone`: uids of active Jobs that are known not to exist any more. */
export function observe(cronJob: CronJob, jobs: readonly Job[], gone: ReadonlySet<string>): Observed {
  const events: Effect[] = [];
  const status: CronJobStatus = { ...cronJob.status };
  let active = [...(status.active ?? [])];
  for (const job of jobs) {
    const { uid, name = '' } = job.metadata;
    const known = active.some((reference) => reference.uid === uid);
    const outcome = outcomeOf(job);
    const scheduled = job.metadata.annotations?.[scheduledAnnotation];
    if (outcome === undefined && !known) {
      if (scheduled === undefined)
        events.push(
          notice(cronJob, 'Warning', 'UnexpectedJob', `Saw a job that the controller did not create or forgot: ${name}`),
        );
      else active.push(referTo(job));
    }
    if (outcome !== undefined && known) {
      active = active.filter((reference) => reference.uid !== uid);
      events.push(notice(cronJob, 'Normal', 'SawCompletedJob', `Saw completed job: ${name}, condition: ${outcome}`));
    }
    if (outcome === 'Complete' && timeOf(job.status?.completionTime) > timeOf(status.lastSuccessfulTime))
      status.lastSuccessfulTime = job.status?.completionTime;
  }
  for (const { uid = '', name } of active.filter((reference) => gone.has(reference.uid ?? ''))) {
    active = active.filter((reference) => reference.uid !== uid);
    events.push(notice(cronJob, 'Normal', 'MissingJob', `Active job went missing: ${name}`));
  }
  status.active = active;
  return { status, events };
}

export function deleteJob(cronJob: CronJob, namespace: string, name: string): Effect {
  const success = { reason: 'SuccessfulDelete', message: `Deleted job ${name}` };
  const failure = { reason: 'FailedDelete', message: 'Deleted job: {error}' };
  const ref = { resource: jobResource, namespace, name };
  return { op: 'delete', ref, options: { propagationPolicy: 'Background' }, events: { regarding: cronJob, success, failure } };
}

const byStart = (a: Job, b: Job): number => {
  const [first, second] = [a.status?.startTime, b.status?.startTime];
  if (first === second) return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
  return timeOf(first, Number.POSITIVE_INFINITY) - timeOf(second, Number.POSITIVE_INFINITY);
};

/** The finished Jobs beyond the limits, the oldest first. */
export function expired({ spec }: CronJob, jobs: readonly Job[]): Job[] {
  const beyond = (outcome: string, limit: number | undefined): Job[] => {
    if (limit === undefined) return [];
    const finished = jobs
      .filter((job) => outcomeOf(job) === outcome && job.metadata.deletionTimestamp === undefined)
      .sort(byStart);
    return finished.slice(0, Math.max(0, finished.length - limit));
  };
  return [...beyond('Complete', spec.successfulJobsHistoryLimit), ...beyond('Failed', spec.failedJobsHistoryLimit)];
}
