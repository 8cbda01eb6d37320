// Two clocks for tests of providers. On the hasty one whoever sleeps wakes at once, and time has gone on by as much: back-off and polling cost
// nothing, also over real sockets. The manual one stands still until the test moves it. (`sagong/testing` has one for whole clusters.)
import { setImmediate } from 'node:timers';
import { systemClock } from '#host';
import type { Clock } from '#utils';
import { soonMs, turnsAfterTimer } from './limits.ts';

export interface HastyClock extends Clock {
  /** Lets time pass without anybody sleeping. */
  skip(ms: number): void;
}

/** Timers of up to a second, which collect what comes close together, fire at once; longer ones, which bound requests, run in real time. */
export function hastyClock(startMs = 1_700_000_000_000): HastyClock {
  const real = systemClock();
  let nowMs = startMs;
  return {
    now: () => nowMs,
    monotonic: () => nowMs - startMs,
    setTimer(delayMs, callback) {
      if (delayMs > soonMs) return real.setTimer(delayMs, callback);
      const handle = setImmediate(callback);
      return { cancel: () => clearImmediate(handle) };
    },
    sleep: (delayMs, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason as Error);
        setImmediate(() => {
          nowMs += Math.max(0, delayMs);
          if (signal?.aborted) reject(signal.reason as Error);
          else resolve();
        });
      }),
    skip(ms) {
      nowMs += ms;
    },
  };
}

export interface ManualClock extends Clock {
  /** Lets time pass; what is due happens in its order, and what follows from it at its own moment. */
  advance(ms: number): Promise<void>;
  /** Timers that are set. */
  pending(): number;
}

export function manualClock(startMs = 1_700_000_000_000): ManualClock {
  let nowMs = startMs;
  let timers: { atMs: number; fire: () => void }[] = [];
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < turnsAfterTimer; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const setTimer = (delayMs: number, fire: () => void): { cancel(): void } => {
    const timer = { atMs: nowMs + Math.max(0, delayMs), fire };
    timers.push(timer);
    return {
      cancel() {
        timers = timers.filter((other) => other !== timer);
      },
    };
  };
  return {
    now: () => nowMs,
    monotonic: () => nowMs - startMs,
    setTimer,
    sleep: (delayMs, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason as Error);
        const onAbort = (): void => {
          timer.cancel();
          reject(signal?.reason as Error);
        };
        const timer = setTimer(delayMs, () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        });
        signal?.addEventListener('abort', onAbort, { once: true });
      }),
    async advance(ms) {
      const endMs = nowMs + ms;
      await settle();
      for (;;) {
        const [next] = timers.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs);
        if (!next) break;
        nowMs = next.atMs;
        timers = timers.filter((timer) => timer !== next);
        next.fire();
        await settle();
      }
      nowMs = endMs;
    },
    pending: () => timers.length,
  };
}
