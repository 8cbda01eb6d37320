// Stored objects by the value of one field (spec.nodeName of pods): who asks for those of one node does not look at all of them.
import type { StoredObject } from './stored-object.ts';

export class FieldIndex {
  readonly #valueOf: (object: StoredObject) => string;
  readonly #byValue = new Map<string, Map<string, StoredObject>>();

  constructor(valueOf: (object: StoredObject) => string) {
    this.#valueOf = valueOf;
  }

  /** `before` is what was stored under the key, `now` what is. */
  change(before: StoredObject | undefined, now: StoredObject | undefined): void {
    if (before) this.#drop(before);
    if (!now) return;
    const value = this.#valueOf(now);
    const known = this.#byValue.get(value);
    if (known) known.set(now.key, now);
    else this.#byValue.set(value, new Map([[now.key, now]]));
  }

  clear(): void {
    this.#byValue.clear();
  }

  /** In the order of their keys. */
  find(value: string): StoredObject[] {
    return [...(this.#byValue.get(value)?.values() ?? [])].sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  #drop(object: StoredObject): void {
    const value = this.#valueOf(object);
    const known = this.#byValue.get(value);
    if (known?.delete(object.key) && known.size === 0) this.#byValue.delete(value);
  }
}
