// Who watches what, indexed so that one event reaches its watchers by look-up and not by asking each (design: "Fast by construction", 4):
// a thousand kubelets that watch their own pods cost a map access per pod event.
import type { StoredObject } from './stored-object.ts';
import type { CacheEvent } from './event.ts';

/** What part of a resource a watcher can see at all; '' means any. At most one of `name` and `indexed` narrows further. */
export interface WatchScope {
  namespace: string;
  name: string;
  /** Value of the indexed field (spec.nodeName of pods), or undefined. */
  indexed?: string;
}

export interface CacheWatcher {
  scope: WatchScope;
  /** Called synchronously in revision order. A watcher that throws is ended. */
  onEvent(event: CacheEvent): void;
  /** The cache can not go on for this watcher (it was reloaded or closed): end the stream. */
  onEnd(): void;
}

const scopeKey = ({ namespace, name, indexed }: WatchScope): string => {
  if (name !== '') return `name/${namespace}/${name}`;
  if (indexed !== undefined) return `field/${indexed}`;
  return namespace === '' ? '' : `namespace/${namespace}`;
};

export class WatcherIndex {
  #byScope = new Map<string, Set<CacheWatcher>>();
  #indexedValues = 0;
  readonly #indexedField: ((object: StoredObject) => string) | undefined;
  readonly #onBadWatcher: (event: CacheEvent, error: unknown) => void;

  constructor(
    indexedField: ((object: StoredObject) => string) | undefined,
    onBadWatcher: (event: CacheEvent, error: unknown) => void,
  ) {
    this.#indexedField = indexedField;
    this.#onBadWatcher = onBadWatcher;
  }

  get size(): number {
    let size = 0;
    for (const set of this.#byScope.values()) size += set.size;
    return size;
  }

  /** How many look at whole namespaces or at that one object. */
  interestedIn(namespace: string, name: string): number {
    const at = (key: string): number => this.#byScope.get(key)?.size ?? 0;
    return at('') + (namespace === '' ? 0 : at(`namespace/${namespace}`)) + at(`name/${namespace}/${name}`);
  }

  add(watcher: CacheWatcher): () => void {
    const key = scopeKey(watcher.scope);
    const set = this.#byScope.get(key) ?? new Set();
    this.#byScope.set(key, set.add(watcher));
    if (key.startsWith('field/')) this.#indexedValues++;
    return () => {
      if (!set.delete(watcher)) return;
      if (key.startsWith('field/')) this.#indexedValues--;
      if (set.size === 0 && this.#byScope.get(key) === set) this.#byScope.delete(key);
    };
  }

  dispatch(event: CacheEvent): void {
    if (this.#byScope.size === 0) return;
    const { namespace, name } = event.any;
    this.#tell('', event);
    if (namespace !== '') this.#tell(`namespace/${namespace}`, event);
    this.#tell(`name/${namespace}/${name}`, event);
    if (namespace !== '') this.#tell(`name//${name}`, event);
    if (this.#indexedValues > 0 && this.#indexedField) this.#tellIndexed(event, this.#indexedField);
  }

  /** Ends every watcher. */
  endAll(): void {
    const all = [...this.#byScope.values()].flatMap((set) => [...set]);
    this.#byScope.clear();
    this.#indexedValues = 0;
    for (const watcher of all) watcher.onEnd();
  }

  #tellIndexed(event: CacheEvent, valueOf: (object: StoredObject) => string): void {
    const now = event.current && valueOf(event.current);
    const before = event.previous && valueOf(event.previous);
    if (now !== undefined) this.#tell(`field/${now}`, event);
    if (before !== undefined && before !== now) this.#tell(`field/${before}`, event);
  }

  #tell(key: string, event: CacheEvent): void {
    const set = this.#byScope.get(key);
    if (set) for (const watcher of set) this.#tellOne(watcher, event);
  }

  #tellOne(watcher: CacheWatcher, event: CacheEvent): void {
    try {
      watcher.onEvent(event);
    } catch (error) {
      // What it has missed it reads again.
      this.#onBadWatcher(event, error);
      watcher.onEnd();
    }
  }
}
