// What one reconcile of a Job knows: its pods sorted into those that run, succeeded, failed, and those still to be counted.
import type { Job, JobCondition, JobSpec, JobStatus } from '#api/batch/v1';
import type { Pod } from '#api/core/v1';
import { formatTime } from '#apimachinery/meta';
import { isPodActive, isPodReady, isPodTerminating } from '#component-helpers/workload';
import { type Interval, type Intervals, includes, parseIntervals, withIndexes } from './intervals.ts';
import { completionIndexName, indexFailureCount, indexIgnoredFailureCount, trackingFinalizer } from './names.ts';
import { judgeFailure } from './policies.ts';

export interface JobState {
  readonly job: Job;
  readonly spec: JobSpec;
  readonly status: JobStatus;
  readonly pods: readonly Pod[];
  readonly active: readonly Pod[];
  readonly ready: number;
  readonly terminating: number;
  /** Finished pods that neither were counted nor wait for it. */
  readonly newSucceeded: readonly Pod[];
  readonly newFailed: readonly Pod[];
  readonly succeeded: number;
  readonly failed: number;
  /** Indexed Jobs only. */
  readonly succeededIndexes: Intervals;
  /** Only with `backoffLimitPerIndex`. */
  readonly failedIndexes: Intervals | undefined;
  /** The failed pod an index is to be replaced from, kept until then. */
  readonly delayed: ReadonlyMap<number, Pod>;
  readonly now: number;
}

export const isIndexed = ({ completionMode }: JobSpec): boolean => completionMode === 'Indexed';
export const isSuspended = ({ suspend }: JobSpec): boolean => suspend === true;

export const onlyReplacesFailed = ({ podReplacementPolicy, podFailurePolicy }: JobSpec): boolean =>
  podReplacementPolicy === 'Failed' || podFailurePolicy !== undefined;

export const isTracked = ({ metadata }: Pod): boolean => metadata.finalizers?.includes(trackingFinalizer) === true;

/** The pod's completion index; undefined when it has none. */
export function indexOf({ metadata }: Pod): number | undefined {
  const text = metadata.annotations?.[completionIndexName];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** The completion index of a pod; undefined where it is not one of this Job. */
export function validIndexOf(pod: Pod, { completions = 0 }: JobSpec): number | undefined {
  const index = indexOf(pod);
  return index !== undefined && index < completions ? index : undefined;
}

/** Pods that are deleted while they run count as failed, unless their replacement waits for their end. */
export function isFailed(pod: Pod, spec: JobSpec): boolean {
  if (pod.status?.phase === 'Failed') return true;
  return !onlyReplacesFailed(spec) && pod.metadata.deletionTimestamp !== undefined && pod.status?.phase !== 'Succeeded';
}

const countOf = ({ metadata }: Pod, name: string): number => {
  const text = metadata.annotations?.[name];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : 0;
};

export const countedFailures = (pod: Pod): number => countOf(pod, indexFailureCount);
export const ignoredFailures = (pod: Pod): number => countOf(pod, indexIgnoredFailureCount);

/** When the pod ended, as exactly as its status shows it. */
export function finishedMs({ status, spec, metadata }: Pod): number {
  const sidecars = new Set(
    (spec?.initContainers ?? []).flatMap(({ name, restartPolicy }) => (restartPolicy === 'Always' ? [name] : [])),
  );
  const counted = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ];
  const ends = counted.map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? ''));
  if (ends.length > 0 && !ends.some(Number.isNaN)) return Math.max(...ends);
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const unready = ready?.status === 'False' ? Date.parse(ready.lastTransitionTime ?? '') : Number.NaN;
  if (!Number.isNaN(unready)) return unready;
  const deletion = Date.parse(metadata.deletionTimestamp ?? '');
  if (!Number.isNaN(deletion)) return deletion - (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}

/** An index that will not be tried again. */
function hasIndexFailed(pod: Pod, spec: JobSpec): boolean {
  if (!isFailed(pod, spec)) return false;
  const { counts, action } = judgeFailure(spec.podFailurePolicy, pod);
  return action === 'FailIndex' || (counts && countedFailures(pod) >= (spec.backoffLimitPerIndex ?? 0));
}

/** Sorts the pods of a Job by what they mean for it. */
export function stateOf(job: Job, spec: JobSpec, pods: readonly Pod[], now: number): JobState {
  const status = job.status ?? {};
  const indexed = isIndexed(spec);
  const active = pods.filter(isPodActive);
  const uncounted = status.uncountedTerminatedPods ?? {};
  const isNew = (pod: Pod, waiting: ReadonlySet<string>): boolean =>
    isTracked(pod) && !waiting.has(pod.metadata.uid ?? '') && (!indexed || validIndexOf(pod, spec) !== undefined);
  const waiting = { succeeded: new Set(uncounted.succeeded), failed: new Set(uncounted.failed) };
  const newSucceeded = pods.filter((pod) => pod.status?.phase === 'Succeeded' && isNew(pod, waiting.succeeded));
  const newFailed = pods.filter((pod) => isFailed(pod, spec) && isNew(pod, waiting.failed));
  const countedFailed = newFailed.filter((pod) => judgeFailure(spec.podFailurePolicy, pod).counts);
  const succeededIndexes = indexed
    ? indexesWith(status.completedIndexes, pods, spec, ({ status: now }) => now?.phase === 'Succeeded')
    : [];
  const failedIndexes =
    indexed && spec.backoffLimitPerIndex !== undefined
      ? indexesWith(status.failedIndexes, pods, spec, (pod) => hasIndexFailed(pod, spec))
      : undefined;
  const succeeded = (status.succeeded ?? 0) + newSucceeded.length + (uncounted.succeeded?.length ?? 0);
  const state = {
    job,
    spec,
    status,
    pods,
    active,
    ready: active.filter(isPodReady).length,
    terminating: pods.filter(isPodTerminating).length,
    newSucceeded,
    newFailed,
    succeeded: indexed ? succeededIndexes.reduce((sum, { first, last }) => sum + last - first + 1, 0) : succeeded,
    failed: (status.failed ?? 0) + countedFailed.length + (uncounted.failed?.length ?? 0),
    succeededIndexes,
    failedIndexes,
    now,
  };
  return { ...state, delayed: failedIndexes ? delayedOf(state, failedIndexes) : new Map() };
}

function indexesWith(known: string | undefined, pods: readonly Pod[], spec: JobSpec, test: (pod: Pod) => boolean): Interval[] {
  const fresh = pods.flatMap((pod) => {
    const index = validIndexOf(pod, spec);
    return index !== undefined && isTracked(pod) && test(pod) ? [index] : [];
  });
  return withIndexes(parseIntervals(known, spec.completions ?? 0), fresh);
}

/** The last failed pod of each index that is to be tried again. */
function delayedOf(state: Omit<JobState, 'delayed'>, failedIndexes: Intervals): Map<number, Pod> {
  const { active, pods, spec, succeededIndexes } = state;
  const running = new Set(active.map(indexOf));
  const delayed = new Map<number, Pod>();
  for (const pod of pods) {
    const index = validIndexOf(pod, spec);
    if (index === undefined || !isTracked(pod) || !isFailed(pod, spec) || running.has(index)) continue;
    if (includes(succeededIndexes, index) || includes(failedIndexes, index)) continue;
    const other = delayed.get(index);
    const tries = (one: Pod): number => countedFailures(one) + ignoredFailures(one);
    if (!other || (tries(other) <= tries(pod) && finishedMs(pod) >= finishedMs(other))) delayed.set(index, pod);
  }
  return delayed;
}

export const jobCondition = (now: number, type: string, status: string, reason: string, message: string): JobCondition => ({
  type,
  status,
  lastProbeTime: formatTime(now),
  lastTransitionTime: formatTime(now),
  reason,
  message,
});

export const trueCondition = ({ conditions }: JobStatus, type: string): JobCondition | undefined =>
  conditions?.find((condition) => condition.type === type && condition.status === 'True');

export const isFinished = (status: JobStatus): boolean =>
  trueCondition(status, 'Complete') !== undefined || trueCondition(status, 'Failed') !== undefined;
