// The ordered key index: items sorted by `order` in chunks of bounded size, with a hash map for single look-ups. A chunk costs one
// short memory move per insert, which in practice is cheaper than rebalancing tree nodes, and a range is a walk over flat arrays.
// Each chunk counts its live items, so that counting a long range touches chunks and not keys.
import { indexChunkKeysMax } from '../limits.ts';
import type { OrderRange } from '../keys.ts';

export interface Indexed {
  readonly key: string;
  /** `orderOf(key)`. */
  readonly order: string;
}

interface Chunk<T> {
  items: T[];
  live: number;
}

/** First position in `list` whose `orderAt` is >= `order`. */
function lowerBound(length: number, orderAt: (i: number) => string, order: string): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (orderAt(middle) < order) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class SortedIndex<T extends Indexed> {
  readonly #byKey = new Map<string, T>();
  readonly #chunks: Chunk<T>[] = [];
  readonly #isLive: (item: T) => boolean;

  /** `isLive` says whether an item counts; call `adjust` whenever its answer for an indexed item changes. */
  constructor(isLive: (item: T) => boolean) {
    this.#isLive = isLive;
  }

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): T | undefined {
    return this.#byKey.get(key);
  }

  /** Adds an item whose key is not there yet. */
  insert(item: T): void {
    this.#byKey.set(item.key, item);
    const at = Math.min(this.#chunkAt(item.order), Math.max(0, this.#chunks.length - 1));
    const chunk = this.#chunks[at];
    const live = this.#isLive(item) ? 1 : 0;
    if (!chunk) {
      this.#chunks.push({ items: [item], live });
      return;
    }
    const { items } = chunk;
    items.splice(itemAt(items, item.order), 0, item);
    chunk.live += live;
    if (items.length > indexChunkKeysMax) this.#split(at, chunk);
  }

  delete(item: T): void {
    if (!this.#byKey.delete(item.key)) return;
    const at = this.#chunkAt(item.order);
    const chunk = this.#chunks[at];
    if (!chunk) return;
    chunk.items.splice(itemAt(chunk.items, item.order), 1);
    if (this.#isLive(item)) chunk.live--;
    if (chunk.items.length === 0) this.#chunks.splice(at, 1);
  }

  /** An indexed item became live (+1) or stopped being so (-1). */
  adjust(item: T, delta: 1 | -1): void {
    const chunk = this.#chunks[this.#chunkAt(item.order)];
    if (chunk) chunk.live += delta;
  }

  /** Visits the items of a range in order until `visit` answers false. */
  walk(range: OrderRange, visit: (item: T) => boolean): void {
    for (let at = this.#chunkAt(range.start); at < this.#chunks.length; at++) {
      const { items } = this.#chunks[at] as Chunk<T>;
      for (let i = itemAt(items, range.start); i < items.length; i++) {
        const item = items[i] as T;
        if (range.end !== undefined && item.order >= range.end) return;
        if (!visit(item)) return;
      }
    }
  }

  /** Number of live items in a range. */
  liveCount(range: OrderRange): number {
    let count = 0;
    for (let at = this.#chunkAt(range.start); at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at] as Chunk<T>;
      const from = itemAt(chunk.items, range.start);
      const to = range.end === undefined ? chunk.items.length : itemAt(chunk.items, range.end);
      if (to - from === chunk.items.length) count += chunk.live;
      else for (let i = from; i < to; i++) if (this.#isLive(chunk.items[i] as T)) count++;
      if (to < chunk.items.length) break;
    }
    return count;
  }

  /** The chunk that holds `order` or, if none does, the first one with larger items. */
  #chunkAt(order: string): number {
    const last = (at: number): string => {
      const { items } = this.#chunks[at] as Chunk<T>;
      return (items[items.length - 1] as T).order;
    };
    return lowerBound(this.#chunks.length, last, order);
  }

  #split(at: number, chunk: Chunk<T>): void {
    // Keys are often appended in order (names with growing suffixes): leave the left chunk fuller than the right one.
    const items = chunk.items.splice(Math.floor(indexChunkKeysMax * 0.75));
    const live = items.reduce((count, item) => count + (this.#isLive(item) ? 1 : 0), 0);
    chunk.live -= live;
    this.#chunks.splice(at + 1, 0, { items, live });
  }
}

function itemAt<T extends Indexed>(items: readonly T[], order: string): number {
  return lowerBound(items.length, (i) => (items[i] as T).order, order);
}
