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

/** Makes an empty queue. */
export const createWorkQueue = <K = string>(options: WorkQueueOptions): WorkQueue<K> => new KeyQueue<K>(options);

class KeyQueue<K> implements WorkQueue<K> {
  readonly #clock: Clock;
  readonly #baseMs: number;
  readonly #maxMs: number;
  readonly #metrics: WorkQueueMetrics | undefined;
  readonly #waiting: K[] = [];
  /** Keys that wait to be worked on, with the time since when; and keys in work, likewise. Times are only kept for metrics. */
  readonly #dirty = new Map<K, number>();
  readonly #processing = new Map<K, number>();
  readonly #failures = new Map<K, number>();
  readonly #timers = new Map<K, { timer: Timer; at: number }>();
  readonly #takers: ((key: K | undefined) => void)[] = [];
  #down = false;

  constructor({ clock, baseMs = queueBackoffBaseMs, maxMs = queueBackoffMaxMs, metrics }: WorkQueueOptions) {
    this.#clock = clock;
    this.#baseMs = baseMs;
    this.#maxMs = maxMs;
    this.#metrics = metrics;
    metrics?.watch(() => [...this.#processing.values()].map((sinceMs) => clock.monotonic() - sinceMs));
  }

  add(key: K): void {
    if (this.#down || this.#dirty.has(key)) return;
    this.#dirty.set(key, this.#metrics ? this.#clock.monotonic() : 0);
    if (!this.#processing.has(key)) this.#enqueue(key);
    this.#metrics?.added(this.#waiting.length);
  }
  addAfter(key: K, delayMs: number): void {
    if (this.#down) return;
    if (delayMs <= 0) return this.add(key);
    const at = this.#clock.now() + delayMs;
    const pending = this.#timers.get(key);
    if (pending) {
      if (pending.at <= at) return;
      pending.timer.cancel();
    }
    const timer = this.#clock.setTimer(delayMs, () => {
      this.#timers.delete(key);
      this.add(key);
    });
    this.#timers.set(key, { timer, at });
  }
  addRateLimited(key: K): void {
    const count = this.#failures.get(key) ?? 0;
    this.#failures.set(key, count + 1);
    this.#metrics?.retried();
    this.addAfter(key, Math.min(this.#baseMs * 2 ** Math.min(count, 40), this.#maxMs));
  }
  forget(key: K): void {
    this.#failures.delete(key);
  }
  retries(key: K): number {
    return this.#failures.get(key) ?? 0;
  }

  take(): K | undefined {
    const key = this.#waiting.shift();
    return key === undefined ? undefined : this.#hand(key);
  }
  next(): Promise<K | undefined> {
    const key = this.#waiting.shift();
    if (key !== undefined) return Promise.resolve(this.#hand(key));
    if (this.#down) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#takers.push(resolve));
  }
  done(key: K): void {
    if (this.#metrics) this.#metrics.done(this.#clock.monotonic() - (this.#processing.get(key) ?? this.#clock.monotonic()));
    this.#processing.delete(key);
    if (this.#dirty.has(key)) this.#enqueue(key);
  }
  length(): number {
    return this.#waiting.length;
  }
  shutDown(): void {
    this.#down = true;
    for (const { timer } of this.#timers.values()) timer.cancel();
    this.#timers.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }

  #enqueue(key: K): void {
    const taker = this.#takers.shift();
    if (taker) taker(this.#hand(key));
    else this.#waiting.push(key);
  }
  #hand(key: K): K {
    const nowMs = this.#metrics ? this.#clock.monotonic() : 0;
    this.#metrics?.taken(nowMs - (this.#dirty.get(key) ?? nowMs), this.#waiting.length);
    this.#processing.set(key, nowMs);
    this.#dirty.delete(key);
    return key;
  }
}
