import { describe, expect, test } from 'vitest';
import { parseSchedule } from '#api/batch/cronjob';
import { missedTimes, next } from './next.ts';
import { formatInZone, zoneOf } from './zone.ts';

const nextText = (schedule: string, after: string, zone?: string): string | undefined => {
  const at = next(parseSchedule(schedule), Date.parse(after), zoneOf(zone));
  return at === undefined ? undefined : formatInZone(at, zoneOf(zone));
};

describe('next', () => {
  test.each([
    ['* * * * *', '2026-01-01T00:00:00Z', undefined, '2026-01-01T00:01:00Z'],
    ['*/15 * * * *', '2026-01-01T00:50:30Z', undefined, '2026-01-01T01:00:00Z'],
    ['0 3 * * *', '2026-12-31T03:00:00Z', undefined, '2027-01-01T03:00:00Z'],
    ['30 4 29 2 *', '2026-01-01T00:00:00Z', undefined, '2028-02-29T04:30:00Z'],
    ['0 0 13 * 5', '2026-11-01T00:00:00Z', undefined, '2026-11-06T00:00:00Z'],
    ['0 0 * * 1', '2026-11-21T00:00:00Z', undefined, '2026-11-23T00:00:00Z'],
    ['@monthly', '2026-11-21T10:00:00Z', undefined, '2026-12-01T00:00:00Z'],
    ['0 9 * * *', '2026-07-01T00:00:00Z', 'Europe/Berlin', '2026-07-01T09:00:00+02:00'],
    ['0 9 * * *', '2026-01-01T09:00:00Z', 'Asia/Kolkata', '2026-01-02T09:00:00+05:30'],
    // In the hour that is left out in spring nothing runs that day.
    ['30 2 * * *', '2026-03-29T00:00:00+01:00', 'Europe/Berlin', '2026-03-30T02:30:00+02:00'],
    ['@every 90s', '2026-01-01T00:00:00Z', undefined, '2026-01-01T00:01:30Z'],
    ['0 0 31 2 *', '2026-01-01T00:00:00Z', undefined, undefined],
  ])('%s after %s in %s', (schedule, after, zone, expected) => {
    expect(nextText(schedule, after, zone)).toBe(expected);
  });
});

describe('missed times', () => {
  const missed = (from: string, now: string) => {
    const { latest, many } = missedTimes(parseSchedule('*/10 * * * *'), Date.parse(from), Date.parse(now), zoneOf(undefined));
    return { latest: latest === undefined ? undefined : new Date(latest).toISOString().slice(11, 16), many };
  };
  test('none yet', () =>
    expect(missed('2026-01-01T00:00:00Z', '2026-01-01T00:09:59Z')).toEqual({ latest: undefined, many: false }));
  test('one', () => expect(missed('2026-01-01T00:00:00Z', '2026-01-01T00:10:00Z')).toEqual({ latest: '00:10', many: false }));
  test('the newest of several', () =>
    expect(missed('2026-01-01T00:00:00Z', '2026-01-01T01:05:00Z')).toEqual({ latest: '01:00', many: false }));
  test('more than a hundred', () =>
    expect(missed('2026-01-01T00:00:00Z', '2026-01-02T00:05:00Z')).toEqual({ latest: '00:00', many: true }));
});
