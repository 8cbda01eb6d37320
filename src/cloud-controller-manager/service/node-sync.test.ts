import { describe, expect, it } from 'vitest';
import { nodeSync } from './node-sync.ts';

function timed() {
  const observed: number[] = [];
  let now = 0;
  const sync = nodeSync({ monotonic: () => now }, (durationMs) => void observed.push(durationMs));
  return { observed, sync, pass: (ms: number) => void (now += ms) };
}

describe('the latency of a sync of nodes', () => {
  it('is that of all Services together', () => {
    const { observed, sync, pass } = timed();
    expect(sync.begun(['a', 'b'])).toEqual(['a', 'b']);
    pass(100);
    sync.done('a');
    expect([sync.awaits('a'), sync.awaits('b'), observed]).toEqual([false, true, []]);
    pass(100);
    // Another change meanwhile.
    sync.begun(['a', 'b']);
    pass(100);
    sync.done('b');
    sync.done('a');
    sync.done('a');
    expect(observed).toEqual([300]);
  });
  it('is nothing where there are no Services', () => {
    const { observed, sync } = timed();
    sync.begun([]);
    expect(observed).toEqual([0]);
  });
});
