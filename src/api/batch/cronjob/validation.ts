// Rules of cron jobs (pkg/apis/batch/validation, ValidateCronJobCreate).
import type { CronJob, CronJobSpec } from '#api/batch/v1';
import { type FieldError, type Path, root } from '#apimachinery/field';
import { byteLength } from '#apimachinery/validation';
import { nonnegative } from '../../common/numbers.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import type { KindContext } from '../../kind.ts';
import { validateTemplateSpec } from '../job/validation.ts';
import { isTimeZone, parseSchedule, ScheduleError } from './schedule.ts';

const path = root('spec');
/** Leaves room for the suffix of the jobs' names. */
const nameCharactersMax = 52;

function validateSchedule(report: Report, at: Path, spec: CronJobSpec, old: CronJobSpec | undefined): void {
  const { schedule } = spec;
  try {
    parseSchedule(schedule);
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    report.invalid(at, schedule, error.message);
  }
  if (!schedule.includes('TZ')) return;
  if (!old?.schedule.includes('TZ'))
    report.invalid(at, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead');
  else if (spec.timeZone !== undefined)
    report.invalid(at, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule');
}

function validateTimeZone(report: Report, at: Path, zone: string | undefined): void {
  if (zone === undefined) return;
  if (zone === '') return report.invalid(at, zone, 'timeZone must be nil or non-empty string');
  const malformed = zone
    .split('/')
    .some((part) => part === '.' || part === '..' || part.startsWith('-') || !/^[A-Za-z.\-_0-9+]{1,14}$/.test(part));
  if (malformed) return report.invalid(at, zone, `unknown time zone ${zone}`);
  const local = zone.toLowerCase() === 'local';
  if (local) report.invalid(at, zone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones');
  if (zone !== 'Local' && !isTimeZone(zone)) report.invalid(at, zone, `unknown time zone ${zone}`);
}

function validateSpec(report: Report, spec: CronJobSpec, context: KindContext, old: CronJobSpec | undefined): void {
  const at = path.child('schedule');
  if (isEmpty(spec.schedule)) report.required(at);
  else validateSchedule(report, at, spec, old);
  nonnegative(report, path.child('startingDeadlineSeconds'), spec.startingDeadlineSeconds);
  if (!old || old.timeZone !== spec.timeZone) validateTimeZone(report, path.child('timeZone'), spec.timeZone);
  report.oneOf(path.child('concurrencyPolicy'), spec.concurrencyPolicy, ['Allow', 'Forbid', 'Replace']);
  const jobPath = path.child('jobTemplate', 'spec');
  const jobSpec = spec.jobTemplate?.spec ?? { template: {} };
  validateTemplateSpec(report, jobPath, jobSpec, context, old?.jobTemplate?.spec);
  if (jobSpec.selector) report.invalid(jobPath.child('selector'), jobSpec.selector, '`selector` will be auto-generated');
  if (jobSpec.manualSelector) report.notSupported(jobPath.child('manualSelector'), true, ['nil', 'false']);
  nonnegative(report, path.child('successfulJobsHistoryLimit'), spec.successfulJobsHistoryLimit);
  nonnegative(report, path.child('failedJobsHistoryLimit'), spec.failedJobsHistoryLimit);
}

export function validateCronJob({ metadata, spec }: CronJob, context: KindContext): FieldError[] {
  return collect((report) => {
    if (spec) validateSpec(report, spec, context, undefined);
    else report.required(path);
    const { name = '' } = metadata;
    if (byteLength(name) > nameCharactersMax)
      report.invalid(root('metadata', 'name'), name, `must be no more than ${nameCharactersMax} characters`);
  });
}

export const validateCronJobUpdate = ({ spec }: CronJob, old: CronJob, context: KindContext): FieldError[] =>
  collect((report) => (spec ? validateSpec(report, spec, context, old.spec) : report.required(path)));
