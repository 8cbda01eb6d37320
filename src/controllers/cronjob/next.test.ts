import fc from 'fast-check';
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

const latestByWalking = (
  schedule: ReturnType<typeof parseSchedule>,
  from: number,
  now: number,
  zone: ReturnType<typeof zoneOf>,
) => {
  let latest: number | undefined;
  for (let at = next(schedule, from, zone); at !== undefined && at <= now; at = next(schedule, at, zone)) latest = at;
  return latest;
};

test('the newest missed time is that which one finds by walking through all of them', () => {
  const field = (min: number, max: number) =>
    fc.oneof(
      fc.constant('*'),
      fc.integer({ min, max }).map(String),
      fc.integer({ min: 2, max: 20 }).map((step) => `*/${step}`),
    );
  const text = fc.tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6)).map((fields) => fields.join(' '));
  const frequent = fc.oneof(
    text,
    fc.integer({ min: 1, max: 7200 }).map((seconds) => `@every ${seconds}s`),
  );
  const daily = fc.tuple(field(1, 28), field(1, 12), field(0, 6)).map((fields) => `30 2 ${fields.join(' ')}`);
  const hours = (max: number) => fc.integer({ min: 0, max: max * 3600_000 });
  const spans = fc.oneof(fc.tuple(frequent, hours(10)), fc.tuple(daily, hours(9_000)));
  const zones = fc.constantFrom(undefined, 'America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Pacific/Apia');
  const start = fc.integer({ min: Date.parse('2021-01-01T00:00:00Z'), max: Date.parse('2026-01-01T00:00:00Z') });
  fc.assert(
    fc.property(spans, zones, start, ([spec, spanMs], name, from) => {
      const [schedule, zone] = [parseSchedule(spec), zoneOf(name)];
      const { latest } = missedTimes(schedule, from, from + spanMs, zone);
      // Where the gaps differ the estimate of upstream's may begin behind the newest one: then there is none.
      if (latest !== undefined) expect(latest).toBe(latestByWalking(schedule, from, from + spanMs, zone));
    }),
    { numRuns: 60 },
  );
});

test('years of minutes are not gone through one by one', () => {
  let asked = 0;
  const newYork = zoneOf('America/New_York');
  const zone = (at: number): number => {
    asked++;
    return newYork(at);
  };
  const [from, now] = [Date.parse('2021-01-01T04:58:30Z'), Date.parse('2026-11-22T12:00:30Z')];
  const { latest } = missedTimes(parseSchedule('* * * 7-12 *'), from, now, zone);
  expect(latest).toBe(Date.parse('2026-11-22T12:00:00Z'));
  expect(asked).toBeLessThan(1000);
});

test('a schedule of a megabyte is refused', () => {
  expect(() => parseSchedule(`${'*,'.repeat(500_000)}* * * * *`)).toThrow('may not be more than 10000 characters');
});
