// What each loop decided last about each key, for explanation (`sagong explain`). Bounded: the oldest decision goes first.
import { decisionsMax } from './limits.ts';
import type { ObjectId } from './types.ts';

export interface DecisionRecord {
  controller: string;
  /** The loop's key. */
  key: string;
  /** The object that the key names; absent: the decision is about the whole cluster. */
  about?: ObjectId | undefined;
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
  /** The last decision of every loop about one object. */
  about({ group, resource, key }: ObjectId): DecisionRecord[] {
    return [...this.#byKey.values()].filter(
      ({ about }) => about?.key === key && about.resource === resource && about.group === group,
    );
  }
}
