// What a CronJob does next (pkg/controller/cronjob syncCronJob). Pure.
import { isTimeZone, parseSchedule, type Schedule, ScheduleError } from '#api/batch/cronjob';
import type { CronJob, CronJobStatus, Job } from '#api/batch/v1';
import { formatTime } from '#apimachinery/meta';
import { controllerRef, type Effect, type Plan, type Ref, refKey, type ViewContext } from '#controller-runtime';
import { cronJobs, jobs as jobResource, typed } from '#controller-runtime/workload';
import { deepEqual, quote } from '#utils';
import { InvalidScheduleError, type Missed, missedTimes, next } from './next.ts';
import { deleteJob, expired, notice, observe, scheduledAnnotation } from './status.ts';
import { formatInZone, type Zone, zoneOf } from './zone.ts';

export interface CronJobView {
  /** Undefined: it is gone. */
  cronJob: CronJob | undefined;
  /** Jobs it controls. */
  jobs: readonly Job[];
  context: ViewContext;
}

/** Timers are never early by more than this. */
const deltaMs = 100;

interface Turn {
  cronJob: CronJob;
  jobs: readonly Job[];
  status: CronJobStatus;
  effects: Effect[];
  now: number;
}

interface Outcome {
  requeueAfterMs?: number;
  because: string;
}

export function reconcile({ cronJob: cached, jobs, context }: CronJobView, now: number): Plan {
  if (!cached) return { effects: [] };
  const cronJob = typed(cached, 'batch/v1', 'CronJob');
  const missing = missingRefs(cronJob, jobs);
  const needsLive = missing.map(({ ref }) => ref).filter((ref) => !context.live.has(refKey(ref)));
  if (needsLive.length > 0) return { effects: [], needsLive };
  const gone = new Set(missing.flatMap(({ ref, uid }) => (context.live.get(refKey(ref)) === undefined ? [uid] : [])));
  const { status, events } = observe(cronJob, jobs, gone);
  const turn: Turn = { cronJob, jobs, status, effects: [...events], now };
  for (const { metadata } of expired(cronJob, jobs)) remove(turn, metadata.namespace ?? '', metadata.name ?? '', metadata.uid);
  const { requeueAfterMs, because } =
    cronJob.metadata.deletionTimestamp === undefined ? take(turn) : { because: 'it is being deleted' };
  return {
    effects: [...turn.effects, ...statusEffects(turn)],
    ...(requeueAfterMs !== undefined && { requeueAfterMs }),
    because: `CronJob ${cronJob.metadata.name ?? ''}: ${because}.`,
  };
}

/** Active Jobs that the cache does not know. */
function missingRefs({ status }: CronJob, jobs: readonly Job[]): { ref: Ref; uid: string }[] {
  const known = new Set(jobs.map(({ metadata }) => metadata.uid));
  return (status?.active ?? [])
    .filter(({ uid }) => !known.has(uid))
    .map(({ namespace = '', name = '', uid = '' }) => ({ ref: { resource: jobResource, namespace, name }, uid }));
}

function remove(turn: Turn, namespace: string, name: string, uid: string | undefined): void {
  turn.effects.push(deleteJob(turn.cronJob, namespace, name));
  turn.status.active = (turn.status.active ?? []).filter((reference) => reference.uid !== uid);
}

const warn = ({ cronJob, effects }: Turn, reason: string, message: string): void =>
  void effects.push(notice(cronJob, 'Warning', reason, message));

/** Starts a Job if the time has come. */
function take(turn: Turn): Outcome {
  const { spec } = turn.cronJob;
  const { timeZone } = spec;
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    warn(turn, 'UnknownTimeZone', `invalid timeZone: ${quote(timeZone)}: unknown time zone ${timeZone}`);
    return { because: 'its time zone is not known' };
  }
  if (spec.suspend) return { because: 'it is suspended' };
  if (spec.schedule.includes('TZ'))
    warn(
      turn,
      'UnsupportedSchedule',
      `CRON_TZ or TZ used in schedule ${quote(spec.schedule)} is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details`,
    );
  try {
    const schedule = parseSchedule(spec.schedule);
    const zone = zoneOf(schedule.timeZone ?? timeZone);
    return start(turn, schedule, zone);
  } catch (error) {
    if (error instanceof ScheduleError) {
      warn(turn, 'UnparseableSchedule', `unparseable schedule: ${quote(spec.schedule)} : ${error.message}`);
      return { because: 'its schedule cannot be read' };
    }
    if (error instanceof InvalidScheduleError) {
      warn(turn, 'InvalidSchedule', `invalid schedule: ${spec.schedule} : ${error.message}`);
      return { because: 'its schedule has no times' };
    }
    throw error;
  }
}

/** Where to look for times from: the last one, or the creation. */
const lastMs = ({ cronJob, status }: Turn): number =>
  Date.parse(status.lastScheduleTime ?? cronJob.metadata.creationTimestamp ?? '');

function start(turn: Turn, schedule: Schedule, zone: Zone): Outcome {
  const { cronJob, now } = turn;
  const { startingDeadlineSeconds } = cronJob.spec;
  const deadline = startingDeadlineSeconds === undefined ? Number.NEGATIVE_INFINITY : now - startingDeadlineSeconds * 1000;
  const missed = missedTimes(schedule, Math.max(lastMs(turn), deadline), now, zone);
  const later = (because: string): Outcome => ({ because, ...waitFor(turn, schedule, zone) });
  if (missed.latest === undefined) return later('its time has not come yet');
  if (missed.many)
    warn(
      turn,
      'TooManyMissedTimes',
      'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
    );
  if (missed.latest < deadline) {
    warn(turn, 'MissSchedule', `Missed scheduled time to start a job: ${formatRfc1123(missed.latest)}`);
    return later('its time was missed by more than the starting deadline');
  }
  if (wasStarted(turn, missed.latest)) return later('the Job of this time was started');
  return run(turn, missed.latest, zone, later);
}

const jobName = (cronJob: CronJob, atMs: number): string => `${cronJob.metadata.name ?? ''}-${Math.floor(atMs / 60_000)}`;

function wasStarted({ cronJob, jobs, status }: Turn, atMs: number): boolean {
  const name = jobName(cronJob, atMs);
  return (
    jobs.some(({ metadata }) => metadata.name === name) ||
    (status.active ?? []).some((reference) => reference.name === name) ||
    Date.parse(status.lastScheduleTime ?? '') === atMs
  );
}

function run(turn: Turn, atMs: number, zone: Zone, later: (because: string) => Outcome): Outcome {
  const { cronJob, status } = turn;
  const { concurrencyPolicy } = cronJob.spec;
  const active = status.active ?? [];
  if (concurrencyPolicy === 'Forbid' && active.length > 0) {
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    turn.effects.push(notice(cronJob, 'Normal', 'JobAlreadyActive', message));
    return later('its last Job still runs, and it may not run twice');
  }
  if (concurrencyPolicy === 'Replace')
    for (const { namespace = '', name = '', uid } of active) remove(turn, namespace, name, uid);
  const object = jobFor(cronJob, atMs, zone);
  const success = { reason: 'SuccessfulCreate', message: 'Created job {name}' };
  const failure = { reason: 'FailedCreate', message: 'Error creating job: {error}' };
  turn.effects.push({ op: 'create', resource: jobResource, object, events: { regarding: cronJob, success, failure } });
  status.lastScheduleTime = formatTime(atMs);
  return later(`its time has come, so Job ${object.metadata.name ?? ''} is created`);
}

function jobFor(cronJob: CronJob, atMs: number, zone: Zone): Job {
  const { metadata, spec } = cronJob.spec.jobTemplate;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: jobName(cronJob, atMs),
      namespace: cronJob.metadata.namespace,
      ...(metadata?.labels && { labels: metadata.labels }),
      annotations: { ...metadata?.annotations, [scheduledAnnotation]: formatInZone(atMs, zone) },
      ownerReferences: [controllerRef(cronJob, 'batch', 'v1', 'CronJob')],
    },
    ...(spec && { spec }),
  };
}

/** The time until the schedule fires next. */
function waitFor(turn: Turn, schedule: Schedule, zone: Zone): { requeueAfterMs?: number } {
  const { now } = turn;
  const from = latestOr(() => missedTimes(schedule, lastMs(turn), now, zone), lastMs(turn), now);
  const at = next(schedule, from, zone);
  return at === undefined ? {} : { requeueAfterMs: Math.max(0, at + deltaMs - now) };
}

function latestOr(missed: () => Missed, last: number, now: number): number {
  const { latest, any } = missed();
  return latest ?? (any ? now : last);
}

/** `Mon, 02 Jan 2006 15:04:05 UTC`. */
const formatRfc1123 = (atMs: number): string => new Date(atMs).toUTCString().replace('GMT', 'UTC');

function statusEffects({ cronJob, status }: Turn): Effect[] {
  const stored = compact(status);
  if (deepEqual(compact(cronJob.status ?? {}), stored)) return [];
  const object: CronJob = { ...cronJob, status: stored };
  return [{ op: 'update', resource: cronJobs, object, subresource: 'status', afterSuccess: true }];
}

const compact = ({ active = [], ...times }: CronJobStatus): CronJobStatus => ({ ...(active.length > 0 && { active }), ...times });
