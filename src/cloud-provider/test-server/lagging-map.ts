// Things of an account by key, with the eventual consistency of clouds: questions see them as they were `lagMs` ago, changes see the truth.

interface Version<Value> {
  value: Value | undefined;
  sinceMs: number;
}

export class LaggingMap<Value> {
  readonly #now: () => number;
  readonly #lagMs: () => number;
  readonly #versions = new Map<string, Version<Value>[]>();

  constructor(now: () => number, lagMs: () => number) {
    this.#now = now;
    this.#lagMs = lagMs;
  }
  /** The truth. */
  get(key: string): Value | undefined {
    return this.#versions.get(key)?.at(-1)?.value;
  }
  has(key: string): boolean {
    return this.get(key) !== undefined;
  }
  set(key: string, value: Value): this {
    this.#note(key, value);
    return this;
  }
  delete(key: string): boolean {
    if (!this.has(key)) return false;
    this.#note(key, undefined);
    return true;
  }
  *values(): Generator<Value> {
    for (const [key, versions] of this.#versions) {
      const value = versions.at(-1)?.value;
      if (value !== undefined) yield value;
      else this.#forget(key, versions);
    }
  }
  *keys(): Generator<string> {
    for (const key of this.#versions.keys()) if (this.has(key)) yield key;
  }
  get size(): number {
    return [...this.keys()].length;
  }
  /** What a question sees. Values must be replaced, not changed, for the past to stay as it was. */
  seen(key: string): Value | undefined {
    return this.#seenIn(this.#versions.get(key) ?? []);
  }
  *seenValues(): Generator<Value> {
    for (const [key, versions] of this.#versions) {
      const value = this.#seenIn(versions);
      if (value !== undefined) yield value;
      else this.#forget(key, versions);
    }
  }
  #seenIn(versions: Version<Value>[]): Value | undefined {
    const atMs = this.#now() - this.#lagMs();
    const at = versions.findLastIndex(({ sinceMs }) => sinceMs <= atMs);
    if (at > 0) versions.splice(0, at);
    return at < 0 ? undefined : versions[0]?.value;
  }
  /** What is deleted, and is seen to be, is not looked at again. */
  #forget(key: string, versions: readonly Version<Value>[]): void {
    const latest = versions.at(-1);
    if (latest && latest.value === undefined && latest.sinceMs <= this.#now() - this.#lagMs()) this.#versions.delete(key);
  }
  #note(key: string, value: Value | undefined): void {
    const versions = this.#versions.get(key) ?? [];
    // What no question sees any more.
    if (versions.length > 0) this.#seenIn(versions);
    versions.push({ value, sinceMs: this.#now() });
    this.#versions.set(key, versions);
  }
}
