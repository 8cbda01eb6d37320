// The rate-limited, de-duplicating queue of client-go (util/workqueue): a key in work is never handed out twice; adding it again
// while it is in work hands it out once more afterwards.
import type { WorkQueueMetrics } from '#component-base';
import type { Clock, Timer } from '#utils';
import { queueBackoffBaseMs, queueBackoffMaxMs } from './limits.ts';
import type { WorkQueue } from './types.ts';

export interface WorkQueueOptions {
  clock: Clock;
  /** First delay of `addRateLimited`; doubles per retry. */
  baseMs?: number;
  maxMs?: number;
  metrics?: WorkQueueMetrics | undefined;
}

export function createWorkQueue<K = string>({
  clock,
  baseMs = queueBackoffBaseMs,
  maxMs = queueBackoffMaxMs,
  metrics,
}: WorkQueueOptions): WorkQueue<K> {
  const waiting: K[] = [];
  /** To be worked on, and since when; in work, and since when. Times are only kept for metrics. */
  const dirty = new Map<K, number>();
  const processing = new Map<K, number>();
  const failures = new Map<K, number>();
  const timers = new Map<K, { timer: Timer; at: number }>();
  const takers: ((key: K | undefined) => void)[] = [];
  let down = false;

  const hand = (key: K): K => {
    if (metrics) {
      const nowMs = clock.monotonic();
      metrics.taken(nowMs - (dirty.get(key) ?? nowMs), waiting.length);
      processing.set(key, nowMs);
    } else processing.set(key, 0);
    dirty.delete(key);
    return key;
  };
  const enqueue = (key: K): void => {
    const taker = takers.shift();
    if (taker) taker(hand(key));
    else waiting.push(key);
  };
  const add = (key: K): void => {
    if (down || dirty.has(key)) return;
    dirty.set(key, metrics ? clock.monotonic() : 0);
    if (!processing.has(key)) enqueue(key);
    metrics?.added(waiting.length);
  };
  metrics?.watch(() => [...processing.values()].map((sinceMs) => clock.monotonic() - sinceMs));
  const addAfter = (key: K, delayMs: number): void => {
    if (down) return;
    if (delayMs <= 0) return add(key);
    const at = clock.now() + delayMs;
    const pending = timers.get(key);
    if (pending) {
      if (pending.at <= at) return;
      pending.timer.cancel();
    }
    const timer = clock.setTimer(delayMs, () => {
      timers.delete(key);
      add(key);
    });
    timers.set(key, { timer, at });
  };

  return {
    add,
    addAfter,
    addRateLimited(key) {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      metrics?.retried();
      addAfter(key, Math.min(baseMs * 2 ** Math.min(count, 40), maxMs));
    },
    forget: (key) => void failures.delete(key),
    retries: (key) => failures.get(key) ?? 0,
    take() {
      const key = waiting.shift();
      return key === undefined ? undefined : hand(key);
    },
    next() {
      const key = waiting.shift();
      if (key !== undefined) return Promise.resolve(hand(key));
      if (down) return Promise.resolve(undefined);
      return new Promise((resolve) => takers.push(resolve));
    },
    done(key) {
      if (metrics) metrics.done(clock.monotonic() - (processing.get(key) ?? clock.monotonic()));
      processing.delete(key);
      if (dirty.has(key)) enqueue(key);
    },
    length: () => waiting.length,
    shutDown() {
      down = true;
      for (const { timer } of timers.values()) timer.cancel();
      timers.clear();
      for (const taker of takers.splice(0)) taker(undefined);
    },
  };
}
