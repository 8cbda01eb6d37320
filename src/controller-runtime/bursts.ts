// How long it takes a loop to look at every key that the events of one watch have made. Events that come meanwhile belong to the burst that runs.
import type { Clock } from '#utils';

export interface Burst {
  /** An event made these keys. */
  begun(keys: Iterable<string>): void;
  /** The loop has looked at this key once. */
  done(key: string): void;
}

/** Measures bursts. `observe` gets the milliseconds of each burst, and 0 for an event that made no key while no key was waited for. */
export function burst(clock: Pick<Clock, 'monotonic'>, observe: (durationMs: number) => void): Burst {
  const waiting = new Set<string>();
  let sinceMs = 0;
  return {
    begun(keys) {
      if (waiting.size === 0) sinceMs = clock.monotonic();
      for (const key of keys) waiting.add(key);
      if (waiting.size === 0) observe(0);
    },
    done(key) {
      if (waiting.delete(key) && waiting.size === 0) observe(clock.monotonic() - sinceMs);
    },
  };
}
