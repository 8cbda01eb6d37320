// Time that passes only when told to, for lease tests.
import type { Clock, Timer } from '#utils';

export interface ManualClock extends Clock {
  advance(milliseconds: number): void;
}

export function manualClock(): ManualClock {
  let now = 0;
  const timers = new Set<{ at: number; callback: () => void }>();
  const setTimer = (delayMs: number, callback: () => void): Timer => {
    const timer = { at: now + Math.max(0, delayMs), callback };
    timers.add(timer);
    return { cancel: () => timers.delete(timer) };
  };
  return {
    now: () => now,
    monotonic: () => now,
    setTimer,
    sleep: (delayMs) => new Promise((resolve) => setTimer(delayMs, resolve)),
    advance(milliseconds) {
      const target = now + milliseconds;
      for (;;) {
        const due = [...timers].filter(({ at }) => at <= target).sort((a, b) => a.at - b.at)[0];
        if (!due) break;
        timers.delete(due);
        now = Math.max(now, due.at);
        due.callback();
      }
      now = target;
    },
  };
}
