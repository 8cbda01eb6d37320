// Stored objects by the value of one field (spec.nodeName of pods, one label): who asks for those of one node does not look at all of them.
import type { StoredObject } from './stored-object.ts';

export class FieldIndex {
  readonly #valueOf: (object: StoredObject) => string | undefined;
  readonly #byValue = new Map<string, Map<string, StoredObject>>();

  /** Objects for which `valueOf` is undefined are in no list. */
  constructor(valueOf: (object: StoredObject) => string | undefined) {
    this.#valueOf = valueOf;
  }

  /** `before` is what was stored under the key, `now` what is. */
  change(before: StoredObject | undefined, now: StoredObject | undefined): void {
    if (before) this.#drop(before);
    const value = now && this.#valueOf(now);
    if (!now || value === undefined) return;
    const known = this.#byValue.get(value);
    if (known) known.set(now.key, now);
    else this.#byValue.set(value, new Map([[now.key, now]]));
  }

  clear(): void {
    this.#byValue.clear();
  }

  /** How many objects have one of these values. */
  count(values: readonly string[]): number {
    let count = 0;
    for (const value of values) count += this.#byValue.get(value)?.size ?? 0;
    return count;
  }

  /** The objects that have one of these values, each of which is given once, in the order of their keys. */
  find(values: readonly string[]): StoredObject[] {
    const found = values.flatMap((value) => [...(this.#byValue.get(value)?.values() ?? [])]);
    return found.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  #drop(object: StoredObject): void {
    const value = this.#valueOf(object);
    const known = value === undefined ? undefined : this.#byValue.get(value);
    if (value !== undefined && known?.delete(object.key) && known.size === 0) this.#byValue.delete(value);
  }
}
