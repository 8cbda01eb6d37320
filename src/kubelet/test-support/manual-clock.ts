// A clock that moves only when told to; for unit tests of this room.
import type { Clock, Timer } from '#utils';

export class ManualClock implements Clock {
  #now = Date.UTC(2026, 0, 1);
  #timers: { atMs: number; callback: () => void }[] = [];

  now(): number {
    return this.#now;
  }
  monotonic(): number {
    return this.#now;
  }
  setTimer(delayMs: number, callback: () => void): Timer {
    const timer = { atMs: this.#now + Math.max(0, delayMs), callback };
    this.#timers.push(timer);
    return { cancel: () => void (this.#timers = this.#timers.filter((other) => other !== timer)) };
  }
  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.setTimer(delayMs, resolve));
  }
  get pending(): number {
    return this.#timers.length;
  }
  /** Moves on, running timers in order and letting promises settle in between. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      await settle();
      const next = this.#timers.filter(({ atMs }) => atMs <= until).sort((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#now = Math.max(this.#now, next.atMs);
      next.callback();
    }
    this.#now = until;
    await settle();
  }
}

/** Lets pending promise callbacks run. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 10; round++) await new Promise<void>((resolve) => setImmediate(resolve));
}
