// Counting each finished pod exactly once (KEP-2307): its uid is written into the status, then its finalizer goes, then it is counted and
// its uid leaves the status. Each reconcile does the steps that are due.
import type { JobCondition, JobStatus } from '#api/batch/v1';
import type { Pod } from '#api/core/v1';
import { intervalsText, total } from './intervals.ts';
import { uncountedPodsMax } from './limits.ts';
import { judgeFailure } from './policies.ts';
import { isFailed, isIndexed, isTracked, type JobState, validIndexOf } from './state.ts';

export interface Tracked {
  /** Counters, indexes and uncounted pods as they are now. */
  status: JobStatus;
  /** Pods whose finalizer may go once the status is written. */
  release: Pod[];
}

export function trackPods(state: JobState, ended: JobCondition | undefined): Tracked {
  const { spec, pods } = state;
  const held = new Set(pods.filter(isTracked).map(({ metadata }) => metadata.uid ?? ''));
  const before = state.status.uncountedTerminatedPods ?? {};
  const waiting = (uids: readonly string[] | undefined): string[] => (uids ?? []).filter((uid) => held.has(uid));
  const [succeeded, failed] = [waiting(before.succeeded), waiting(before.failed)];
  const counted = (uids: readonly string[] | undefined, left: readonly string[]): number => (uids?.length ?? 0) - left.length;
  const status: JobStatus = {
    ...state.status,
    succeeded: (state.status.succeeded ?? 0) + counted(before.succeeded, succeeded),
    failed: (state.status.failed ?? 0) + counted(before.failed, failed),
  };
  const release: Pod[] = [];
  for (const pod of pods) {
    if (!isTracked(pod) || !mayRelease(state, ended, pod)) continue;
    release.push(pod);
    if (countsAs(state, ended, pod, failed) === 'succeeded') {
      if (!isIndexed(spec)) add(succeeded, pod);
    } else if (countsAs(state, ended, pod, failed) === 'failed') add(failed, pod);
    if (succeeded.length + failed.length >= uncountedPodsMax) break;
  }
  status.uncountedTerminatedPods = { ...(succeeded.length > 0 && { succeeded }), ...(failed.length > 0 && { failed }) };
  if (isIndexed(spec)) {
    status.succeeded = total(state.succeededIndexes);
    status.completedIndexes = intervalsText(state.succeededIndexes);
    if (state.failedIndexes) status.failedIndexes = intervalsText(state.failedIndexes);
  }
  return { status, release };
}

function add(uids: string[], { metadata: { uid = '' } }: Pod): void {
  if (!uids.includes(uid)) uids.push(uid);
}

/** A failed pod that its index is to be replaced from stays until then. */
function mayRelease({ job, spec, delayed }: JobState, ended: JobCondition | undefined, pod: Pod): boolean {
  if (job.metadata.deletionTimestamp !== undefined || ended || pod.status?.phase === 'Succeeded') return true;
  if (!isFailed(pod, spec)) return false;
  const index = validIndexOf(pod, spec);
  return index === undefined || delayed.get(index)?.metadata.uid !== pod.metadata.uid;
}

function countsAs(
  { spec }: JobState,
  ended: JobCondition | undefined,
  pod: Pod,
  failed: readonly string[],
): 'succeeded' | 'failed' | undefined {
  if (pod.status?.phase === 'Succeeded' && !failed.includes(pod.metadata.uid ?? '')) return 'succeeded';
  if (!isFailed(pod, spec) && ended?.type !== 'FailureTarget') return undefined;
  if (isIndexed(spec) && validIndexOf(pod, spec) === undefined) return undefined;
  return judgeFailure(spec.podFailurePolicy, pod).counts ? 'failed' : undefined;
}
