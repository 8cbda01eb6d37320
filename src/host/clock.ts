// The real clock. The one place in the code base with timers; everyone else takes a Clock.
import { setMaxListeners } from 'node:events';
import { performance } from 'node:perf_hooks';
import type { Clock, Timer } from '#utils';
import { limits } from './limits.ts';

interface SystemTimerOptions {
  /** Whether a pending timer keeps the process alive. */
  keepAlive: boolean;
}

function startTimer(delayMs: number, callback: () => void, { keepAlive }: SystemTimerOptions): Timer {
  let handle: NodeJS.Timeout;
  const arm = (remainingMs: number): void => {
    const stepMs = Math.min(remainingMs, limits.timerStepMsMax);
    handle = setTimeout(() => (remainingMs > stepMs ? arm(remainingMs - stepMs) : callback()), stepMs);
    if (!keepAlive) handle.unref();
  };
  arm(Math.max(0, delayMs));
  return { cancel: () => clearTimeout(handle) };
}

function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = startTimer(
      delayMs,
      () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      },
      { keepAlive: true },
    );
    // Any number of sleepers may be woken by one signal; each takes its listener away again.
    if (signal) setMaxListeners(0, signal);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/**
 * The machine's clock. Timers set by `setTimer` are background work and never keep the process alive; a `sleep` is awaited by
 * somebody and does.
 */
export const systemClock = (): Clock => ({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer: (delayMs, callback) => startTimer(delayMs, callback, { keepAlive: false }),
  sleep,
});
