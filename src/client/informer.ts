// Shared informers: a list and watch kept fresh (client-go tools/cache Reflector and SharedInformer), one per resource and selector pair.
import { StatusError, type Status } from '#apimachinery/errors';
import { type GroupVersionResource, keyOf, type KubeObject } from '#apimachinery/meta';
import type { WatchEvent } from '#apimachinery/watch';
import { bound, noteCaught } from '#component-base';
import { createTurns, nextTurn, type Turns } from '#host';
import type { Clock, Logger, Rng } from '#utils';
import { Indexer } from './indexer.ts';
import {
  reflectorBackoffMaxMs,
  reflectorBackoffMinMs,
  reflectorUnansweredBackoffMaxMs,
  watchTimeoutMinSeconds,
} from './limits.ts';
import type { EventHandler, Indexers, Informer, InformerFactory, KubeClient, Lister, ResourceClient } from './types.ts';

export interface InformerDeps {
  client: KubeClient;
  clock: Clock;
  rng: Rng;
  logger: Logger;
}

/** Calls one handler with one event, in the failure domain of the code that added the handler. */
type Tell<T> = (event: keyof EventHandler<T>, object: T, other?: T | boolean) => void;

interface Selection {
  namespace?: string;
  fieldSelector?: string;
  labelSelector?: string;
}

const isExpired = (error: unknown): boolean =>
  error instanceof StatusError &&
  (error.status.code === 410 || error.status.reason === 'Expired' || error.status.reason === 'Gone');

class SharedInformer<T extends KubeObject> implements Informer<T> {
  readonly #indexer = new Indexer<T>((index, object, error) =>
    this.#complain('index failed', { index, object: keyOf(object.metadata) }, error),
  );
  readonly #handlers = new Map<EventHandler<T>, Tell<T>>();
  readonly #deps: InformerDeps;
  readonly #gvr: GroupVersionResource;
  readonly #resource: ResourceClient<T>;
  readonly #selection: Selection;
  readonly #logger: Logger;
  readonly #turns: Turns;
  readonly #abort = new AbortController();
  readonly #synced: Promise<void>;
  #markSynced: () => void = () => {};
  #hasSynced = false;
  #started = false;

  constructor(gvr: GroupVersionResource, selection: Selection, deps: InformerDeps) {
    this.#deps = deps;
    this.#gvr = gvr;
    this.#selection = selection;
    this.#resource = deps.client.resource<T>(gvr, selection.namespace);
    this.#turns = createTurns(deps.clock);
    this.#logger = deps.logger.with({ resource: gvr.resource });
    this.#synced = new Promise((resolve) => {
      this.#markSynced = resolve;
    });
  }
  get lister(): Lister<T> {
    return this.#indexer;
  }
  hasSynced(): boolean {
    return this.#hasSynced;
  }
  whenSynced(): Promise<void> {
    return this.#synced;
  }
  addIndexers(indexers: Indexers<T>): void {
    this.#indexer.addIndexers(indexers);
  }
  addHandler(handler: EventHandler<T>): () => void {
    const tell = bound<Parameters<Tell<T>>, void>((...event) => this.#tell(handler, ...event));
    this.#handlers.set(handler, tell);
    for (const object of this.#indexer.list()) tell('onAdd', object, true);
    return () => this.#handlers.delete(handler);
  }
  start(): void {
    if (this.#started) return;
    this.#started = true;
    void this.#run();
  }
  stop(): void {
    this.#abort.abort();
  }

  async #run(): Promise<void> {
    const { clock, rng } = this.#deps;
    let backoffMs = reflectorBackoffMinMs;
    let version = '';
    while (!this.#abort.signal.aborted) {
      try {
        if (version === '') version = await this.#relist();
        const startedAt = clock.monotonic();
        version = await this.#follow(version);
        if (clock.monotonic() - startedAt > reflectorBackoffMaxMs) backoffMs = reflectorBackoffMinMs;
        if (version !== '') continue;
      } catch (error) {
        if (this.#abort.signal.aborted) return;
        if (isExpired(error)) version = '';
        // Nobody to spare answers: who comes back is asked soon, also after a long time.
        if (!(error instanceof StatusError)) backoffMs = Math.min(backoffMs, reflectorUnansweredBackoffMaxMs);
        this.#logger.debug('list or watch failed', { error: String(error) });
      }
      await clock.sleep(backoffMs * (1 + rng.next()), this.#abort.signal).catch(() => {});
      backoffMs = Math.min(backoffMs * 2, reflectorBackoffMaxMs);
    }
  }
  async #relist(): Promise<string> {
    const { fieldSelector, labelSelector } = this.#selection;
    const list = await this.#resource.list({ fieldSelector, labelSelector, resourceVersion: this.#hasSynced ? '' : '0' });
    await this.#replace(list.items);
    const version = list.metadata.resourceVersion ?? '';
    this.#indexer.setResourceVersion(version);
    if (!this.#hasSynced) {
      this.#hasSynced = true;
      this.#markSynced();
    }
    return version;
  }
  /** Replaces the objects in slices, because a large list wakes many handlers. */
  async #replace(items: readonly T[]): Promise<void> {
    const gone = new Set(this.#indexer.keys());
    for (const object of items) {
      if (this.#turns.spent()) await nextTurn();
      this.#abort.signal.throwIfAborted();
      gone.delete(
        object.metadata.namespace ? `${object.metadata.namespace}/${object.metadata.name}` : (object.metadata.name ?? ''),
      );
      this.#store(object);
    }
    for (const key of gone) this.#remove(key);
  }
  /** Follows the watch until it ends; gives the version to resume from, or '' to list again. */
  async #follow(from: string): Promise<string> {
    const { fieldSelector, labelSelector } = this.#selection;
    const timeoutSeconds = Math.floor(watchTimeoutMinSeconds * (1 + this.#deps.rng.next()));
    const stream = await this.#resource.watch({
      fieldSelector,
      labelSelector,
      resourceVersion: from,
      allowWatchBookmarks: true,
      timeoutSeconds,
    });
    let version = from;
    return new Promise((resolve, reject) => {
      let expired = false;
      const onAbort = () => stream.stop();
      this.#abort.signal.addEventListener('abort', onAbort, { once: true });
      // Events come in the domain of the writer; what is done with them belongs to the informer.
      stream.subscribe(
        bound((event) => {
          if (event.type === 'ERROR') {
            expired = true;
            this.#logger.debug('watch error', { status: event.object as unknown as Status });
            stream.stop();
            return;
          }
          try {
            this.#apply(event);
            version = event.object.metadata.resourceVersion ?? version;
            this.#indexer.setResourceVersion(version);
          } catch (error) {
            // Not an event of Kubernetes: what is here is listed again.
            reject(error);
            stream.stop();
          }
        }),
        bound((error) => {
          this.#abort.signal.removeEventListener('abort', onAbort);
          if (error) reject(error);
          else resolve(expired ? '' : version);
        }),
      );
      if (this.#abort.signal.aborted) stream.stop();
    });
  }
  #apply(event: WatchEvent<T>): void {
    if (event.type === 'DELETED') {
      const { namespace, name } = event.object.metadata;
      this.#remove(namespace ? `${namespace}/${name}` : (name ?? ''), event.object);
    } else if (event.type !== 'BOOKMARK') this.#store(event.object);
  }
  #store(object: T): void {
    const old = this.#indexer.set(object);
    if (old?.metadata.resourceVersion === object.metadata.resourceVersion && old?.metadata.uid === object.metadata.uid) return;
    for (const tell of this.#handlers.values()) {
      if (!old) tell('onAdd', object, !this.#hasSynced);
      else tell('onUpdate', object, old);
    }
  }
  #remove(key: string, last?: T): void {
    const old = this.#indexer.delete(key);
    if (old) for (const tell of this.#handlers.values()) tell('onDelete', last ?? old);
  }
  /** A handler that throws loses this event; other handlers, the informer and the process go on. */
  #tell(handler: EventHandler<T>, ...[event, object, other]: Parameters<Tell<T>>): void {
    try {
      if (event === 'onUpdate') handler.onUpdate?.(object, other as T);
      else if (event === 'onAdd') handler.onAdd?.(object, other as boolean);
      else handler.onDelete?.(object);
    } catch (error) {
      this.#complain('event handler failed', { event, object: keyOf(object.metadata) }, error);
    }
  }
  #complain(message: string, about: { object: string } & Record<string, unknown>, error: unknown): void {
    noteCaught(`${message}: ${this.#gvr.resource} ${about.object}`, error);
    this.#logger.error(message, { ...about, error: error instanceof Error ? error.stack : String(error) });
  }
}

/** Makes informers, of which there is one for each resource and pair of selectors. */
export function createInformerFactory(deps: InformerDeps): InformerFactory {
  const informers = new Map<string, SharedInformer<KubeObject>>();
  let started = false;
  return {
    informer<T extends KubeObject>(gvr: GroupVersionResource, selection: Selection = {}): Informer<T> {
      const id = JSON.stringify([
        gvr.group,
        gvr.version,
        gvr.resource,
        selection.namespace,
        selection.fieldSelector,
        selection.labelSelector,
      ]);
      let informer = informers.get(id);
      if (!informer) {
        informer = new SharedInformer<KubeObject>(gvr, selection, deps);
        informers.set(id, informer);
        if (started) informer.start();
      }
      return informer as unknown as Informer<T>;
    },
    start() {
      started = true;
      for (const informer of informers.values()) informer.start();
    },
    async waitForSync(signal) {
      const all = Promise.all([...informers.values()].map((informer) => informer.whenSynced())).then(() => {});
      if (!signal) return all;
      signal.throwIfAborted();
      await Promise.race([
        all,
        new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })),
      ]);
    },
    stop() {
      for (const informer of informers.values()) informer.stop();
    },
  };
}
