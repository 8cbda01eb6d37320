// Cron jobs (batch/v1; pkg/registry/batch/cronjob).
import type { CronJob } from '#api/batch/v1';
import { root } from '#apimachinery/field';
import type { LabelSelector } from '#apimachinery/labels';
import { containerCells, dropDisabledTemplateFields, podNameWarnings } from '../../core/pod/templates.ts';
import { age, ago, column, formatSelector, wideColumns } from '../../common/printing.ts';
import { keep, statusDoor } from '../../common/strategy.ts';
import { defineKind } from '../../kind.ts';
import { jobTemplateDefaults } from '../job/defaults.ts';
import { jobSpecWarnings } from '../job/index.ts';
import { validateCronJob, validateCronJobUpdate } from './validation.ts';

export { isTimeZone, parseSchedule, type Schedule, ScheduleError } from './schedule.ts';

const jobPath = root('spec', 'jobTemplate', 'spec');

function defaults(draft: CronJob): void {
  const spec = (draft.spec ??= { schedule: '', jobTemplate: {} });
  spec.concurrencyPolicy ||= 'Allow';
  spec.suspend ??= false;
  spec.successfulJobsHistoryLimit ??= 3;
  spec.failedJobsHistoryLimit ??= 1;
  jobTemplateDefaults(((spec.jobTemplate ??= {}).spec ??= { template: {} }));
}

function warnings({ metadata, spec }: CronJob, old: CronJob | undefined): string[] {
  if (!old) return [...podNameWarnings(metadata.name), ...jobSpecWarnings(jobPath, spec?.jobTemplate.spec)];
  const changed = metadata.generation !== old.metadata.generation;
  const zone = spec?.schedule.includes('TZ');
  const text =
    'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details';
  return [...(changed ? jobSpecWarnings(jobPath, spec?.jobTemplate.spec) : []), ...(zone ? [text] : [])];
}

export const cronJob = defineKind<CronJob>({
  group: 'batch',
  version: 'v1',
  kind: 'CronJob',
  metadataRules: 'change',
  defaults,
  prepareForCreate(draft) {
    delete draft.status;
    dropDisabledTemplateFields(draft.spec?.jobTemplate.spec?.template);
  },
  prepareForUpdate(draft, old) {
    keep(draft, old, 'status');
    dropDisabledTemplateFields(draft.spec?.jobTemplate.spec?.template, old.spec?.jobTemplate.spec?.template);
  },
  validate: validateCronJob,
  validateUpdate: validateCronJobUpdate,
  warnings,
  resetFields: [['status']],
  status: statusDoor<CronJob>(),
  printer: {
    columns: [
      column('Name', { name: true }),
      column('Schedule'),
      column('Timezone'),
      column('Suspend', { type: 'boolean' }),
      column('Active', { type: 'integer' }),
      column('Last Schedule'),
      column('Age'),
      ...wideColumns('Containers', 'Images', 'Selector'),
    ],
    cells({ metadata, spec, status }, now) {
      const suspend = spec?.suspend;
      const job = spec?.jobTemplate.spec;
      return [
        metadata.name ?? '',
        spec?.schedule ?? '',
        spec?.timeZone ?? '<none>',
        suspend === undefined ? '<unset>' : suspend ? 'True' : 'False',
        status?.active?.length ?? 0,
        status?.lastScheduleTime ? ago(status.lastScheduleTime, now) : '<none>',
        age(metadata, now),
        ...containerCells(job?.template),
        formatSelector(job?.selector as LabelSelector | undefined),
      ];
    },
  },
});
