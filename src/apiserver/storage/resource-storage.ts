// Reads and conditional writes of one resource (k8s.io/apiserver/pkg/storage, Interface): the store decides, the cache answers.
import type { UnknownObject } from '#apimachinery/meta';
import { CompactedError, FutureRevisionError, type KeyValue, prefixEnd, type Store, type TxnResponse } from '#store';
import { sharedSubtreeLengthMax } from '../limits.ts';
import type { ResourceCache } from './resource-cache.ts';
import type { StoreFeed } from './store-feed.ts';
import { canonical } from './encoding.ts';
import { keepUnchanged } from './keep-unchanged.ts';
import { objectKey } from './keys.ts';
import { storedBytes, StoredObject } from './stored-object.ts';

export interface ResourceStorageOptions {
  store: Store;
  feed: StoreFeed;
  cache: ResourceCache;
  /** Makes an object's subtrees shared; runs on what is about to be written. Gives the object's JSON. */
  share(object: UnknownObject): string;
  /** The lease a new object lives under; absent: for ever. */
  lease?: () => Promise<number>;
  /** Whether a value is to be written again although it did not change: it was encrypted with a key of before. */
  isStale?(key: string): boolean;
  /** It is called after each request to the store, with the operation and its seconds. */
  observe?(operation: 'get' | 'list' | 'create' | 'update' | 'delete', seconds: number): void;
  monotonicMs(): number;
}

/** The key changed since `live` was read; `newest` is what is accepted now (undefined: nothing). */
export class WriteConflict {
  readonly newest: StoredObject | undefined;
  constructor(newest: StoredObject | undefined) {
    this.newest = newest;
  }
}

export interface PastPage {
  entries: StoredObject[];
  /** Key of the first entry not taken, when there is one. */
  more: boolean;
  /** Keys left in the range behind the page. */
  remaining: number;
  revision: number;
}

export class ResourceStorage {
  readonly cache: ResourceCache;
  readonly feed: StoreFeed;
  readonly #options: ResourceStorageOptions;

  constructor(options: ResourceStorageOptions) {
    this.#options = options;
    this.cache = options.cache;
    this.feed = options.feed;
  }

  get prefix(): string {
    return this.cache.options.prefix;
  }

  keyOf(namespace: string, name: string): string {
    return objectKey(this.prefix, namespace, name);
  }

  /** The newest committed state; no waiting for embedded stores. Throws 500 for what is stored and cannot be read. */
  read(key: string): StoredObject | undefined {
    const found = this.cache.get(key);
    if (!found) this.cache.checkReadable(key);
    return found;
  }

  /** Whether what is stored is to be written again although it did not change. */
  isStale(key: string): boolean {
    return this.#options.isStale?.(key) ?? false;
  }

  /** Writes a new object. Undefined: the key exists. The object is taken over and frozen. */
  async create(key: string, object: UnknownObject): Promise<StoredObject | undefined> {
    const leasing = this.#options.lease?.();
    const lease = leasing ? await leasing : 0;
    const ready = this.#prepare(object);
    const txn = await this.#write('create', key, ready, (value) => ({
      compare: [{ key, target: 'modRevision' as const, result: '=' as const, value: 0 }],
      success: [{ op: 'put' as const, key, value, ...(lease > 0 && { lease }) }],
    }));
    return txn.succeeded ? this.#written(key, txn.revision, ready) : undefined;
  }

  /** Replaces `live`, if it is still what is stored. Writing the same bytes again writes nothing and answers `live`. */
  async update(live: StoredObject, object: UnknownObject): Promise<StoredObject | WriteConflict> {
    const { key } = live;
    const ready = this.#prepare(object);
    if (ready.value.length > sharedSubtreeLengthMax) keepUnchanged(ready.object, live.object);
    if (live.isStoredAs(ready.value) && !this.isStale(key)) return live;
    const leasing = this.#options.lease?.();
    const lease = leasing ? await leasing : 0;
    const txn = await this.#write('update', key, ready, (value) => ({
      compare: [{ key, target: 'modRevision' as const, result: '=' as const, value: live.revision }],
      success: [{ op: 'put' as const, key, value, ...(lease > 0 && { lease }) }],
      failure: [{ op: 'range' as const, request: { key } }],
    }));
    return txn.succeeded ? this.#written(key, txn.revision, ready) : this.#conflict(txn);
  }

  /** Removes `live`, if it is still what is stored. Answers its last state at the revision of the deletion. */
  async delete(live: StoredObject): Promise<StoredObject | WriteConflict> {
    const { key } = live;
    const started = this.#options.monotonicMs();
    const txn = await this.#options.store.txn({
      compare: [{ key, target: 'modRevision', result: '=', value: live.revision }],
      success: [{ op: 'delete', key }],
      failure: [{ op: 'range', request: { key } }],
    });
    this.#observe('delete', started);
    if (!txn.succeeded) return this.#conflict(txn);
    const late = this.feed.written(txn.revision);
    if (late) await late;
    return live.at(txn.revision);
  }

  /** Entries as they were at `revision` (0: now), from `start` on. Throws the store's CompactedError or FutureRevisionError. */
  async listPast(range: string, start: string, limit: number, revision: number): Promise<PastPage> {
    const started = this.#options.monotonicMs();
    const answer = await this.#options.store.range({ key: start, rangeEnd: prefixEnd(range), limit, revision });
    this.#observe('list', started);
    const entries = answer.kvs.flatMap((kv) => this.cache.read(kv) ?? []);
    return { entries, more: answer.more, remaining: answer.count - answer.kvs.length, revision: revision || answer.revision };
  }

  /** What a creation would have stored, which a dry run answers: the version that came with it stays. */
  notMade(key: string, object: UnknownObject): StoredObject {
    const { namespace = '', name = '' } = object.metadata;
    return new StoredObject({ key, namespace, name, revision: 0 }, object);
  }

  /** An object that is not stored: what a dry run answers. */
  unstored(key: string, object: UnknownObject, revision: number): StoredObject {
    const { namespace = '', name = '' } = object.metadata;
    if (revision > 0) object.metadata.resourceVersion = String(revision);
    else delete object.metadata.resourceVersion;
    return new StoredObject({ key, namespace, name, revision }, object);
  }

  #prepare(object: UnknownObject): { object: UnknownObject; value: Buffer } {
    const ordered = canonical(object);
    return { object: ordered, value: Buffer.from(this.#options.share(ordered)) };
  }

  async #write(
    operation: 'create' | 'update',
    key: string,
    ready: { object: UnknownObject; value: Buffer },
    request: (value: Buffer) => Parameters<Store['txn']>[0],
  ): Promise<TxnResponse> {
    const forget = this.cache.expect(key, ready.value, ready.object);
    const started = this.#options.monotonicMs();
    try {
      const txn = await this.#options.store.txn(request(ready.value));
      this.#observe(operation, started);
      const late = txn.succeeded ? this.feed.written(txn.revision) : undefined;
      if (late) await late;
      return txn;
    } finally {
      forget();
    }
  }

  /** The entry this write made: from the cache, unless a later write has replaced it already. */
  #written(key: string, revision: number, ready: { object: UnknownObject; value: Buffer }): StoredObject {
    const cached = this.cache.get(key);
    if (cached?.revision === revision) return cached;
    const { namespace = '', name = '' } = ready.object.metadata;
    const object = Object.isFrozen(ready.object.metadata)
      ? ready.object
      : { ...ready.object, metadata: { ...ready.object.metadata, resourceVersion: String(revision) } };
    return new StoredObject({ key, namespace, name, revision }, object, storedBytes(ready.value));
  }

  #conflict(txn: TxnResponse): WriteConflict {
    const [answer] = txn.responses;
    const kv: KeyValue | undefined = answer?.op === 'range' ? answer.response.kvs[0] : undefined;
    return new WriteConflict(kv && this.cache.read(kv));
  }

  #observe(operation: 'list' | 'create' | 'update' | 'delete', started: number): void {
    this.#options.observe?.(operation, (this.#options.monotonicMs() - started) / 1000);
  }
}

export const isHistoryGone = (error: unknown): boolean => error instanceof CompactedError;
export const isFutureRevision = (error: unknown): boolean => error instanceof FutureRevisionError;
