// What a Job does next (pkg/controller/job syncJob). Pure.
import type { Job, JobCondition, JobSpec, JobStatus } from '#api/batch/v1';
import type { Pod } from '#api/core/v1';
import { formatTime } from '#apimachinery/meta';
import type { Effect, EffectEvents, Plan, ViewContext } from '#controller-runtime';
import { claimChildren, createPod, deletePod, jobs, newPod, pods as podResource, typed } from '#controller-runtime/workload';
import { deepEqual } from '#utils';
import { managePods, type PodWork } from './manage.ts';
import { controllerName, jobKind, trackingFinalizer } from './names.ts';
import { isFinished, isSuspended, isTracked, jobCondition, type JobState, stateOf } from './state.ts';
import { trackPods, type Tracked } from './track.ts';
import { deadlineLeftMs, isComplete, verdict } from './verdict.ts';

export interface JobView {
  /** Undefined: it is gone. */
  job: Job | undefined;
  /** Its pods, and the orphans of its namespace. */
  pods: readonly Pod[];
  /** Pods with a Job's finalizer that have no Job any more. */
  strays: readonly Pod[];
  context: ViewContext;
}

export function reconcile({ job: cached, pods, strays, context }: JobView, now: number): Plan {
  const released = strays.map(releasePod);
  if (!cached?.spec)
    return {
      effects: released,
      because: strays.length > 0 ? 'The Job of these pods is gone, so their finalizer goes.' : undefined,
    };
  const job = typed(cached, 'batch/v1', 'Job');
  const { spec } = cached;
  if ((spec.managedBy ?? controllerName) !== controllerName) return { effects: released };
  const claimed = claimChildren({
    owner: job,
    kind: jobKind,
    children: pods,
    resource: podResource,
    live: context.live,
    finalizer: trackingFinalizer,
  });
  if (isFinished(job.status ?? {}))
    return {
      effects: [...released, ...claimed.children.filter(isTracked).map(releasePod)],
      because: `Job ${job.metadata.name ?? ''} is over.`,
    };
  if (claimed.needsLive.length > 0) return { effects: [], needsLive: claimed.needsLive };
  const plan = sync(stateOf(job, spec, claimed.children, now), context);
  return { ...plan, effects: [...released, ...claimed.effects, ...plan.effects] };
}

function sync(state: JobState, context: ViewContext): Plan {
  const { job, spec, active } = state;
  const leaving = job.metadata.deletionTimestamp !== undefined;
  let ended = verdict(state);
  const work: PodWork = ended ? { create: [], remove: [...active] } : leaving ? { create: [], remove: [] } : managePods(state);
  if (!ended && isComplete(state, active.length + work.create.length - work.remove.length))
    ended = jobCondition(
      state.now,
      'SuccessCriteriaMet',
      'True',
      'CompletionsReached',
      'Reached expected number of succeeded pods',
    );
  const tracked = trackPods(state, ended);
  const failedBefore = context.lastFailure?.op === 'create';
  const status = statusOf(state, work, tracked, failedBefore);
  const notice = leaving || ended ? undefined : noteSuspension(state, status);
  const outcome = ended && settle(state, status, ended, work, tracked);
  const waits = [work.waitMs, deadlineLeftMs(state)].filter(
    (wait) => wait !== undefined && Number.isFinite(wait) && wait > 0,
  ) as number[];
  return {
    effects: [
      ...removals(state, work, ended),
      ...statusEffects(job, status, outcome ?? notice),
      ...parallel(tracked.release.map(releasePod)),
      ...parallel(work.create.map((pod) => creation(job, pod))),
    ],
    ...(waits.length > 0 && !ended && { requeueAfterMs: Math.min(...waits) }),
    because: explain(state, work, ended, spec),
  };
}

const parallel = (effects: Effect[]): Effect[] => (effects.length > 0 ? [{ op: 'parallel', effects }] : []);

function creation(job: Job, { template, generateName }: PodWork['create'][number]): Effect {
  const pod = newPod(template, job);
  return createPod(generateName === undefined ? pod : { ...pod, metadata: { ...pod.metadata, generateName } }, job);
}

/** Pods removed while the Job goes on must not count as failed: their finalizer goes first. */
function removals({ job }: JobState, { remove }: PodWork, ended: JobCondition | undefined): Effect[] {
  const untrack = ended ? [] : remove.filter(isTracked).map(releasePod);
  return [...parallel(untrack), ...parallel(remove.map((pod) => deletePod(pod, job)))];
}

const releasePod = ({ metadata }: Pod): Effect => ({
  op: 'patch',
  ref: { resource: podResource, namespace: metadata.namespace ?? '', name: metadata.name ?? '' },
  type: 'application/strategic-merge-patch+json',
  body: { metadata: { '$deleteFromPrimitiveList/finalizers': [trackingFinalizer] } },
});

/** Counts. Pods about to be made count as active, unless making them just failed. */
function statusOf(state: JobState, { create, remove }: PodWork, { status }: Tracked, failedBefore: boolean): JobStatus {
  const { spec, active, ready, terminating, now } = state;
  const start = status.startTime ?? (isSuspended(spec) ? undefined : formatTime(now));
  const readyGone = remove.filter((pod) =>
    pod.status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'),
  ).length;
  return {
    ...status,
    active: active.length - remove.length + (failedBefore ? 0 : create.length),
    ready: ready - readyGone,
    terminating: terminating + remove.length,
    ...(start !== undefined && { startTime: start }),
  };
}

/** Keeps the condition Suspended in step with the spec; gives the event that tells of a change. */
function noteSuspension({ spec, now }: JobState, status: JobStatus): EffectEvents['success'] {
  const current = status.conditions?.find(({ type }) => type === 'Suspended');
  const suspended = isSuspended(spec);
  if ((current?.status === 'True') === suspended) return undefined;
  if (!current && !suspended) return undefined;
  const next = suspended
    ? jobCondition(now, 'Suspended', 'True', 'JobSuspended', 'Job suspended')
    : jobCondition(now, 'Suspended', 'False', 'JobResumed', 'Job resumed');
  status.conditions = current
    ? (status.conditions ?? []).map((one) => (one === current ? next : one))
    : [...(status.conditions ?? []), next];
  if (suspended) delete status.startTime;
  else status.startTime = formatTime(now);
  return suspended ? { reason: 'Suspended', message: 'Job suspended' } : { reason: 'Resumed', message: 'Job resumed' };
}

/** Records the verdict, and the end itself once no pod is left to wait for; gives the event of the end. */
function settle(
  { now, spec }: JobState,
  status: JobStatus,
  ended: JobCondition,
  { remove }: PodWork,
  { release }: Tracked,
): EffectEvents['success'] {
  const conditions = status.conditions ?? [];
  status.conditions = conditions.some(({ type }) => type === ended.type) ? conditions : [...conditions, ended];
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const waits = succeeded.length + failed.length + release.length + remove.length + (status.terminating ?? 0);
  if (waits > 0) return undefined;
  const { reason = '', message = '' } = ended;
  const complete = ended.type === 'SuccessCriteriaMet';
  const end = jobCondition(now, complete ? 'Complete' : 'Failed', 'True', reason, message);
  status.conditions = [...status.conditions, end];
  if (!complete) return { type: 'Warning', reason, message };
  status.completionTime = end.lastTransitionTime;
  return tooMany(spec, status)
    ? {
        type: 'Warning',
        reason: 'TooManySucceededPods',
        message: 'Too many succeeded pods running after completion count reached',
      }
    : { reason: 'Completed', message: 'Job completed' };
}

const tooMany = ({ completions }: JobSpec, { succeeded = 0 }: JobStatus): boolean =>
  completions !== undefined && succeeded > completions;

function statusEffects(job: Job, status: JobStatus, success: EffectEvents['success']): Effect[] {
  const stored = compact(status);
  if (deepEqual(compact(job.status ?? {}), stored)) return [];
  const events = success && { events: { regarding: job, success } };
  const object: Job = { ...job, status: stored };
  return [{ op: 'update', resource: jobs, object, subresource: 'status', ...events }];
}

/** The status as it is stored: counters of zero and empty texts are left out. */
function compact({ active, succeeded, failed, completedIndexes, ...others }: JobStatus): JobStatus {
  return {
    ...others,
    ...(active && { active }),
    ...(succeeded && { succeeded }),
    ...(failed && { failed }),
    ...(completedIndexes && { completedIndexes }),
  };
}

function explain({ job, succeeded, active }: JobState, work: PodWork, ended: JobCondition | undefined, spec: JobSpec): string {
  const name = `Job ${job.metadata.name ?? ''}`;
  if (ended) return `${name} is coming to its end: ${ended.message ?? ended.reason ?? ''}.`;
  if (isSuspended(spec)) return `${name} is suspended, so no pod of it may run.`;
  if (work.waitMs !== undefined) return `${name} waits ${Math.ceil(work.waitMs / 1000)} s before it replaces a failed pod.`;
  const wants = spec.completions === undefined ? 'one success' : `${spec.completions} successes`;
  const change =
    work.create.length > 0
      ? `, so ${work.create.length} pods are created`
      : work.remove.length > 0
        ? `, so ${work.remove.length} pods go`
        : '';
  return `${name} wants ${wants}, has ${succeeded}, and ${active.length} pods run${change}.`;
}
