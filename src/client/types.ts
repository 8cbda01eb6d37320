// What every component uses to speak to an apiserver, in-process or over TLS: typed resource clients, informers with indexes, work queue.
// Modelled on client-go's contracts (k8s.io/client-go), without its machinery.
import type { GroupVersionResource, KubeList, KubeObject } from '#apimachinery/meta';
import type { CallOptions, DeleteOptions, PatchType, Transport, WatchCall, WatchStream } from '#apimachinery/transport';

/** Operations on one resource; `namespace` fixed for namespaced ones. Answers are frozen. Every method rejects with `StatusError`. */
export interface ResourceClient<T extends KubeObject> {
  get(name: string, options?: CallOptions): Promise<T>;
  list(options?: CallOptions): Promise<KubeList<T>>;
  create(object: T, options?: CallOptions): Promise<T>;
  update(object: T, options?: CallOptions): Promise<T>;
  updateStatus(object: T, options?: CallOptions): Promise<T>;
  patch(name: string, type: PatchType, body: unknown, options?: CallOptions & { subresource?: string }): Promise<T>;
  delete(name: string, options?: DeleteOptions): Promise<unknown>;
  deleteCollection(options?: CallOptions, deleteOptions?: DeleteOptions): Promise<unknown>;
  /** create on a subresource: pods/binding, pods/eviction, serviceaccounts/token. */
  createSubresource<R = unknown>(name: string, subresource: string, body: unknown): Promise<R>;
  watch(options?: WatchCall['options']): Promise<WatchStream<T>>;
}

export interface KubeClient {
  readonly transport: Transport;
  resource<T extends KubeObject>(gvr: GroupVersionResource, namespace?: string): ResourceClient<T>;
  close(): void;
}

/** Index functions by name; each gives the values under which an object is found. Must be pure. */
export type Indexers<T> = Record<string, (object: T) => readonly string[]>;

/** Read side of an informer. Objects are frozen and shared. */
export interface Lister<T extends KubeObject> {
  get(namespace: string, name: string): T | undefined;
  /** All objects, or one namespace's. The array is fresh, the objects are not. */
  list(namespace?: string): T[];
  byIndex(index: string, value: string): T[];
  /** Version of the newest event seen. */
  resourceVersion(): string;
}

export interface EventHandler<T> {
  onAdd?(object: T, isInInitialList: boolean): void;
  onUpdate?(object: T, old: T): void;
  onDelete?(object: T): void;
}

/** A list and watch kept fresh: resumes after disconnects, re-lists after 410, with jittered back-off. */
export interface Informer<T extends KubeObject> {
  readonly lister: Lister<T>;
  /** Handlers run synchronously in event order and must not throw. Late handlers get an add for every known object. Returns the way to remove it. */
  addHandler(handler: EventHandler<T>): () => void;
  /** Adding an index after start re-indexes. */
  addIndexers(indexers: Indexers<T>): void;
  hasSynced(): boolean;
  /** Resolves after the first list. Never, for a resource that cannot be listed. */
  whenSynced(): Promise<void>;
}

export interface InformerFactory {
  /** The shared informer of a resource (one per resource and selector pair). */
  informer<T extends KubeObject>(
    gvr: GroupVersionResource,
    options?: { namespace?: string; fieldSelector?: string; labelSelector?: string },
  ): Informer<T>;
  /** Starts every informer asked for so far (and later ones at once). */
  start(): void;
  waitForSync(signal?: AbortSignal): Promise<void>;
  stop(): void;
}

/** Rate-limited, de-duplicating queue (client-go workqueue semantics): a key being processed is not handed out twice. */
export interface WorkQueue<K = string> {
  add(key: K): void;
  addAfter(key: K, delayMs: number): void;
  /** Exponential back-off per key, 5 ms to 1000 s by default. */
  addRateLimited(key: K): void;
  forget(key: K): void;
  retries(key: K): number;
  /** Resolves with the next key, or undefined after `shutDown`. Call `done` when finished with it. */
  next(): Promise<K | undefined>;
  /** The next key without waiting. */
  take(): K | undefined;
  done(key: K): void;
  length(): number;
  shutDown(): void;
}

/** Records events as upstream's recorder does: aggregated, spam-filtered, never blocking the caller. */
export interface EventRecorder {
  event(
    regarding: KubeObject,
    type: 'Normal' | 'Warning',
    reason: string,
    message: string,
    options?: { action?: string; related?: KubeObject; fieldPath?: string },
  ): void;
  flush(): Promise<void>;
}
