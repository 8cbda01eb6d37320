import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalizeDuration,
  DurationError,
  formatDurationMs,
  formatDurationNs,
  parseDurationMs,
  parseDurationNs,
} from './index.ts';

describe('durations', () => {
  it.each([
    ['0', '0s'],
    ['1h', '1h0m0s'],
    ['90m', '1h30m0s'],
    ['1.5s', '1.5s'],
    ['1500ms', '1.5s'],
    ['1m0.000000001s', '1m0.000000001s'],
    ['100us', '100\u00b5s'],
    ['-2m', '-2m0s'],
    ['1h15m30.918s', '1h15m30.918s'],
  ])('%s', (text, canonical) => {
    expect(canonicalizeDuration(text)).toBe(canonical);
  });

  it.each([
    ['', 'time: invalid duration ""'],
    ['3', 'time: missing unit in duration "3"'],
    ['1d', 'time: unknown unit "d" in duration "1d"'],
    ['.s', 'time: invalid duration ".s"'],
  ])('refuses %j', (text, message) => {
    expect(() => parseDurationNs(text)).toThrow(new DurationError(message));
  });

  it('takes any length through text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (ns) => parseDurationNs(formatDurationNs(ns)) === ns),
    );
    expect(parseDurationMs('1m')).toBe(60_000);
    expect(formatDurationMs(1500)).toBe('1.5s');
  });
});
