import { expect, it } from 'vitest';
import { type BackOff, backOffNext, backOffUntil } from './back-off.ts';

const rule = { initialMs: 10_000, maxMs: 300_000 };

it('doubles from ten seconds to five minutes, counted from the crash', () => {
  let entry: BackOff | undefined;
  const delays: (number | undefined)[] = [];
  let now = 0;
  for (let crash = 0; crash < 8; crash++) {
    const until = backOffUntil(entry, now, now, rule);
    delays.push(until === undefined ? undefined : until - now);
    now = until ?? now;
    entry = backOffNext(entry, now, now, rule);
    now += 1;
  }
  expect(delays).toEqual([undefined, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
});

it('is forgotten after twice the maximum without a crash', () => {
  const entry = { delayMs: 160_000, atMs: 0 };
  expect(backOffUntil(entry, 600_001, 600_001, rule)).toBeUndefined();
  expect(backOffNext(entry, 600_001, 600_001, rule).delayMs).toBe(10_000);
});
