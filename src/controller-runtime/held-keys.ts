// Keys that wait until the cache has seen the loop's own writes (`own-writes.ts`): no key does so for longer than a bound, and all are looked at again
// with every event.
import type { WorkQueue } from '#client';
import { bound } from '#component-base';
import type { Clock } from '#utils';
import { holdBackMs } from './limits.ts';
import type { OwnWrites } from './own-writes.ts';

export class HeldKeys {
  readonly #writes: OwnWrites;
  readonly #queue: Pick<WorkQueue, 'add' | 'addAfter'>;
  readonly #clock: Clock;
  /** Since when each waits, on the monotonic clock. */
  readonly #since = new Map<string, number>();
  #releasing = false;

  constructor(writes: OwnWrites, queue: Pick<WorkQueue, 'add' | 'addAfter'>, clock: Clock) {
    this.#writes = writes;
    this.#queue = queue;
    this.#clock = clock;
  }

  /** Whether the key has to wait; it comes back to the queue by itself. */
  mustWait(key: string): boolean {
    if (this.#writes.seen(key)) {
      this.#since.delete(key);
      return false;
    }
    const nowMs = this.#clock.monotonic();
    const since = this.#since.get(key) ?? nowMs;
    if (nowMs - since >= holdBackMs) {
      this.#since.delete(key);
      this.#writes.forget(key);
      return false;
    }
    this.#since.set(key, since);
    this.#queue.addAfter(key, holdBackMs - (nowMs - since));
    return true;
  }

  /** After an event: keys whose writes the cache has seen by now go on. They are looked at once for all events of one turn. */
  release(): void {
    if (this.#since.size === 0 || this.#releasing) return;
    this.#releasing = true;
    queueMicrotask(
      bound(() => {
        this.#releasing = false;
        for (const key of this.#since.keys())
          if (this.#writes.seen(key)) {
            this.#since.delete(key);
            this.#queue.add(key);
          }
      }),
    );
  }
}
