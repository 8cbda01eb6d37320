import { describe, expect, it } from 'vitest';
import { burst } from './bursts.ts';

function timed() {
  const observed: number[] = [];
  let now = 0;
  const measured = burst({ monotonic: () => now }, (durationMs) => void observed.push(durationMs));
  return { observed, measured, pass: (ms: number) => void (now += ms) };
}

describe('the length of a burst', () => {
  it('is that of all its keys together, with those that come meanwhile', () => {
    const { observed, measured, pass } = timed();
    measured.begun(['a', 'b']);
    pass(100);
    measured.done('a');
    expect(observed).toEqual([]);
    pass(100);
    measured.begun(['a', 'b']);
    pass(100);
    measured.done('b');
    measured.done('a');
    measured.done('a');
    expect(observed).toEqual([300]);
  });
  it('is nothing where an event makes no keys', () => {
    const { observed, measured } = timed();
    measured.begun([]);
    expect(observed).toEqual([0]);
  });
});
