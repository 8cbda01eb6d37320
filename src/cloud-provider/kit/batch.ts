// Requests about single things that come close together, sent as one. When a batch fails because of one of its items, each is sent alone, so that
// one bad item does not fail the others.
import type { Clock } from '#utils';
import { loneItemsMax } from './limits.ts';
import { atMost } from '#host';

export interface BatcherOptions<Item, Result> {
  clock: Pick<Clock, 'monotonic' | 'setTimer'>;
  /** The batch leaves when no item came for this long. */
  idleMs: number;
  /** The batch leaves when its first item is this old. */
  ageMaxMs: number;
  /** The batch leaves when it has so many items. */
  sizeMax: number;
  /** One result for each item, in their order; an `Error` among them fails its own item. */
  send(items: readonly Item[]): Promise<readonly (Result | Error)[]>;
  /** Whether a batch failed for what one of its items is. Default: never; the failure is everybody's. */
  failsAlone?(error: unknown): boolean;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** A function that sends one item with the next batch. */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): (item: Item) => Promise<Result> {
  const { clock, idleMs, ageMaxMs, sizeMax, send, failsAlone = () => false } = options;
  let waiting: Waiting<Item, Result>[] = [];
  let sinceMs = 0;
  let timer: { cancel(): void } | undefined;

  async function deliver(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    const results = await send(batch.map(({ item }) => item));
    for (const [index, { resolve, reject }] of batch.entries()) {
      const result = results[index];
      if (result instanceof Error) reject(result);
      else if (index >= results.length) reject(new Error(`a batch of ${batch.length} got ${results.length} results`));
      else resolve(result as Result);
    }
  }
  async function leave(): Promise<void> {
    timer?.cancel();
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    try {
      await deliver(batch);
    } catch (error) {
      if (batch.length === 1 || !failsAlone(error)) return batch.forEach(({ reject }) => reject(error));
      const few = atMost(loneItemsMax);
      await Promise.all(batch.map((one) => few(() => deliver([one]).catch(one.reject))));
    }
  }
  return (item) =>
    new Promise((resolve, reject) => {
      const nowMs = clock.monotonic();
      if (waiting.length === 0) sinceMs = nowMs;
      waiting.push({ item, resolve, reject });
      timer?.cancel();
      if (waiting.length >= sizeMax) return void leave();
      timer = clock.setTimer(Math.min(idleMs, sinceMs + ageMaxMs - nowMs), () => void leave());
    });
}
