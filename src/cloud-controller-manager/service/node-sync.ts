// How long a change of nodes takes to reach all load balancers (upstream's service_controller_nodesync_latency_seconds: one observation for each
// sync of all Services). Changes meanwhile belong to the sync that runs.
import type { Clock } from '#utils';

export interface NodeSync {
  /** Nodes changed: these keys are to be looked at. Gives them back. */
  begun(keys: string[]): string[];
  /** Whether the sync waits for this key. */
  awaits(key: string): boolean;
  /** This key needs nothing more. */
  done(key: string): void;
}

export function nodeSync(clock: Pick<Clock, 'monotonic'>, observe: (durationMs: number) => void): NodeSync {
  const waiting = new Set<string>();
  let sinceMs = 0;
  return {
    begun(keys) {
      if (waiting.size === 0) sinceMs = clock.monotonic();
      for (const key of keys) waiting.add(key);
      if (waiting.size === 0) observe(0);
      return keys;
    },
    awaits: (key) => waiting.has(key),
    done(key) {
      if (waiting.delete(key) && waiting.size === 0) observe(clock.monotonic() - sinceMs);
    },
  };
}
