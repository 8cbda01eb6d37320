// Whether a Job is over, one way or the other (pkg/controller/job syncJob).
import type { JobCondition } from '#api/batch/v1';
import type { Pod } from '#api/core/v1';
import { total } from './intervals.ts';
import { judgeFailure, successMet } from './policies.ts';
import { isFailed, isIndexed, isSuspended, jobCondition, type JobState, trueCondition } from './state.ts';

/** FailureTarget or SuccessCriteriaMet: from then on running pods go, and the end is recorded once they are gone. */
export function verdict(state: JobState): JobCondition | undefined {
  const { status } = state;
  return trueCondition(status, 'SuccessCriteriaMet') ?? trueCondition(status, 'FailureTarget') ?? newVerdict(state);
}

function newVerdict(state: JobState): JobCondition | undefined {
  const { spec, succeededIndexes, now } = state;
  const failure = failureOf(state);
  if (failure) return jobCondition(now, 'FailureTarget', 'True', ...failure);
  if (!isIndexed(spec)) return undefined;
  const message = successMet(spec.successPolicy, spec.completions ?? 0, succeededIndexes);
  return message === undefined ? undefined : jobCondition(now, 'SuccessCriteriaMet', 'True', 'SuccessPolicy', message);
}

type Failure = [reason: string, message: string];

function failureOf(state: JobState): Failure | undefined {
  const { spec, failed, failedIndexes, succeededIndexes } = state;
  const byPolicy = policyFailure(state);
  if (byPolicy !== undefined) return ['PodFailurePolicy', byPolicy];
  if (failed > (spec.backoffLimit ?? 6) || restartedTooOften(state))
    return ['BackoffLimitExceeded', 'Job has reached the specified backoff limit'];
  if (deadlineLeftMs(state) <= 0) return ['DeadlineExceeded', 'Job was active longer than specified deadline'];
  const lost = total(failedIndexes ?? []);
  if (spec.maxFailedIndexes !== undefined && lost > spec.maxFailedIndexes)
    return ['MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes'];
  if (lost > 0 && lost + total(succeededIndexes) >= (spec.completions ?? 0)) return ['FailedIndexes', 'Job has failed indexes'];
  return undefined;
}

function policyFailure({ spec, pods }: JobState): string | undefined {
  if (!spec.podFailurePolicy) return undefined;
  for (const pod of pods) {
    const message = isFailed(pod, spec) ? judgeFailure(spec.podFailurePolicy, pod).jobFailure : undefined;
    if (message !== undefined) return message;
  }
  return undefined;
}

const restartsOf = ({ status }: Pod): number =>
  [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].reduce(
    (sum, { restartCount }) => sum + restartCount,
    0,
  );

/** Whether containers were restarted too often. With restartPolicy OnFailure they start again in their pod, and those restarts count. */
function restartedTooOften({ spec, pods }: JobState): boolean {
  if (spec.template.spec?.restartPolicy !== 'OnFailure') return false;
  const alive = pods.filter(({ status }) => status?.phase === 'Running' || status?.phase === 'Pending');
  const restarts = alive.reduce((sum, pod) => sum + restartsOf(pod), 0);
  const limit = spec.backoffLimit ?? 6;
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

/** The time left until `activeDeadlineSeconds`; Infinity where there is none. */
export function deadlineLeftMs({ spec, status, now }: JobState): number {
  if (spec.activeDeadlineSeconds === undefined || isSuspended(spec)) return Number.POSITIVE_INFINITY;
  const start = status.startTime ? Date.parse(status.startTime) : now;
  return start + spec.activeDeadlineSeconds * 1000 - now;
}

/** Whether all that was asked for succeeded, given how many pods still run. */
export const isComplete = ({ spec, succeeded }: JobState, active: number): boolean =>
  active === 0 && (spec.completions === undefined ? succeeded > 0 : succeeded >= spec.completions);
