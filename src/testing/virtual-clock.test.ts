import { describe, expect, it } from 'vitest';
import { virtualClock } from './virtual-clock.ts';

describe('virtual clock', () => {
  it('fires timers in order of their moments, then of their setting', async () => {
    const clock = virtualClock({ startMs: 0 });
    const fired: string[] = [];
    const note = (name: string) => () => fired.push(`${name}@${clock.now()}`);
    clock.setTimer(20, note('c'));
    clock.setTimer(10, note('a'));
    clock.setTimer(10, note('b'));
    clock.setTimer(15, note('never')).cancel();
    await clock.advance(15);
    expect(fired).toEqual(['a@10', 'b@10']);
    await clock.advance(5);
    expect(fired).toEqual(['a@10', 'b@10', 'c@20']);
    expect(clock.pending()).toBe(0);
  });

  it('lets promises settle at their own moment', async () => {
    const clock = virtualClock({ startMs: 0 });
    const seen: number[] = [];
    const walk = async (): Promise<void> => {
      for (let step = 0; step < 3; step++) {
        await clock.sleep(100);
        seen.push(clock.now());
      }
    };
    void walk();
    await clock.advance(1000);
    expect(seen).toEqual([100, 200, 300]);
    expect(clock.monotonic()).toBe(1000);
  });

  it('goes on only as far as a condition needs', async () => {
    const clock = virtualClock({ startMs: 0 });
    let count = 0;
    const tick = (): void => {
      count++;
      clock.setTimer(60_000, tick);
    };
    tick();
    await clock.until(() => count === 5, 3_600_000);
    expect(clock.now()).toBe(240_000);
    await expect(clock.until(() => false, 120_000)).rejects.toThrow('did not come true');
  });

  it('rejects a sleep that is aborted', async () => {
    const clock = virtualClock();
    const abort = new AbortController();
    const sleeping = clock.sleep(1000, abort.signal);
    abort.abort(new Error('enough'));
    await expect(sleeping).rejects.toThrow('enough');
    expect(clock.pending()).toBe(0);
  });
});
