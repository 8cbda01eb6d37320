// All durable changes since the compacted revision, one entry per revision without gaps: what a watch resumes from.
import { historyBytesMax, versionBytes } from '../limits.ts';
import type { Version } from './record.ts';

/** What a change keeps in memory that is only of the past: the values that it replaced. */
const replacedBytes = (versions: readonly Version[]): number =>
  versions.reduce((bytes, { prev }) => bytes + versionBytes + (prev?.kv.value.length ?? 0), 0);

export class History {
  #entries: (readonly Version[])[] = [];
  /** What each entry keeps of the past, and all together. */
  #weights: number[] = [];
  #bytes = 0;
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
    const weight = replacedBytes(versions);
    this.#weights.push(weight);
    this.#bytes += weight;
  }

  /** The revision up to which the older half would have to be forgotten, when the past has become too heavy. */
  get outgrown(): number | undefined {
    if (this.#bytes <= historyBytesMax) return undefined;
    let [left, at] = [this.#bytes, this.#offset];
    while (left > historyBytesMax / 2 && at < this.#weights.length) left -= this.#weights[at++] ?? 0;
    return this.#first + at - this.#offset - 1;
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
    for (let at = this.#offset; at < this.#offset + count; at++) this.#bytes -= this.#weights[at] ?? 0;
    this.#offset += count;
    this.#first += count;
    if (this.#offset * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#offset);
      this.#weights = this.#weights.slice(this.#offset);
      this.#offset = 0;
    }
  }
}
