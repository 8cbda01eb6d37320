// The thread-safe-store of client-go, on one thread: objects by key and by any number of indexes.
import { keyOf, type KubeObject } from '#apimachinery/meta';
import type { Indexers, Lister } from './types.ts';

const byNamespace = 'namespace';

export class Indexer<T extends KubeObject> implements Lister<T> {
  readonly #items = new Map<string, T>();
  readonly #functions: Indexers<T> = { [byNamespace]: (object) => [object.metadata.namespace ?? ''] };
  readonly #indexes = new Map<string, Map<string, Map<string, T>>>([[byNamespace, new Map()]]);
  readonly #onBadIndex: (index: string, object: T, error: unknown) => void;
  #resourceVersion = '';

  /** `onBadIndex` hears of a function that threw: by that index the object is not found. */
  constructor(onBadIndex: (index: string, object: T, error: unknown) => void) {
    this.#onBadIndex = onBadIndex;
  }

  get(namespace: string, name: string): T | undefined {
    return this.#items.get(namespace === '' ? name : `${namespace}/${name}`);
  }
  list(namespace?: string): T[] {
    return namespace === undefined || namespace === '' ? [...this.#items.values()] : this.byIndex(byNamespace, namespace);
  }
  byIndex(index: string, value: string): T[] {
    const buckets = this.#indexes.get(index);
    if (!buckets) throw new Error(`no index named ${index}`);
    const bucket = buckets.get(value);
    return bucket ? [...bucket.values()] : [];
  }
  resourceVersion(): string {
    return this.#resourceVersion;
  }
  setResourceVersion(version: string): void {
    this.#resourceVersion = version;
  }
  addIndexers(indexers: Indexers<T>): void {
    for (const [name, values] of Object.entries(indexers)) {
      if (this.#functions[name]) continue;
      this.#functions[name] = values;
      const buckets = new Map<string, Map<string, T>>();
      this.#indexes.set(name, buckets);
      for (const [key, object] of this.#items)
        for (const value of this.#valuesOf(name, object)) insert(buckets, value, key, object);
    }
  }
  keys(): string[] {
    return [...this.#items.keys()];
  }
  byKey(key: string): T | undefined {
    return this.#items.get(key);
  }
  /** Stores the object and gives the one it replaced. */
  set(object: T): T | undefined {
    const key = keyOf(object.metadata);
    const old = this.#items.get(key);
    this.#items.set(key, object);
    for (const name of Object.keys(this.#functions)) {
      const buckets = this.#indexes.get(name);
      if (!buckets) continue;
      const now = this.#valuesOf(name, object);
      if (old) for (const value of without(this.#valuesOf(name, old), now)) drop(buckets, value, key);
      for (const value of now) insert(buckets, value, key, object);
    }
    return old;
  }
  delete(key: string): T | undefined {
    const old = this.#items.get(key);
    if (!old) return undefined;
    this.#items.delete(key);
    for (const name of Object.keys(this.#functions)) {
      const buckets = this.#indexes.get(name);
      if (buckets) for (const value of this.#valuesOf(name, old)) drop(buckets, value, key);
    }
    return old;
  }
  #valuesOf(index: string, object: T): readonly string[] {
    try {
      return this.#functions[index]?.(object) ?? [];
    } catch (error) {
      this.#onBadIndex(index, object, error);
      return [];
    }
  }
}

/** The values of `old` that are not in `now`. Both mostly have one value, and tens of thousands where an object has as many owners. */
function without(old: readonly string[], now: readonly string[]): readonly string[] {
  if (old.length * now.length < 64) return old.filter((value) => !now.includes(value));
  const kept = new Set(now);
  return old.filter((value) => !kept.has(value));
}

function insert<T>(buckets: Map<string, Map<string, T>>, value: string, key: string, object: T): void {
  const bucket = buckets.get(value);
  if (bucket) bucket.set(key, object);
  else buckets.set(value, new Map([[key, object]]));
}

function drop<T>(buckets: Map<string, Map<string, T>>, value: string, key: string): void {
  const bucket = buckets.get(value);
  if (bucket?.delete(key) && bucket.size === 0) buckets.delete(value);
}
