// What each loop decided last about each key, for explanation (`sagong explain`). Bounded: the oldest decision goes first.
import { decisionsMax } from './limits.ts';

export interface DecisionRecord {
  controller: string;
  key: string;
  /** Milliseconds since the epoch. */
  atMs: number;
  because: string;
  /** The effects in short, e.g. `create pods`. */
  effects: string[];
  failure?: string;
}

export class Decisions {
  readonly #byKey = new Map<string, DecisionRecord>();

  record(decision: DecisionRecord): void {
    const id = `${decision.controller} ${decision.key}`;
    this.#byKey.delete(id);
    this.#byKey.set(id, decision);
    if (this.#byKey.size <= decisionsMax) return;
    const oldest = this.#byKey.keys().next().value;
    if (oldest !== undefined) this.#byKey.delete(oldest);
  }
  /** The last decision of every loop about `key`. */
  about(key: string): DecisionRecord[] {
    return [...this.#byKey.values()].filter((decision) => decision.key === key);
  }
}
