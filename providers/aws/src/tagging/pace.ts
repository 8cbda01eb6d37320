// A bucket of tokens (golang.org/x/time/rate): so many at once, then so many in a second.
import type { Clock } from 'sagong/cloud-provider';

/** Waits for a token. Without a rate or a burst nothing waits. */
export function tokenBucket(
  { rateLimit, burstLimit }: { rateLimit: number; burstLimit: number },
  clock: Pick<Clock, 'monotonic' | 'sleep'>,
): (signal?: AbortSignal) => Promise<void> {
  if (rateLimit <= 0 || burstLimit <= 0) return () => Promise.resolve();
  let tokens = burstLimit;
  let countedAtMs = clock.monotonic();
  return (signal) => {
    const nowMs = clock.monotonic();
    tokens = Math.min(burstLimit, tokens + ((nowMs - countedAtMs) * rateLimit) / 1000) - 1;
    countedAtMs = nowMs;
    return tokens >= 0 ? Promise.resolve() : clock.sleep((-tokens * 1000) / rateLimit, signal);
  };
}
