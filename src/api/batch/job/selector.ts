// The selector the server makes for a job: its own uid (pkg/registry/batch/job, generateSelector).
import type { Job } from '#api/batch/v1';
import { isLabelValue } from '#apimachinery/validation';
import { isEmptyMap } from '../../common/report.ts';

export const controllerUid = 'batch.kubernetes.io/controller-uid';
export const jobName = 'batch.kubernetes.io/job-name';
export const legacyControllerUid = 'controller-uid';
export const legacyJobName = 'job-name';

/**
 * Labels of the template and the selector, unless the user makes them. A job without labels of its own has those of its template, also the
 * ones made here.
 */
export function generateSelector({ metadata, spec }: Job): void {
  if (!spec || spec.manualSelector) return;
  const { name = '', uid = '' } = metadata;
  const template = (spec.template ??= {});
  const labels = ((template.metadata ??= {}).labels ??= {});
  for (const key of [legacyJobName, jobName]) labels[key] ??= name;
  for (const key of [legacyControllerUid, controllerUid]) labels[key] ??= uid;
  const match = ((spec.selector ??= {}).matchLabels ??= {});
  match[controllerUid] ??= uid;
  // A name that is no label is refused for the template's sake alone.
  if (isEmptyMap(metadata.labels) && isLabelValue(name).length === 0) metadata.labels = { ...labels };
}
