// Keeps requests apart, as the vendor's Go client does with a static rate limit.
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
