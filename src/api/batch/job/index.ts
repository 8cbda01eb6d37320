// Jobs (batch/v1; pkg/registry/batch/job).
import type { Job } from '#api/batch/v1';
import { type Path, root } from '#apimachinery/field';
import type { LabelSelector } from '#apimachinery/labels';
import { quote } from '#utils';
import { containerCells, dropDisabledTemplateFields, podNameWarnings } from '../../core/pod/templates.ts';
import { age, columns, formatSelector, humanDuration, wideColumns } from '../../common/printing.ts';
import { keep, statusDoor } from '../../common/strategy.ts';
import { podTemplateWarnings } from '../../core/pod/warnings.ts';
import { defineKind } from '../../kind.ts';
import { isTrue } from './conditions.ts';
import { jobDefaults } from './defaults.ts';
import { generateSelector } from './selector.ts';
import { validateJobStatus } from './status.ts';
import { validateJobUpdate } from './update.ts';
import { validateJob } from './validation.ts';

const completionsSoftMax = 100_000;
const parallelismSoftMax = 10_000;

/** Warnings about a job, or about the job template at `path` of a cron job. */
export function jobSpecWarnings(path: Path, spec: Job['spec']): string[] {
  const many =
    spec?.completionMode === 'Indexed' &&
    (spec.completions ?? 0) > completionsSoftMax &&
    (spec.parallelism ?? 0) > parallelismSoftMax;
  const text = `${path.toString()}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`;
  return [...(many ? [text] : []), ...podTemplateWarnings(path.child('template'), spec?.template)];
}

function statusText({ metadata, status }: Job): string {
  const first = ['Complete', 'Failed'].find((type) => isTrue(status, type));
  if (first) return first;
  if (metadata.deletionTimestamp) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find((type) => isTrue(status, type)) ?? 'Running';
}

function completionsText({ spec, status }: Job): string {
  const succeeded = status?.succeeded ?? 0;
  if (spec?.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationText({ status }: Job, now: number): string {
  if (!status?.startTime) return '';
  const end = status.completionTime ? Date.parse(status.completionTime) : now;
  return humanDuration(end - Date.parse(status.startTime));
}

export const job = defineKind<Job>({
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  defaults: jobDefaults,
  prepareForCreate(draft) {
    generateSelector(draft);
    delete draft.status;
    dropDisabledTemplateFields(draft.spec?.template);
  },
  prepareForUpdate(draft, old) {
    keep(draft, old, 'status');
    dropDisabledTemplateFields(draft.spec?.template, old.spec?.template);
  },
  validate: (object, context) => validateJob(object, context),
  validateUpdate: validateJobUpdate,
  warnings: (object, old) => {
    if (!old) return [...podNameWarnings(object.metadata.name), ...jobSpecWarnings(root('spec'), object.spec)];
    return object.metadata.generation === old.metadata.generation ? [] : jobSpecWarnings(root('spec'), object.spec);
  },
  resetFields: [['status']],
  status: statusDoor<Job>({ validateUpdate: validateJobStatus }),
  printer: {
    columns: [...columns('Name', 'Status', 'Completions', 'Duration', 'Age'), ...wideColumns('Containers', 'Images', 'Selector')],
    cells: (object, now) => [
      object.metadata.name ?? '',
      statusText(object),
      completionsText(object),
      durationText(object, now),
      age(object.metadata, now),
      ...containerCells(object.spec?.template),
      formatSelector(object.spec?.selector as LabelSelector | undefined),
    ],
  },
  selectableFields: ({ status }) => ({ 'status.successful': String(status?.succeeded ?? 0) }),
  unknownFieldText: (field) => `field label ${quote(field)} not supported for Job`,
  deletion: {
    defaultPropagation: 'Orphan',
    defaultPropagationWarning:
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  },
});
