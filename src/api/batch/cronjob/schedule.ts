// Schedules of cron jobs in the standard five-field form, with the failures of the library upstream reads them with
// (github.com/robfig/cron/v3, ParseStandard).
import { DurationError, parseDurationMs } from '#apimachinery/duration';
import { quote } from '#utils';

/** A schedule that names each minute, hour, day and month has some 300 characters. It is read again in every pass of the loop. */
const scheduleCharactersMax = 10_000;

/** A schedule that cannot be read; `message` is upstream's. */
export class ScheduleError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ScheduleError';
  }
}

/** Which minutes, hours, ... a schedule fires in; `every`: a plain interval instead. */
export type Schedule =
  | {
      every?: undefined;
      minutes: ReadonlySet<number>;
      hours: ReadonlySet<number>;
      daysOfMonth: ReadonlySet<number>;
      months: ReadonlySet<number>;
      daysOfWeek: ReadonlySet<number>;
      /** A day field written `*`: then the other one alone decides. */
      anyDayOfMonth: boolean;
      anyDayOfWeek: boolean;
      /** From a TZ= prefix; undefined: the caller's. */
      timeZone?: string;
    }
  | { every: number; timeZone?: string };

interface Bounds {
  min: number;
  max: number;
  names?: string[];
}

const monthNames = ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const fieldBounds: Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: monthNames },
  { min: 0, max: 6, names: dayNames },
];

const descriptors: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

function integer(text: string): number {
  if (!/^[+-]?\d+$/.test(text))
    throw new ScheduleError(`failed to parse int from ${text}: strconv.Atoi: parsing ${quote(text)}: invalid syntax`);
  const value = Number(text);
  if (Math.abs(value) >= 2 ** 63)
    throw new ScheduleError(`failed to parse int from ${text}: strconv.Atoi: parsing ${quote(text)}: value out of range`);
  if (value < 0) throw new ScheduleError(`negative number (${value}) not allowed: ${text}`);
  return value;
}

function integerOrName(text: string, { names }: Bounds): number {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  return named >= 0 && text !== '' ? named : integer(text);
}

interface Range {
  values: number[];
  any: boolean;
}

function parseRange(text: string, bounds: Bounds): Range {
  const [span = '', stepText, ...slashes] = text.split('/');
  const [low = '', high, ...hyphens] = span.split('-');
  const single = high === undefined;
  let any = low === '*' || low === '?';
  let start = bounds.min;
  let end = bounds.max;
  if (!any) {
    start = integerOrName(low, bounds);
    if (hyphens.length > 0) throw new ScheduleError(`too many hyphens: ${text}`);
    end = single ? start : integerOrName(high, bounds);
  }
  let step = 1;
  if (slashes.length > 0) throw new ScheduleError(`too many slashes: ${text}`);
  if (stepText !== undefined) {
    step = integer(stepText);
    if (single) end = bounds.max;
    if (step > 1) any = false;
  }
  checkRange(text, start, end, step, bounds);
  const values: number[] = [];
  for (let value = start; value <= end; value += step) values.push(value);
  return { values, any };
}

function checkRange(text: string, start: number, end: number, step: number, { min, max }: Bounds): void {
  if (start < min) throw new ScheduleError(`beginning of range (${start}) below minimum (${min}): ${text}`);
  if (end > max) throw new ScheduleError(`end of range (${end}) above maximum (${max}): ${text}`);
  if (start > end) throw new ScheduleError(`beginning of range (${start}) beyond end of range (${end}): ${text}`);
  if (step === 0) throw new ScheduleError(`step of range should be a positive number: ${text}`);
}

function parseField(text: string, bounds: Bounds): { values: Set<number>; any: boolean } {
  const ranges = text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => parseRange(part, bounds));
  return { values: new Set(ranges.flatMap(({ values }) => values)), any: ranges.some(({ any }) => any) };
}

/** True for a name of the IANA database, spelled as there. */
export function isTimeZone(name: string): boolean {
  if (name === '' || name === 'UTC') return true;
  if (!/^[A-Z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Reads the schedule of a CronJob. Throws ScheduleError for a text that is not one. */
export function parseSchedule(text: string): Schedule {
  if (text === '') throw new ScheduleError('empty spec string');
  if (text.length > scheduleCharactersMax) throw new ScheduleError(`may not be more than ${scheduleCharactersMax} characters`);
  const zoned = /^(?:TZ|CRON_TZ)=([^ ]*) ?(.*)$/s.exec(text);
  const timeZone = zoned?.[1];
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    throw new ScheduleError(`provided bad location ${timeZone}: unknown time zone ${timeZone}`);
  }
  const spec = zoned ? (zoned[2] ?? '').trim() : text;
  const zone = timeZone === undefined ? {} : { timeZone };
  if (spec.startsWith('@')) return { ...parseDescriptor(spec), ...zone };
  return { ...parseFields(spec), ...zone };
}

function parseDescriptor(text: string): Schedule {
  const fields = Object.hasOwn(descriptors, text) ? descriptors[text] : undefined;
  if (fields !== undefined) return parseFields(fields);
  const prefix = '@every ';
  if (!text.startsWith(prefix)) throw new ScheduleError(`unrecognized descriptor: ${text}`);
  try {
    return { every: Math.max(1000, Math.trunc(parseDurationMs(text.slice(prefix.length)) / 1000) * 1000) };
  } catch (error) {
    if (error instanceof DurationError) throw new ScheduleError(`failed to parse duration ${text}: ${error.message}`);
    throw error;
  }
}

function parseFields(text: string): Schedule {
  const fields = text.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== fieldBounds.length) {
    throw new ScheduleError(`expected exactly ${fieldBounds.length} fields, found ${fields.length}: [${fields.join(' ')}]`);
  }
  const [minutes, hours, daysOfMonth, months, daysOfWeek] = fields.map((field, index) =>
    parseField(field, fieldBounds[index] as Bounds),
  ) as [
    ReturnType<typeof parseField>,
    ReturnType<typeof parseField>,
    ReturnType<typeof parseField>,
    ReturnType<typeof parseField>,
    ReturnType<typeof parseField>,
  ];
  return {
    minutes: minutes.values,
    hours: hours.values,
    daysOfMonth: daysOfMonth.values,
    months: months.values,
    daysOfWeek: daysOfWeek.values,
    anyDayOfMonth: daysOfMonth.any,
    anyDayOfWeek: daysOfWeek.any,
  };
}
