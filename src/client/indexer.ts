// The thread-safe-store of client-go, on one thread: objects by key and by any number of indexes.
import { keyOf, type KubeObject } from '#apimachinery/meta';
import type { Indexers, Lister } from './types.ts';

const byNamespace = 'namespace';

export class Indexer<T extends KubeObject> implements Lister<T> {
  readonly #items = new Map<string, T>();
  readonly #functions: Indexers<T> = { [byNamespace]: (object) => [object.metadata.namespace ?? ''] };
  readonly #indexes = new Map<string, Map<string, Map<string, T>>>([[byNamespace, new Map()]]);
  #resourceVersion = '';

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
      for (const [key, object] of this.#items) for (const value of values(object)) insert(buckets, value, key, object);
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
    for (const [name, values] of Object.entries(this.#functions)) {
      const buckets = this.#indexes.get(name);
      if (!buckets) continue;
      const now = values(object);
      if (old) for (const value of values(old)) if (!now.includes(value)) drop(buckets, value, key);
      for (const value of now) insert(buckets, value, key, object);
    }
    return old;
  }
  delete(key: string): T | undefined {
    const old = this.#items.get(key);
    if (!old) return undefined;
    this.#items.delete(key);
    for (const [name, values] of Object.entries(this.#functions)) {
      const buckets = this.#indexes.get(name);
      if (buckets) for (const value of values(old)) drop(buckets, value, key);
    }
    return old;
  }
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
