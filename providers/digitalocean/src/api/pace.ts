// Keeps requests apart, as the vendor's Go client does with a static rate limit, and few at a time, so that connections are used again.
import type { Clock } from 'sagong/cloud-provider';

/** Waits for the next free slot. Without a rate nothing waits. */
export function pacer(perSecond: number | undefined, clock: Clock): (signal?: AbortSignal) => Promise<void> {
  if (perSecond === undefined) return () => Promise.resolve();
  let freeAtMs = 0;
  return (signal) => {
    const nowMs = clock.monotonic();
    const atMs = Math.max(nowMs, freeAtMs);
    freeAtMs = atMs + 1000 / perSecond;
    return atMs > nowMs ? clock.sleep(atMs - nowMs, signal) : Promise.resolve();
  };
}

/** Runs work, but no more than `max` at a time, in the order it came. */
export function gate(max: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    // A place that becomes free is handed on, so nobody overtakes.
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
