import { describe, expect, it } from 'vitest';
import { createUnsettled } from './unsettled.ts';

describe('what was changed a moment ago', () => {
  it('may be there unseen, until it is shown or refused, or time has passed', () => {
    let nowMs = 0;
    const unsettled = createUnsettled({ monotonic: () => nowMs }, 30_000);
    unsettled.begin('a');
    unsettled.begin('b');
    unsettled.end('b');
    expect(['a', 'b'].map((what) => unsettled.has(what))).toEqual([true, false]);
    nowMs = 30_000;
    expect(unsettled.has('a')).toBe(false);
  });
  it('does not count when it was deleted, whatever was made under the same name', () => {
    let nowMs = 0;
    const unsettled = createUnsettled({ monotonic: () => nowMs }, 30_000);
    unsettled.deleted('a');
    expect([unsettled.isDeleted('a'), unsettled.has('a'), unsettled.isDeleted('b')]).toEqual([true, false, false]);
    nowMs = 29_999;
    expect(unsettled.isDeleted('a')).toBe(true);
    nowMs = 30_000;
    expect(unsettled.isDeleted('a')).toBe(false);
  });
});
