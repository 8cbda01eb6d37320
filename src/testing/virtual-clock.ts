// Time that only goes on when told to, for a whole cluster in one process. Timers are a heap; between two of them the event loop runs
// until nothing more happens, so that promises, streams and coalesced writes settle at their own virtual moment.
import { setMaxListeners } from 'node:events';
import { setImmediate } from 'node:timers';
import { bound, handStray } from '#component-base/failures';
import type { Clock, Timer } from '#utils';

interface Entry {
  atMs: number;
  /** Timers of the same moment fire in the order they were set. */
  order: number;
  callback: () => void;
  cancelled: boolean;
}

const before = (a: Entry, b: Entry): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

/** A binary heap of timers, the next one on top. */
class TimerHeap {
  readonly #entries: Entry[] = [];

  peek(): Entry | undefined {
    while (this.#entries[0]?.cancelled) this.pop();
    return this.#entries[0];
  }
  push(entry: Entry): void {
    const entries = this.#entries;
    let at = entries.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = entries[parent] as Entry;
      if (!before(entry, above)) break;
      entries[at] = above;
      at = parent;
    }
    entries[at] = entry;
  }
  pop(): Entry | undefined {
    const entries = this.#entries;
    const top = entries[0];
    const last = entries.pop();
    if (!last || entries.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= entries.length) break;
      if (child + 1 < entries.length && before(entries[child + 1] as Entry, entries[child] as Entry)) child++;
      if (!before(entries[child] as Entry, last)) break;
      entries[at] = entries[child] as Entry;
      at = child;
    }
    entries[at] = last;
    return top;
  }
  size(): number {
    return this.#entries.reduce((count, { cancelled }) => count + (cancelled ? 0 : 1), 0);
  }
}

export interface VirtualClockOptions {
  /** Milliseconds since the epoch at the start. Default: 2026-01-01T00:00:00Z. */
  startMs?: number;
  /** Turns of the event loop after each moment. More where work hops between many promises and sockets. */
  turns?: number;
  /** Waits for what happens outside of virtual time, as requests over real sockets do: time stands still meanwhile. */
  outside?(): Promise<void> | undefined;
}

export interface VirtualClock extends Clock {
  /** Lets `ms` pass, moment by moment, and everything that follows settle. */
  advance(ms: number): Promise<void>;
  /** Lets time pass until `condition` holds, at most `limitMs`; rejects when it does not by then. Looks after every moment. */
  until(condition: () => boolean | Promise<boolean>, limitMs: number): Promise<void>;
  /** Lets what is due now happen, without time passing. */
  settle(): Promise<void>;
  /** Timers set and not yet fired. */
  pending(): number;
}

const defaultStartMs = Date.UTC(2026, 0, 1);
const defaultTurns = 4;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

class HeapClock implements VirtualClock {
  readonly #startMs: number;
  readonly #turns: number;
  readonly #outside: VirtualClockOptions['outside'];
  readonly #heap = new TimerHeap();
  #nowMs: number;
  #order = 0;

  constructor({ startMs = defaultStartMs, turns = defaultTurns, outside }: VirtualClockOptions) {
    this.#startMs = startMs;
    this.#nowMs = startMs;
    this.#turns = turns;
    this.#outside = outside;
  }
  now(): number {
    return this.#nowMs;
  }
  monotonic(): number {
    return this.#nowMs - this.#startMs;
  }
  setTimer(delayMs: number, callback: () => void): Timer {
    const atMs = this.#nowMs + Math.max(0, delayMs);
    const entry: Entry = { atMs, order: this.#order++, callback: bound(callback), cancelled: false };
    this.#heap.push(entry);
    return {
      cancel() {
        entry.cancelled = true;
        // It may stay in the heap for long; what it would have called need not.
        entry.callback = () => {};
      },
    };
  }
  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const onAbort = (): void => {
        timer.cancel();
        reject(signal?.reason as Error);
      };
      const timer = this.setTimer(delayMs, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      if (!signal) return;
      // All requests of one discovery wait under one signal; no listener outlives its sleep.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }
  pending(): number {
    return this.#heap.size();
  }
  async settle(): Promise<void> {
    do {
      this.#fire();
      for (let count = 0; count < this.#turns; count++) await turn();
      const busy = this.#outside?.();
      if (busy) await busy;
    } while ((this.#heap.peek()?.atMs ?? Number.POSITIVE_INFINITY) <= this.#nowMs);
  }
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await this.settle();
    while (this.#next(endMs)) await this.settle();
    // Two may let time pass at once: it never goes back.
    this.#nowMs = Math.max(this.#nowMs, endMs);
  }
  async until(condition: () => boolean | Promise<boolean>, limitMs: number): Promise<void> {
    const endMs = this.#nowMs + limitMs;
    await this.settle();
    while (!(await condition())) {
      if (!this.#next(endMs)) throw new Error(`the condition did not come true within ${limitMs} ms of virtual time`);
      await this.settle();
    }
  }
  /** Goes to the next moment at which something is due; false when there is none up to `endMs`. */
  #next(endMs: number): boolean {
    const entry = this.#heap.peek();
    if (!entry || entry.atMs > endMs) return false;
    this.#nowMs = Math.max(this.#nowMs, entry.atMs);
    return true;
  }
  /** Fires all that is due; what those set for the same moment comes after a turn of the event loop. */
  #fire(): void {
    const last = this.#order;
    for (let entry = this.#heap.peek(); entry && entry.atMs <= this.#nowMs && entry.order < last; entry = this.#heap.peek()) {
      this.#heap.pop();
      fire(entry);
    }
  }
}

/** An error of a component is the component's, and not of whoever lets time pass. */
function fire({ callback }: Entry): void {
  try {
    callback();
  } catch (error) {
    if (!handStray(error)) throw error;
  }
}

export const virtualClock = (options: VirtualClockOptions = {}): VirtualClock => new HeapClock(options);
