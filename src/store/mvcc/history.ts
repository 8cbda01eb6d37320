// All durable changes since the compacted revision, one entry per revision without gaps: what a watch resumes from.
import type { Version } from './record.ts';

export class History {
  #entries: (readonly Version[])[] = [];
  /** Entries before this position were forgotten. */
  #offset = 0;
  /** Revision of the first entry kept. */
  #first: number;

  /** `first`: the revision that the first `push` will have. */
  constructor(first: number) {
    this.#first = first;
  }

  /** First revision kept (or, if none is, the next one to come). */
  get first(): number {
    return this.#first;
  }

  /** Last revision kept. */
  get last(): number {
    return this.#first + this.#entries.length - this.#offset - 1;
  }

  push(versions: readonly Version[]): void {
    this.#entries.push(versions);
  }

  /** Changes of one revision; empty when it is not kept. */
  at(revision: number): readonly Version[] {
    return revision < this.#first ? [] : (this.#entries[revision - this.#first + this.#offset] ?? []);
  }

  /** Forgets all revisions below `revision`. */
  dropBelow(revision: number): void {
    const count = Math.min(revision, this.last + 1) - this.#first;
    if (count <= 0) return;
    this.#entries.fill([], this.#offset, this.#offset + count);
    this.#offset += count;
    this.#first += count;
    if (this.#offset * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#offset);
      this.#offset = 0;
    }
  }
}
