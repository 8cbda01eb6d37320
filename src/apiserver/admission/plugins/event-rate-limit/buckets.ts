// Buckets of tokens, one for each key; the least recently used ones are forgotten, and are full when they come again.
import type { Clock } from '#utils';

export interface BucketOptions {
  /** Tokens that come back in a second. */
  qps: number;
  /** Tokens of a full bucket. */
  burst: number;
  /** Buckets that are remembered. */
  cacheSize: number;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

export class Buckets {
  readonly #options: BucketOptions;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** In the order of their last use. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: BucketOptions, clock: Pick<Clock, 'monotonic'>) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Takes a token of the key's bucket; false when it is empty. */
  take(key: string): boolean {
    const { qps, burst, cacheSize } = this.#options;
    const atMs = this.#clock.monotonic();
    const known = this.#buckets.get(key);
    const tokens = known ? Math.min(burst, known.tokens + ((atMs - known.atMs) * qps) / 1000) : burst;
    this.#buckets.delete(key);
    this.#buckets.set(key, { tokens: tokens >= 1 ? tokens - 1 : tokens, atMs });
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > cacheSize && oldest !== undefined) this.#buckets.delete(oldest);
    return tokens >= 1;
  }
}
