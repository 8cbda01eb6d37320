// Rules of jobs, and of the job templates of cron jobs (pkg/apis/batch/validation, ValidateJob).
import type { Job, JobSpec } from '#api/batch/v1';
import { type FieldError, type Path, root } from '#apimachinery/field';
import { byteLength, isDNS1123Label, validateDomainPrefixedPath } from '#apimachinery/validation';
import { compiled, validateSelectorMatches } from '../../core/pod/templates.ts';
import { selectorHasInvalidValue, sortedByKey, validateLabelSelector } from '../../common/labels.ts';
import { nonnegativeFields } from '../../common/numbers.ts';
import { collect, type Report } from '../../common/report.ts';
import { validatePodTemplateSpec } from '../../core/pod/validation/spec.ts';
import type { KindContext } from '../../kind.ts';
import * as limits from './limits.ts';
import { validateFailurePolicy, validateSuccessPolicy } from './policies.ts';
import { controllerUid, jobName, legacyControllerUid, legacyJobName } from './selector.ts';

const specPath = root('spec');

function validateLabel(report: Report, { spec }: Job, key: string, expected: string): void {
  const labels = spec?.template?.metadata?.labels;
  const at = specPath.child('template', 'metadata', 'labels').key(key);
  if (labels?.[key] === undefined) report.required(at, `must be '${expected}'`);
  else if (labels[key] !== expected) report.invalid(at, sortedByKey(labels), `must be '${expected}'`);
}

/** A selector the server made must be the one it would make. `prefixed`: labels with a domain are asked for too. */
function validateGeneratedSelector(report: Report, job: Job, prefixed: boolean): void {
  const { spec, metadata } = job;
  if (!spec?.selector || spec.manualSelector) return;
  const { uid = '', name = '' } = metadata;
  if (uid === '') report.required(root('metadata', 'uid'));
  const expected: Record<string, string> = { [legacyControllerUid]: uid, [legacyJobName]: name };
  validateLabel(report, job, legacyControllerUid, uid);
  validateLabel(report, job, legacyJobName, name);
  if (prefixed) {
    validateLabel(report, job, controllerUid, uid);
    validateLabel(report, job, jobName, name);
    Object.assign(expected, { [controllerUid]: uid, [jobName]: name });
  }
  const selector = compiled(spec.selector);
  if (selector && !selector.matches(expected))
    report.invalid(specPath.child('selector'), spec.selector, '`selector` not auto-generated');
}

function validateIndexed(report: Report, path: Path, spec: JobSpec): void {
  const { completions, parallelism = 0, maxFailedIndexes: failed, backoffLimitPerIndex } = spec;
  const parallelismPath = path.child('parallelism');
  const failedPath = path.child('maxFailedIndexes');
  if (completions === undefined) report.required(path.child('completions'), 'when completion mode is Indexed');
  if (parallelism > limits.indexedParallelismMax) {
    report.invalid(
      parallelismPath,
      parallelism,
      `must be less than or equal to ${limits.indexedParallelismMax} when completion mode is Indexed`,
    );
  }
  if (completions !== undefined && (failed ?? 0) > completions)
    report.invalid(failedPath, failed, 'must be less than or equal to completions');
  if ((failed ?? 0) > limits.failedIndexesMax)
    report.invalid(failedPath, failed, `must be less than or equal to ${limits.failedIndexesMax}`);
  if ((completions ?? 0) <= limits.completionsSoftMax || backoffLimitPerIndex === undefined) return;
  if (failed === undefined)
    report.required(failedPath, `must be specified when completions is above ${limits.completionsSoftMax}`);
  const why = `when completions are above ${limits.completionsSoftMax} and used with backoff limit per index`;
  if (parallelism > limits.highCompletionsParallelismMax) {
    report.invalid(parallelismPath, parallelism, `must be less than or equal to ${limits.highCompletionsParallelismMax} ${why}`);
  }
  if ((failed ?? 0) > limits.highCompletionsFailedIndexesMax) {
    report.invalid(failedPath, failed, `must be less than or equal to ${limits.highCompletionsFailedIndexesMax} ${why}`);
  }
}

function validateCompletionMode(report: Report, path: Path, spec: JobSpec): void {
  const { completionMode: mode, backoffLimitPerIndex, maxFailedIndexes } = spec;
  report.knownIfSet(path.child('completionMode'), mode, ['NonIndexed', 'Indexed']);
  if (mode === 'Indexed') validateIndexed(report, path, spec);
  if (mode !== undefined && mode !== 'NonIndexed') return;
  if (backoffLimitPerIndex !== undefined)
    report.invalid(path.child('backoffLimitPerIndex'), backoffLimitPerIndex, 'requires indexed completion mode');
  if (maxFailedIndexes !== undefined)
    report.invalid(path.child('maxFailedIndexes'), maxFailedIndexes, 'requires indexed completion mode');
}

// As upstream's internal type prints.
const printedPolicy = ({ rules }: NonNullable<JobSpec['successPolicy']>): unknown => ({
  Rules:
    rules?.map((rule) => ({ SucceededIndexes: rule.succeededIndexes ?? null, SucceededCount: rule.succeededCount ?? null })) ??
    null,
});

/** Rules that a job template of a cron job keeps too. */
export function validateTemplateSpec(report: Report, path: Path, spec: JobSpec, context: KindContext, old?: JobSpec): void {
  nonnegativeFields(
    report,
    path,
    spec,
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
  );
  nonnegativeFields(report, path, spec, 'backoffLimitPerIndex', 'maxFailedIndexes');
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    report.required(path.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified');
  }
  if (spec.managedBy !== undefined) {
    report.add(validateDomainPrefixedPath(path.child('managedBy'), spec.managedBy));
    if (byteLength(spec.managedBy) > limits.managedByCharactersMax)
      report.tooLong(path.child('managedBy'), limits.managedByCharactersMax);
  }
  validateCompletionMode(report, path, spec);
  if (spec.podFailurePolicy) validateFailurePolicy(report, path.child('podFailurePolicy'), spec, spec.podFailurePolicy);
  const success = path.child('successPolicy');
  if (spec.successPolicy) {
    if (spec.completionMode !== 'Indexed')
      report.invalid(success, printedPolicy(spec.successPolicy), 'requires indexed completion mode');
    else validateSuccessPolicy(report, success, spec.completions ?? 0, spec.successPolicy);
  }
  report.knownIfSet(
    path.child('podReplacementPolicy'),
    spec.podReplacementPolicy,
    spec.podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed'],
  );
  validatePodTemplateSpec(report, path.child('template'), spec.template ?? {}, context, old?.template);
  validateRestartPolicy(report, path.child('template', 'spec', 'restartPolicy'), spec);
}

function validateRestartPolicy(report: Report, path: Path, spec: JobSpec): void {
  const policy = spec.template?.spec?.restartPolicy ?? '';
  if (policy === 'Always' || policy === '') report.required(path, 'valid values: "OnFailure", "Never"');
  else if (policy !== 'OnFailure' && policy !== 'Never') report.notSupported(path, policy, ['OnFailure', 'Never']);
  else if (spec.podFailurePolicy && policy !== 'Never') {
    report.invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified');
  }
}

export function validateJobSpec(report: Report, spec: JobSpec, context: KindContext, old?: JobSpec): void {
  validateTemplateSpec(report, specPath, spec, context, old);
  const at = specPath.child('selector');
  if (!spec.selector) report.required(at);
  else validateLabelSelector(report, at, spec.selector, selectorHasInvalidValue(old?.selector));
  const selector = compiled(spec.selector);
  if (selector) validateSelectorMatches(report, specPath.child('template'), selector, spec.template ?? {}, true);
}

export function validateJob(job: Job, context: KindContext, old?: Job): FieldError[] {
  const spec = job.spec ?? { template: {} };
  const oldLabels = old?.spec?.template?.metadata?.labels;
  const prefixed = !old || (oldLabels?.[jobName] !== undefined && oldLabels[controllerUid] !== undefined);
  return collect((report) => {
    validateGeneratedSelector(report, job, prefixed);
    validateJobSpec(report, spec, context, old?.spec);
    const { name = '' } = job.metadata;
    if (spec.completionMode !== 'Indexed' || !spec.completions || spec.completions <= 0) return;
    const last = `${name}-${spec.completions - 1}`;
    if (isDNS1123Label(last).length > 0)
      report.invalid(root('metadata', 'name'), name, `will not able to create pod with invalid DNS label: ${last}`);
  });
}
