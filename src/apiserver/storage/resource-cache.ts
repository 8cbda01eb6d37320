// The objects of one resource in memory, fed by the store's watch: authoritative for reads (design: "Fast by construction", 1). Readers and
// watchers see a change only here, after its durable commit and in revision order.
import { internalError } from '#apimachinery/errors';
import type { KeyValue, StoreEvent } from '#store';
import { keyParts } from './keys.ts';
import { type DecodeStored, fromStored, storedBytes, StoredObject } from './stored-object.ts';
import { SortedEntries } from './sorted-entries.ts';
import { asBuffer } from './encoding.ts';
import type { UnknownObject } from '#apimachinery/meta';
import { CacheEvent } from './event.ts';
import { EventRing } from './event-ring.ts';
import { FieldIndex } from './field-index.ts';
import { LabelIndexes } from './label-indexes.ts';
import { type CacheWatcher, WatcherIndex } from './watchers.ts';

export interface ResourceCacheOptions {
  /** With its trailing '/'. */
  prefix: string;
  namespaced: boolean;
  decode: DecodeStored;
  /** Value of the field that watchers are indexed by. */
  indexedField?: (object: StoredObject) => string;
  /** Called on an object before it is shown; freezes and shares subtrees. */
  finish(object: UnknownObject): void;
  now(): number;
  /** A value that cannot be decoded. */
  onBadValue(key: string, error: unknown): void;
  /** Somebody who follows the changes threw: others follow on. */
  onBadReader(key: string, error: unknown): void;
}

type ChangeHandler = (now: StoredObject | undefined, before: StoredObject | undefined) => void;

interface ExpectedWrite {
  value: Uint8Array;
  object: UnknownObject;
}

export class ResourceCache {
  readonly options: ResourceCacheOptions;
  readonly entries = new SortedEntries<StoredObject>();
  readonly watchers: WatcherIndex;
  /** The index of the field that watchers are told apart by. */
  readonly byField: FieldIndex | undefined;
  readonly byLabel = new LabelIndexes(this.entries);
  #ring = new EventRing(0);
  #handlers: ChangeHandler[] = [];
  #expected = new Map<string, ExpectedWrite[]>();
  #waitingEvents: StoreEvent[] | undefined = [];
  readonly #unreadable = new Map<string, Error>();
  /** Up to here everything was loaded: a remote store's watch may still tell of it. */
  #loadedRevision = 0;
  /** Revision of the newest change of this resource. */
  lastChange = 0;

  constructor(options: ResourceCacheOptions) {
    this.options = options;
    this.byField = options.indexedField && new FieldIndex(options.indexedField);
    this.watchers = new WatcherIndex(options.indexedField, (event, error) => options.onBadReader(event.any.key, error));
  }

  get loaded(): boolean {
    return this.#waitingEvents === undefined;
  }

  get oldestRevision(): number {
    return this.#ring.oldest;
  }

  /** The changes that are remembered. */
  get ring(): EventRing {
    return this.#ring;
  }

  /** Changes after `revision` that are still remembered, in order. */
  eventsAfter(revision: number): CacheEvent[] {
    return this.#ring.after(revision);
  }

  get(key: string): StoredObject | undefined {
    return this.entries.get(key);
  }

  /** Throws 500, as upstream does, where a value at or below `prefix` is stored that cannot be read. */
  checkReadable(prefix: string): void {
    if (this.#unreadable.size === 0) return;
    for (const [key, error] of this.#unreadable)
      if (key.startsWith(prefix)) throw internalError(`unable to transform key ${JSON.stringify(key)}: ${error.message}`);
  }

  watch(watcher: CacheWatcher): () => void {
    return this.watchers.add(watcher);
  }

  onChange(handler: ChangeHandler): () => void {
    this.#handlers.push(handler);
    return () => {
      this.#handlers = this.#handlers.filter((known) => known !== handler);
    };
  }

  /** Announces the object behind a value about to be written, so that it is not parsed again when the store reports it. */
  expect(key: string, value: Uint8Array, object: UnknownObject): () => void {
    const write = { value, object };
    const list = this.#expected.get(key);
    if (list) list.push(write);
    else this.#expected.set(key, [write]);
    return () => {
      const left = (this.#expected.get(key) ?? []).filter((other) => other !== write);
      if (left.length > 0) this.#expected.set(key, left);
      else this.#expected.delete(key);
    };
  }

  /** Takes the state of the store at `revision`; changes heard meanwhile are applied on top. Watchers of an earlier state are ended. */
  load(kvs: readonly KeyValue[], revision: number): void {
    const before = new Map(this.entries.values(this.options.prefix).map((entry) => [entry.key, entry]));
    this.entries.clear();
    this.byField?.clear();
    this.byLabel.clear();
    this.#unreadable.clear();
    this.#ring = new EventRing(revision);
    this.lastChange = Math.max(this.lastChange, revision);
    this.#loadedRevision = revision;
    this.watchers.endAll();
    for (const kv of kvs) {
      const entry = this.#read(kv);
      if (!entry) continue;
      this.entries.set(kv.key, entry);
      this.byField?.change(undefined, entry);
      const old = before.get(kv.key);
      before.delete(kv.key);
      if (old?.revision !== entry.revision) this.#tellHandlers(entry, old);
    }
    for (const gone of before.values()) this.#tellHandlers(undefined, gone);
    const waiting = this.#waitingEvents ?? [];
    this.#waitingEvents = undefined;
    for (const event of waiting) this.apply(event);
  }

  /** Holds events back until the next `load`. */
  suspend(): void {
    this.#waitingEvents ??= [];
  }

  /** Gives what the ring remembers more, in bytes, before it forgets others. */
  apply(event: StoreEvent): number {
    if (this.#waitingEvents) {
      this.#waitingEvents.push(event);
      return 0;
    }
    const { key, modRevision } = event.kv;
    if (modRevision <= this.#loadedRevision) return 0;
    const previous = this.entries.get(key);
    const current = event.type === 'PUT' ? this.#read(event.kv) : undefined;
    if (current) this.entries.set(key, current);
    else this.entries.delete(key);
    this.byField?.change(previous, current);
    this.byLabel.change(previous, current);
    if (event.type === 'DELETE') this.#unreadable.delete(key);
    this.lastChange = modRevision;
    if (!current && !previous) return 0;
    const bytes = event.type === 'PUT' ? event.kv.value.length : (previous?.weight ?? 0);
    const change = new CacheEvent(modRevision, current, previous, this.options.now(), bytes);
    this.#ring.push(change);
    this.watchers.dispatch(change);
    this.#tellHandlers(current, previous);
    return bytes;
  }

  /** The object of a key and value that did not come through the cache (an accepted write, the past). */
  read(kv: KeyValue): StoredObject | undefined {
    return this.#read(kv);
  }

  #tellHandlers(now: StoredObject | undefined, before: StoredObject | undefined): void {
    for (const handler of this.#handlers) {
      try {
        handler(now, before);
      } catch (error) {
        this.options.onBadReader((now ?? before)?.key ?? '', error);
      }
    }
  }

  #read(kv: KeyValue): StoredObject | undefined {
    const { prefix, namespaced, decode, finish } = this.options;
    const at = { key: kv.key, ...keyParts(prefix, kv.key, namespaced), revision: kv.modRevision };
    const object = this.#takeExpected(kv);
    try {
      if (kv.unreadable) throw kv.unreadable;
      if (this.#unreadable.size > 0) this.#unreadable.delete(kv.key);
      if (!object) return fromStored(at, kv.value, decode);
      object.metadata.resourceVersion = String(kv.modRevision);
      finish(object);
      return new StoredObject(at, object, storedBytes(kv.value));
    } catch (error) {
      this.#unreadable.set(kv.key, error as Error);
      this.options.onBadValue(kv.key, error);
      return undefined;
    }
  }

  #takeExpected(kv: KeyValue): UnknownObject | undefined {
    const list = this.#expected.get(kv.key);
    if (!list) return undefined;
    const found = list.find(({ value }) => value === kv.value || asBuffer(value).equals(kv.value));
    if (!found) return undefined;
    if (list.length === 1) this.#expected.delete(kv.key);
    else list.splice(list.indexOf(found), 1);
    return found.object;
  }
}
