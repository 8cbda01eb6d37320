// Entries by key, in key order, cheap to insert into and to walk from anywhere: what LIST and continue tokens need. Keys sit in sorted
// chunks, so an insert moves a few hundred references whatever the size.

const chunkKeysMax = 512;

interface Chunk<V> {
  keys: string[];
  values: V[];
}

/** First index whose key is not below `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first key behind all that begin with `prefix`, which is not empty. */
const endOf = (prefix: string): string => prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);

export class SortedEntries<V> {
  #chunks: Chunk<V>[] = [];
  #index = new Map<string, V>();

  get size(): number {
    return this.#index.size;
  }

  get(key: string): V | undefined {
    return this.#index.get(key);
  }

  set(key: string, value: V): void {
    const existed = this.#index.has(key);
    this.#index.set(key, value);
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at];
    if (!chunk) {
      this.#chunks.push({ keys: [key], values: [value] });
      return;
    }
    const position = lowerBound(chunk.keys, key);
    if (existed) {
      chunk.values[position] = value;
      return;
    }
    chunk.keys.splice(position, 0, key);
    chunk.values.splice(position, 0, value);
    if (chunk.keys.length > chunkKeysMax) this.#split(at, chunk);
  }

  delete(key: string): boolean {
    if (!this.#index.delete(key)) return false;
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at] as Chunk<V>;
    const position = lowerBound(chunk.keys, key);
    chunk.keys.splice(position, 1);
    chunk.values.splice(position, 1);
    if (chunk.keys.length === 0) this.#chunks.splice(at, 1);
    return true;
  }

  clear(): void {
    this.#chunks = [];
    this.#index.clear();
  }

  /** Values whose keys begin with `prefix`, from `start` on, in order. `visit` answers false to stop. */
  walk(prefix: string, start: string, visit: (value: V, key: string) => boolean | void): void {
    const from = start > prefix ? start : prefix;
    for (let at = this.#chunkOf(from); at < this.#chunks.length; at++) {
      const { keys, values } = this.#chunks[at] as Chunk<V>;
      const last = keys.at(-1) as string;
      const end = last.startsWith(prefix) ? keys.length : lowerBound(keys, endOf(prefix));
      for (let i = lowerBound(keys, from); i < end; i++) if (visit(values[i] as V, keys[i] as string) === false) return;
      if (end < keys.length) return;
    }
  }

  /** The value of the last key that begins with `prefix`. */
  last(prefix: string): V | undefined {
    const end = endOf(prefix);
    for (let at = this.#chunkOf(end); at >= 0; at--) {
      const { keys = [], values = [] } = this.#chunks[at] ?? {};
      const position = lowerBound(keys, end) - 1;
      if (position >= 0) return keys[position]?.startsWith(prefix) ? values[position] : undefined;
    }
    return undefined;
  }

  /** How many `walk` would visit: counted by chunks, not one by one. */
  count(prefix: string, start: string): number {
    const from = start > prefix ? start : prefix;
    return Math.max(0, this.#position(endOf(prefix)) - this.#position(from));
  }

  values(prefix: string): V[] {
    const found: V[] = [];
    this.walk(prefix, prefix, (value) => void found.push(value));
    return found;
  }

  /** How many keys are below `key`. */
  #position(key: string): number {
    const chunk = this.#chunkOf(key);
    let position = 0;
    for (let at = 0; at < chunk; at++) position += this.#chunks[at]?.keys.length ?? 0;
    return position + lowerBound(this.#chunks[chunk]?.keys ?? [], key);
  }

  /** The chunk that holds `key`, or would. */
  #chunkOf(key: string): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (((this.#chunks[middle] as Chunk<V>).keys[0] as string) <= key) low = middle;
      else high = middle - 1;
    }
    return Math.max(low, 0);
  }

  #split(at: number, chunk: Chunk<V>): void {
    const half = chunk.keys.length >> 1;
    this.#chunks.splice(at + 1, 0, { keys: chunk.keys.splice(half), values: chunk.values.splice(half) });
  }
}
