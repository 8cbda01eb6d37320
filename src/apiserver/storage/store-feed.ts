// One watch on the whole registry keeps every resource cache in step with the store, whichever store it is. An embedded store tells its
// watchers before a write is acknowledged, so the caches are always current; with a remote etcd a consistent read first asks for its revision.
import { tooLargeResourceVersion } from '#apimachinery/errors';
import { CompactedError, type KeyValue, prefixEnd, type Store, type StoreWatch } from '#store';
import type { Clock, Logger } from '#utils';
import { freshnessWaitMs, healthCheckTimeoutMs, loadPageKeys, ringsBytesMax, ringsLookBytes } from '../limits.ts';
import { shed } from './event-ring.ts';
import { registryPrefix } from './keys.ts';
import type { ResourceCache } from './resource-cache.ts';

export interface StoreFeedOptions {
  store: Store;
  clock: Clock;
  logger: Logger;
  /** The store is lost to this process: an embedded one that has stopped. A remote one may come back and never ends here. */
  onLost?(error: Error): void;
}

interface Waiter {
  revision: number;
  done(): void;
}

export class StoreFeed {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #onLost: (error: Error) => void;
  /** By prefix; looked up by the first two or three segments of a key. */
  readonly #caches = new Map<string, ResourceCache>();
  readonly #progressHandlers = new Set<(revision: number) => void>();
  #watch: StoreWatch | undefined;
  #waiters: Waiter[] = [];
  #revision = 0;
  #closed = false;
  #failure: Error | undefined;
  #synced = false;
  #probe: Promise<void> | undefined;
  /** Bytes that the rings of the caches have taken since they were looked at. */
  #remembered = 0;

  constructor({ store, clock, logger, onLost = () => {} }: StoreFeedOptions) {
    this.#onLost = onLost;
    this.#store = store;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Everything up to here has been seen by every cache. */
  get revision(): number {
    return this.#revision;
  }

  /** Why the feed stopped for good, if it did. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Whether the caches have been filled and follow the store; not while it is read again. */
  get synced(): boolean {
    return this.#synced;
  }

  /** Rejects unless the store answers now. Those who ask at once share one request. */
  check(): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    if (this.#store.consistency === 'local') return Promise.resolve();
    this.#probe ??= this.#askStore().finally(() => {
      this.#probe = undefined;
    });
    return this.#probe;
  }

  /** Checks the store as `check` does, and rejects as well while the store takes no writes. */
  async checkWritable(): Promise<void> {
    await this.check();
    const refusal = this.#store.writeRefusal();
    if (refusal) throw refusal;
  }

  /** Loads the registered caches and follows the store from there. */
  async start(): Promise<void> {
    const { kvs, revision } = await this.#readAll(registryPrefix);
    if (this.#closed) return;
    this.#follow(revision + 1);
    this.#advance(revision);
    const byCache = new Map<ResourceCache, KeyValue[]>([...this.#caches.values()].map((cache) => [cache, []]));
    for (const kv of kvs) {
      const cache = this.#cacheOf(kv.key);
      if (cache) byCache.get(cache)?.push(kv);
    }
    for (const [cache, own] of byCache) cache.load(own, revision);
    this.#synced = true;
  }

  /** Adds a cache. After `start` it is loaded on its own; resolves when it can be read. */
  async register(cache: ResourceCache): Promise<void> {
    this.#caches.set(cache.options.prefix, cache);
    if (this.#watch) await this.#load(cache);
  }

  unregister(cache: ResourceCache): void {
    this.#caches.delete(cache.options.prefix);
    cache.watchers.endAll();
  }

  /** A revision at least as new as every write acknowledged before the call, reached by every cache. */
  current(): number | Promise<number> {
    return this.#store.consistency === 'local' ? this.#revision : this.#askCurrent();
  }

  async #askCurrent(): Promise<number> {
    const { revision } = await this.#store.range({ key: registryPrefix, limit: 1, keysOnly: true });
    await this.waitFor(revision);
    return this.#revision;
  }

  /** Waits for a revision; undefined when it is there. Rejects with upstream's "Too large resource version" when it does not come in time. */
  waitFor(revision: number): Promise<void> | undefined {
    if (this.#revision >= revision) return undefined;
    this.#watch?.progress();
    return this.written(revision);
  }

  /** Waits, as `waitFor`, for the revision of a write to the registry, whose event comes without asking. */
  written(revision: number, timeoutMs = freshnessWaitMs): Promise<void> | undefined {
    if (this.#revision >= revision) return undefined;
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        revision,
        done: () => {
          timer.cancel();
          resolve();
        },
      };
      const timer = this.#clock.setTimer(timeoutMs, () => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        reject(tooLargeResourceVersion(revision, this.#revision));
      });
      this.#waiters.push(waiter);
    });
  }

  /** Called after each batch of changes, with the revision reached. */
  onProgress(handler: (revision: number) => void): () => void {
    this.#progressHandlers.add(handler);
    return () => void this.#progressHandlers.delete(handler);
  }

  close(): void {
    this.#closed = true;
    this.#watch?.cancel();
    for (const cache of this.#caches.values()) cache.watchers.endAll();
  }

  #follow(startRevision: number): void {
    this.#watch = this.#store.watch({
      key: registryPrefix,
      rangeEnd: prefixEnd(registryPrefix),
      startRevision,
      onEvents: (events, revision) => {
        for (const event of events) this.#remembered += this.#cacheOf(event.kv.key)?.apply(event) ?? 0;
        this.#shedHistory();
        this.#advance(revision);
      },
      onEnd: (error) => void this.#restart(error),
    });
  }

  /** Each ring has a bound of its own; there may be any number of them, as of custom resources. */
  #shedHistory(): void {
    if (this.#remembered < ringsLookBytes) return;
    this.#remembered = 0;
    shed(
      [...this.#caches.values()].map(({ ring }) => ring),
      ringsBytesMax,
    );
  }

  /** The watch was lost: read everything again, as a reflector does. */
  async #restart(error: Error): Promise<void> {
    if (this.#closed) return;
    this.#synced = false;
    for (const cache of this.#caches.values()) cache.suspend();
    let delayMs = error instanceof CompactedError ? 0 : 500;
    for (;;) {
      this.#logger.warn('watch of the store ended; reading it again', { err: error.message });
      await this.#clock.sleep(delayMs);
      if (this.#closed) return;
      try {
        await this.start();
        this.#failure = undefined;
        return;
      } catch (again) {
        this.#failure = again as Error;
        if (this.#store.consistency === 'local') return this.#onLost(again as Error);
        delayMs = Math.min(Math.max(delayMs, 250) * 2, 30_000);
      }
    }
  }

  async #askStore(): Promise<void> {
    const patience = new AbortController();
    const late = this.#clock.sleep(healthCheckTimeoutMs, patience.signal).then(() => {
      throw new Error('error getting data from etcd: context deadline exceeded');
    });
    late.catch(() => {});
    try {
      await Promise.race([this.#store.range({ key: `${registryPrefix}health`, countOnly: true }), late]);
    } finally {
      patience.abort();
    }
  }

  async #load(cache: ResourceCache): Promise<void> {
    cache.suspend();
    const { kvs, revision } = await this.#readAll(cache.options.prefix);
    cache.load(kvs, revision);
  }

  /** All keys of a prefix at one revision, in pages. */
  async #readAll(prefix: string): Promise<{ kvs: KeyValue[]; revision: number }> {
    const kvs: KeyValue[] = [];
    const rangeEnd = prefixEnd(prefix);
    let key = prefix;
    let revision = 0;
    for (;;) {
      const page = await this.#store.range({ key, rangeEnd, limit: loadPageKeys, ...(revision > 0 && { revision }) });
      if (revision === 0) revision = page.revision;
      for (const kv of page.kvs) kvs.push(kv);
      const last = page.kvs.at(-1);
      if (!page.more || !last) return { kvs, revision };
      key = `${last.key}\0`;
    }
  }

  #advance(revision: number): void {
    if (revision <= this.#revision) return;
    this.#revision = revision;
    if (this.#waiters.length > 0) {
      const ready = this.#waiters.filter((waiter) => waiter.revision <= revision);
      this.#waiters = this.#waiters.filter((waiter) => waiter.revision > revision);
      for (const waiter of ready) waiter.done();
    }
    for (const handler of this.#progressHandlers) this.#tellProgress(handler, revision);
  }

  #tellProgress(handler: (revision: number) => void, revision: number): void {
    try {
      handler(revision);
    } catch (error) {
      this.#logger.error('progress was not taken in', { error: error instanceof Error ? error.stack : String(error) });
    }
  }

  /** `/registry/pods/...` or `/registry/services/specs/...`: the longer prefix wins. */
  #cacheOf(key: string): ResourceCache | undefined {
    const first = key.indexOf('/', registryPrefix.length);
    if (first < 0) return undefined;
    const second = key.indexOf('/', first + 1);
    const longer = second < 0 ? undefined : this.#caches.get(key.slice(0, second + 1));
    return longer ?? this.#caches.get(key.slice(0, first + 1));
  }
}
