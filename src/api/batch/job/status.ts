// Rules of a job's status (pkg/apis/batch/validation, ValidateJobStatusUpdate; pkg/registry/batch/job, getStatusValidationOptions; KEP-4368).
// A rule that a stored status already breaks is only looked at when what it is about changed.
import type { Job, JobStatus } from '#api/batch/v1';
import { type FieldError, root } from '#apimachinery/field';
import { semanticEqual } from '../../common/equality.ts';
import { nonnegativeFields } from '../../common/numbers.ts';
import { collect, type Report } from '../../common/report.ts';
import { isFalse, isFinished, isTrue } from './conditions.ts';
import { countIndexes, overlap } from './indexes.ts';

const path = root('status');
const conditionsPath = path.child('conditions');

interface Change {
  job: Job;
  status: JobStatus;
  old: JobStatus;
  /** Whether one of these fields differs. */
  changed(...fields: (keyof JobStatus)[]): boolean;
  /** One of these conditions became true, or stopped being so. */
  turned(...types: string[]): boolean;
  finishedChanged: boolean;
}

function changeOf(job: Job, before: Job): Change {
  const status = job.status ?? {};
  const old = before.status ?? {};
  return {
    job,
    status,
    old,
    changed: (...fields) => fields.some((field) => !semanticEqual(status[field] ?? '', old[field] ?? '')),
    turned: (...types) => types.some((type) => isTrue(status, type) !== isTrue(old, type)),
    finishedChanged: isFinished(status) !== isFinished(old),
  };
}

function validateUncounted(report: Report, { uncountedTerminatedPods: pods }: JobStatus): void {
  const seen = new Set<string>();
  for (const list of ['succeeded', 'failed'] as const) {
    pods?.[list]?.forEach((uid, index) => {
      const at = path.child('uncountedTerminatedPods', list).index(index);
      if (uid === '') report.invalid(at, uid, 'must not be empty');
      else if (seen.has(uid)) report.duplicate(at, uid);
      seen.add(uid);
    });
  }
}

function validateTimes(report: Report, { status, changed, turned }: Change): void {
  const complete = isTrue(status, 'Complete');
  const at = path.child('completionTime');
  if (turned('Complete') || changed('completionTime')) {
    if (status.completionTime && !complete)
      report.invalid(at, status.completionTime, 'cannot set completionTime when there is no Complete=True condition');
    if (!status.completionTime && complete) report.required(at, 'completionTime is required for Complete jobs');
  }
  const { startTime, completionTime } = status;
  if (
    changed('startTime', 'completionTime') &&
    startTime &&
    completionTime &&
    Date.parse(completionTime) < Date.parse(startTime)
  ) {
    report.invalid(at, completionTime, 'must be equal to or after `startTime`');
  }
  if (turned('Failed') || changed('failedIndexes')) {
    if (isTrue(status, 'Failed') && !isTrue(status, 'FailureTarget')) {
      report.invalid(conditionsPath, undefined, 'cannot set Failed=True condition without the FailureTarget=true condition');
    }
  }
  if (turned('Complete', 'SuccessCriteriaMet') && complete && !isTrue(status, 'SuccessCriteriaMet')) {
    report.invalid(conditionsPath, undefined, 'cannot set Complete=True condition without the SuccessCriteriaMet=true condition');
  }
}

function validateFinished(report: Report, { job, status, changed, finishedChanged }: Change): void {
  if (!isFinished(status)) return;
  const { active = 0, uncountedTerminatedPods: uncounted } = status;
  if ((finishedChanged || changed('active')) && active > 0)
    report.invalid(path.child('active'), active, 'active>0 is invalid for finished job');
  const neverRan = job.spec?.suspend === true && job.spec.completions === 0;
  if ((finishedChanged || changed('startTime')) && !neverRan && !status.startTime) {
    report.required(path.child('startTime'), 'startTime is required for finished job');
  }
  const left = (uncounted?.failed?.length ?? 0) + (uncounted?.succeeded?.length ?? 0);
  if ((finishedChanged || changed('uncountedTerminatedPods')) && left > 0) {
    const printed = { Succeeded: uncounted?.succeeded ?? null, Failed: uncounted?.failed ?? null };
    report.invalid(path.child('uncountedTerminatedPods'), printed, 'must be empty for finished job');
  }
}

function validateIndexes(report: Report, { job, status, changed }: Change): void {
  const { completions, backoffLimitPerIndex, completionMode } = job.spec ?? {};
  const { completedIndexes: completed = '', failedIndexes: failed } = status;
  const completedPath = path.child('completedIndexes');
  const failedPath = path.child('failedIndexes');
  const completedChanged = changed('completedIndexes');
  const failedChanged = changed('failedIndexes');
  if (completedChanged && completions !== undefined) {
    const { problem } = countIndexes(completed, completions);
    if (problem !== undefined) report.invalid(completedPath, completed, `error parsing completedIndexes: ${problem}`);
  }
  if (failedChanged && completions !== undefined && backoffLimitPerIndex !== undefined && failed !== undefined) {
    const { problem } = countIndexes(failed, completions);
    if (problem !== undefined) report.invalid(failedPath, failed, `error parsing failedIndexes: ${problem}`);
  }
  if (completedChanged && completed !== '' && completionMode !== 'Indexed') {
    report.invalid(completedPath, completed, 'cannot set non-empty completedIndexes when non-indexed completion mode');
  }
  if (failedChanged && backoffLimitPerIndex === undefined && failed !== undefined) {
    report.invalid(failedPath, failed, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null');
  }
  if ((completedChanged || failedChanged) && completions !== undefined && failed !== undefined) {
    const index = overlap(completed, failed, completions);
    if (index !== undefined) report.invalid(failedPath, failed, `failedIndexes and completedIndexes overlap at index: ${index}`);
  }
}

function validateConditions(report: Report, { job, status }: Change): void {
  const met = isTrue(status, 'SuccessCriteriaMet');
  const refuse = (condition: boolean, detail: string): void =>
    void (condition && report.invalid(conditionsPath, undefined, detail));
  refuse(met && isTrue(status, 'Failed'), 'cannot set SuccessCriteriaMet=True and Failed=true conditions');
  refuse(met && isTrue(status, 'FailureTarget'), 'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions');
  const detail = 'cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True';
  refuse(job.spec?.successPolicy !== undefined && !met && isTrue(status, 'Complete'), detail);
}

function validateStatus(report: Report, change: Change): void {
  const { status, changed, turned, finishedChanged } = change;
  nonnegativeFields(report, path, status, 'active', 'succeeded', 'failed', 'ready', 'terminating');
  validateUncounted(report, status);
  const complete = isTrue(status, 'Complete');
  if (turned('Complete', 'Failed') && complete && isTrue(status, 'Failed')) {
    report.invalid(conditionsPath, undefined, 'cannot set Complete=True and Failed=true conditions');
  }
  if (turned('Complete', 'FailureTarget') && complete && isTrue(status, 'FailureTarget')) {
    report.invalid(conditionsPath, undefined, 'cannot set Complete=True and FailureTarget=true conditions');
  }
  validateTimes(report, change);
  validateFinished(report, change);
  validateIndexes(report, change);
  const { terminating = 0, ready, active = 0 } = status;
  if ((finishedChanged || changed('terminating')) && terminating > 0 && isFinished(status)) {
    report.invalid(path.child('terminating'), terminating, 'terminating>0 is invalid for finished job');
  }
  if (changed('ready', 'active') && ready !== undefined && ready > active)
    report.invalid(path.child('ready'), ready, 'cannot set more ready pods than active');
  validateConditions(report, change);
}

/** What cannot be taken back. */
function validateProgress(report: Report, { job, status, old, changed }: Change): void {
  for (const type of ['Failed', 'Complete', 'FailureTarget']) {
    if (isTrue(old, type) && !isTrue(status, type))
      report.invalid(conditionsPath, undefined, `cannot disable the terminal ${type}=True condition`);
  }
  const { failed = 0, succeeded = 0 } = status;
  if (failed < (old.failed ?? 0)) report.invalid(path.child('failed'), failed, 'cannot decrease the failed counter');
  const { completionMode, completions, parallelism, suspend } = job.spec ?? {};
  const mayShrink = completionMode === 'Indexed' && completions === parallelism;
  if (!mayShrink && succeeded < (old.succeeded ?? 0))
    report.invalid(path.child('succeeded'), succeeded, 'cannot decrease the succeeded counter');
  if (status.completionTime && old.completionTime && changed('completionTime')) {
    report.invalid(path.child('completionTime'), status.completionTime, 'field is immutable');
  }
  const resuming = isTrue(old, 'Suspended') && isFalse(status, 'Suspended');
  if (changed('startTime') && !resuming && old.startTime && !suspend) {
    report.invalid(path.child('startTime'), status.startTime ?? null, 'field is immutable for unsuspended job once set');
  }
  const met = isTrue(status, 'SuccessCriteriaMet');
  const wasMet = isTrue(old, 'SuccessCriteriaMet');
  if (wasMet && !met) report.invalid(conditionsPath, undefined, 'cannot disable the SuccessCriteriaMet=True condition');
  if (isTrue(old, 'Complete') && !wasMet && met) {
    report.invalid(conditionsPath, undefined, 'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions');
  }
}

export const validateJobStatus = (job: Job, old: Job): FieldError[] =>
  collect((report) => {
    const change = changeOf(job, old);
    validateStatus(report, change);
    validateProgress(report, change);
  });
