// Keeps a provider within what its vendor allows: a token bucket, which also heeds a vendor that asks to be left alone, and a bound of calls
// under way at a time.
import type { Clock } from '#utils';

export { atMost } from '#host';

export interface RateLimiter {
  /** Resolves when the next call may go out, in the order they came. Rejects with the signal's reason. */
  wait(signal?: AbortSignal): Promise<void>;
  /** Holds back all calls for this long: the vendor asked for it. */
  pause(delayMs: number): void;
}

export interface TokenBucketOptions {
  clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** Calls in a second, in the long run. Infinity: only pauses hold calls back. */
  perSecond: number;
  /** Calls that may go out at once after a rest. Default: one second's worth, at least 1. */
  burst?: number;
}

/** A token bucket. A call that is aborted while it waits has used its token. */
export function tokenBucket({ clock, perSecond, burst = Math.max(1, Math.floor(perSecond)) }: TokenBucketOptions): RateLimiter {
  const intervalMs = 1000 / perSecond;
  /** When the bucket will be full again, if nobody calls (the virtual scheduling form of the leaky bucket, ITU-T I.371). */
  let fullAtMs = Number.NEGATIVE_INFINITY;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  const takeToken = (nowMs: number): number => {
    if (!Number.isFinite(intervalMs) || intervalMs === 0) return nowMs;
    fullAtMs = Math.max(fullAtMs, nowMs) + intervalMs;
    return fullAtMs - burst * intervalMs;
  };
  return {
    async wait(signal) {
      const atMs = takeToken(clock.monotonic());
      // A pause may begin, or grow, during the wait.
      for (;;) {
        signal?.throwIfAborted();
        const waitMs = Math.max(atMs, pausedUntilMs) - clock.monotonic();
        if (waitMs <= 0) return;
        // Whole milliseconds: what is left of a fraction may be too little for a clock to move.
        await clock.sleep(Math.ceil(waitMs), signal);
      }
    },
    pause(delayMs) {
      pausedUntilMs = Math.max(pausedUntilMs, clock.monotonic() + delayMs);
    },
  };
}

/** Runs work of the same key one after the other, in the order it came. */
export function inTurn(): <T>(key: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T> {
  const lasts = new Map<string, Promise<unknown>>();
  return async (key, work, signal) => {
    const before = lasts.get(key) ?? Promise.resolve();
    const mine = before.then(() => {
      signal?.throwIfAborted();
      return work();
    });
    const settled = mine.catch(() => {});
    lasts.set(key, settled);
    try {
      return await mine;
    } finally {
      if (lasts.get(key) === settled) lasts.delete(key);
    }
  };
}
