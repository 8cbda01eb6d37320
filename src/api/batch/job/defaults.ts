// Defaults of jobs and of the job templates of cron jobs (pkg/apis/batch/v1/defaults.go).
import type { Job, JobSpec } from '#api/batch/v1';
import { isEmptyMap } from '../../common/report.ts';
import { podTemplateDefaults } from '../../core/pod/defaults.ts';

const unlimited = 2147483647;

/** What a job template gets too. */
export function jobTemplateDefaults(spec: JobSpec): void {
  for (const { onPodConditions } of spec.podFailurePolicy?.rules ?? [])
    for (const pattern of onPodConditions ?? []) pattern.status ||= 'True';
  podTemplateDefaults((spec.template ??= {}));
}

export function jobDefaults(job: Job): void {
  const spec = (job.spec ??= { template: {} });
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : unlimited;
  const labels = spec.template?.metadata?.labels;
  // Shared on purpose: what the server adds to the template's labels is added to these as well.
  if (labels && isEmptyMap(job.metadata.labels)) job.metadata.labels = labels;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed';
  spec.manualSelector ??= false;
  jobTemplateDefaults(spec);
}
