// Indexes of the labels that lists select by: who asks for `app=web` again and again does not look at all objects each time. A label is indexed when it
// is asked for a second time, where there are many objects. Each resource has a few such indexes, and the one that was not asked for the longest goes.
import type { Requirement } from '#apimachinery/labels';
import { indexedCandidatesMax, labelIndexesMax, labelIndexObjectsMin } from '../limits.ts';
import { FieldIndex } from './field-index.ts';
import { paced, type Rest } from './paced.ts';
import type { SortedEntries } from './sorted-entries.ts';
import type { StoredObject } from './stored-object.ts';

interface LabelIndex {
  /** Undefined: the label was asked for once. */
  objects: FieldIndex | undefined;
  /** Whether all objects are in it. */
  complete: boolean;
}

const labelOf =
  (label: string) =>
  ({ object }: StoredObject): string | undefined => {
    const value: unknown = object.metadata.labels?.[label];
    return typeof value === 'string' ? value : undefined;
  };

export class LabelIndexes {
  readonly #entries: SortedEntries<StoredObject>;
  /** By the name of the label; what was asked for last comes last. */
  readonly #byLabel = new Map<string, LabelIndex>();

  constructor(entries: SortedEntries<StoredObject>) {
    this.#entries = entries;
  }

  /** `before` is what was stored under the key, `now` what is. */
  change(before: StoredObject | undefined, now: StoredObject | undefined): void {
    for (const { objects } of this.#byLabel.values()) objects?.change(before, now);
  }

  clear(): void {
    this.#byLabel.clear();
  }

  /**
   * The objects that meet one of these requirements, in the order of their keys. Undefined where no index can say, or where they are so many that they
   * are better looked at in turns with all others. `rest`: between steps of the work on a new index, which goes on after the answer.
   */
  find(requirements: readonly Requirement[], rest: Rest): StoredObject[] | undefined {
    if (this.#entries.size < labelIndexObjectsMin) return undefined;
    let least = indexedCandidatesMax + 1;
    let find: (() => StoredObject[]) | undefined;
    const indexable = requirements.filter(({ operator }) => operator === '=' || operator === '==' || operator === 'in');
    for (const { key, values } of indexable.slice(0, labelIndexesMax)) {
      const objects = this.#asked(key, rest);
      const count = objects?.count(values) ?? Infinity;
      if (count >= least) continue;
      least = count;
      find = () => objects?.find(values) ?? [];
    }
    return find?.();
  }

  /** The index of a label, where all objects are in it. */
  #asked(label: string, rest: Rest): FieldIndex | undefined {
    const known = this.#byLabel.get(label);
    this.#byLabel.delete(label);
    const index = known ?? { objects: undefined, complete: false };
    this.#byLabel.set(label, index);
    if (known && !known.objects) void this.#fill(label, known, rest).catch(() => this.#byLabel.delete(label));
    for (const [oldest] of this.#byLabel) {
      if (this.#byLabel.size <= labelIndexesMax) break;
      this.#byLabel.delete(oldest);
    }
    return index.complete ? index.objects : undefined;
  }

  /** Takes in all that is stored. What changes meanwhile is in it already. */
  async #fill(label: string, index: LabelIndex, rest: Rest): Promise<void> {
    const objects = new FieldIndex(labelOf(label));
    index.objects = objects;
    const pauseBefore = paced(rest);
    for (const entry of this.#entries.values('')) {
      const pause = pauseBefore(entry);
      if (pause) await pause;
      if (this.#byLabel.get(label) !== index) return;
      if (this.#entries.get(entry.key) === entry) objects.change(undefined, entry);
    }
    index.complete = true;
  }
}
