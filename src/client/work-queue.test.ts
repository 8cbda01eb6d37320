import { describe, expect, it } from 'vitest';
import type { Clock, Timer } from '#utils';
import { createWorkQueue } from './work-queue.ts';

/** A clock that stands still until told to advance. */
function manualClock(): Clock & { advance(ms: number): void } {
  let now = 0;
  let timers: { at: number; run: () => void }[] = [];
  const setTimer = (delayMs: number, run: () => void): Timer => {
    const timer = { at: now + delayMs, run };
    timers.push(timer);
    return { cancel: () => void (timers = timers.filter((other) => other !== timer)) };
  };
  return {
    now: () => now,
    monotonic: () => now,
    setTimer,
    sleep: (ms) => new Promise((resolve) => setTimer(ms, resolve)),
    advance(ms) {
      now += ms;
      const due = timers.filter(({ at }) => at <= now);
      timers = timers.filter(({ at }) => at > now);
      for (const { run } of due) run();
    },
  };
}

describe('work queue', () => {
  it('hands a key out once however often it was added', () => {
    const queue = createWorkQueue({ clock: manualClock() });
    queue.add('a');
    queue.add('a');
    queue.add('b');
    expect([queue.take(), queue.take(), queue.take()]).toEqual(['a', 'b', undefined]);
  });

  it('does not hand out a key in work, but does so again when it was added meanwhile', () => {
    const queue = createWorkQueue({ clock: manualClock() });
    queue.add('a');
    expect(queue.take()).toBe('a');
    queue.add('a');
    expect(queue.take()).toBeUndefined();
    queue.done('a');
    expect(queue.take()).toBe('a');
    queue.done('a');
    expect(queue.take()).toBeUndefined();
  });

  it('keeps the earliest of several delays', () => {
    const clock = manualClock();
    const queue = createWorkQueue({ clock });
    queue.addAfter('a', 100);
    queue.addAfter('a', 10);
    queue.addAfter('a', 50);
    clock.advance(9);
    expect(queue.length()).toBe(0);
    clock.advance(1);
    expect(queue.take()).toBe('a');
    queue.done('a');
    clock.advance(1000);
    expect(queue.take()).toBeUndefined();
  });

  it('backs off exponentially per key and forgets', () => {
    const clock = manualClock();
    const queue = createWorkQueue({ clock, baseMs: 10, maxMs: 30 });
    const waited: number[] = [];
    for (let i = 0; i < 4; i++) {
      queue.addRateLimited('a');
      let ms = 0;
      while (queue.length() === 0) {
        clock.advance(1);
        ms += 1;
      }
      queue.take();
      queue.done('a');
      waited.push(ms);
    }
    expect(waited).toEqual([10, 20, 30, 30]);
    queue.forget('a');
    expect(queue.retries('a')).toBe(0);
  });

  it('wakes waiting takers in order and lets them go at shutdown', async () => {
    const queue = createWorkQueue({ clock: manualClock() });
    const taken = Promise.all([queue.next(), queue.next(), queue.next()]);
    queue.add('x');
    queue.add('y');
    queue.shutDown();
    expect(await taken).toEqual(['x', 'y', undefined]);
  });
});
