// When a schedule fires next (github.com/robfig/cron/v3 SpecSchedule.Next), and which of its times were missed (pkg/controller/cronjob).
import type { Schedule } from '#api/batch/cronjob';
import { midnight, type WallTime, wallTime, type Zone } from './zone.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;
const yearsMax = 5;

type Fields = Extract<Schedule, { every?: undefined }>;

/** The first time after `afterMs`; undefined when there is none within five years. */
export function next(schedule: Schedule, afterMs: number, zone: Zone): number | undefined {
  if (schedule.every !== undefined) return Math.floor(afterMs / 1000) * 1000 + schedule.every;
  let at = (Math.floor(afterMs / minuteMs) + 1) * minuteMs;
  const lastYear = wallTime(at, zone).year + yearsMax;
  for (let wall = wallTime(at, zone); wall.year <= lastYear; wall = wallTime(at, zone)) {
    const later = advance(schedule, at, wall, zone);
    if (later === at) return at;
    at = later;
  }
  return undefined;
}

/** `at` when it fits, else the start of the next month, day, hour or minute that may. */
function advance(schedule: Fields, at: number, wall: WallTime, zone: Zone): number {
  const { months, hours, minutes } = schedule;
  if (!months.has(wall.month)) return after(at, midnight(wall.year, wall.month + 1, 1, zone));
  if (!dayFits(schedule, wall)) return after(at, midnight(wall.year, wall.month, wall.day + 1, zone));
  if (!hours.has(wall.hour)) return at - wall.minute * minuteMs + hourMs;
  return minutes.has(wall.minute) ? at : at + minuteMs;
}

/** Clocks that go back must not take the search with them. */
const after = (at: number, candidate: number): number => Math.max(candidate, at + minuteMs);

/** Whether the day fits. Where both day fields are restricted, it is enough that one of them fits. */
function dayFits({ daysOfMonth, daysOfWeek, anyDayOfMonth, anyDayOfWeek }: Fields, { day, weekday }: WallTime): boolean {
  const [month, week] = [daysOfMonth.has(day), daysOfWeek.has(weekday)];
  return anyDayOfMonth || anyDayOfWeek ? month && week : month || week;
}

export interface Missed {
  /** The newest time that has come, if any. */
  latest: number | undefined;
  /** More than a hundred have passed. */
  many: boolean;
  any: boolean;
}

/** A schedule that can be read, but has no times to go by: 31 February. */
export class InvalidScheduleError extends Error {}

/** The times of a schedule after `fromMs`, up to and including `now`. Throws `InvalidScheduleError` when there are none, or they cannot be told apart. */
export function missedTimes(schedule: Schedule, fromMs: number, now: number, zone: Zone): Missed {
  const first = next(schedule, fromMs, zone);
  if (first !== undefined && now < first) return { latest: undefined, many: false, any: false };
  const second = first === undefined ? undefined : next(schedule, first, zone);
  if (second !== undefined && now < second) return { latest: first, many: false, any: false };
  const betweenMs = first === undefined || second === undefined ? 0 : Math.round((second - first) / 1000) * 1000;
  if (first === undefined || betweenMs < 1000)
    throw new InvalidScheduleError('time difference between two schedules is less than 1 second');
  const count = Math.floor((now - first) / betweenMs) + 1;
  return { latest: latestAfter(schedule, first + (count - 2) * betweenMs, now, zone), many: count > 100, any: true };
}

/** The newest time after `fromMs`, up to and including `now`. It is looked for from `now` backwards: there may be millions in between. */
function latestAfter(schedule: Schedule, fromMs: number, now: number, zone: Zone): number | undefined {
  if (schedule.every !== undefined) {
    const first = next(schedule, fromMs, zone) as number;
    return first > now ? undefined : first + Math.floor((now - first) / schedule.every) * schedule.every;
  }
  for (let at = Math.floor(now / minuteMs) * minuteMs; at > fromMs; ) {
    const earlier = retreat(schedule, at, wallTime(at, zone), zone);
    if (earlier === at) return at;
    at = earlier;
  }
  return undefined;
}

/** `at` when it fits, else the last minute before its month, day, hour or minute, which do not. */
function retreat(schedule: Fields, at: number, wall: WallTime, zone: Zone): number {
  const { months, hours, minutes } = schedule;
  const before = (start: number): number => Math.min(start, at) - minuteMs;
  if (!months.has(wall.month)) return before(midnight(wall.year, wall.month, 1, zone));
  if (!dayFits(schedule, wall)) return before(midnight(wall.year, wall.month, wall.day, zone));
  if (!hours.has(wall.hour)) return before(at - wall.minute * minuteMs);
  return minutes.has(wall.minute) ? at : at - minuteMs;
}
