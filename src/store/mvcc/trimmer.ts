// Lets memory follow compactions, in slices, and knows what they have left: what the log must keep.
import { sliceRevisionsMax } from '../limits.ts';
import type { History } from './history.ts';
import type { Change, Reachable, RevisionLog } from './log.ts';
import { trim, versionAt } from './record.ts';
import type { KeyRecord, Version } from './record.ts';
import type { SortedIndex } from './sorted-index.ts';

export interface TrimmerOptions {
  index: SortedIndex<KeyRecord>;
  history: History;
  log: RevisionLog | undefined;
  /** What the store was compacted to when it was opened. */
  compactedRevision: number;
}

export class Trimmer implements Reachable {
  readonly #options: TrimmerOptions;
  #target: number;
  #running = false;
  #lightening = false;

  constructor(options: TrimmerOptions) {
    this.#options = options;
    this.#target = options.compactedRevision;
  }

  /** Forgets what a durable compaction at `revision` makes unreachable. */
  trimTo(revision: number): void {
    this.#target = revision;
    if (!this.#running) this.#slice();
  }

  /** Has the older half of a past that weighs too much compacted before anybody asks for it. */
  lighten(compact: (revision: number) => Promise<void>): void {
    const revision = this.#lightening ? undefined : this.#options.history.outgrown;
    if (revision === undefined || revision <= this.#target) return;
    this.#lightening = true;
    const over = (): void => void (this.#lightening = false);
    compact(revision).then(over, over);
  }

  /** Forgets at once what the compaction before the start made unreachable. */
  trimAll(): void {
    const { index, log } = this.#options;
    const dead: Version[] = [];
    const empty: KeyRecord[] = [];
    index.walk({ start: '', end: undefined }, (record) => {
      if (trim(record, this.#target, dead)) empty.push(record);
      return true;
    });
    for (const record of empty) index.delete(record);
    log?.forget(dead);
  }

  /** Whether some reader or watcher can still ask for a change that is durable. */
  has({ kv, sub }: Change): boolean {
    if (kv.modRevision > this.#target) return true;
    const version = versionAt(this.#options.index.get(kv.key)?.head, kv.modRevision);
    return version?.kv.modRevision === kv.modRevision && version.sub === sub;
  }

  /** All that can be reached, in the order in which it happened. */
  inOrder(): Change[] {
    const changes = this.all().map(({ change }) => change);
    return changes.sort((a, b) => a.kv.modRevision - b.kv.modRevision || a.sub - b.sub);
  }

  all(): { change: Change; last: boolean }[] {
    const { index, history } = this.#options;
    const changes: { change: Change; last: boolean }[] = [];
    const { first, last } = history;
    index.walk({ start: '', end: undefined }, ({ durable }) => {
      const older = versionAt(durable, first - 1);
      if (older) changes.push({ change: older, last: true });
      return true;
    });
    for (let revision = first; revision <= last; revision++) {
      const versions = history.at(revision);
      versions.forEach((change, i) => changes.push({ change, last: i === versions.length - 1 }));
    }
    return changes;
  }

  #slice(): void {
    const { index, history, log } = this.#options;
    const target = this.#target;
    const from = history.first;
    const to = Math.min(target, from + sliceRevisionsMax - 1, history.last);
    const dead: Version[] = [];
    for (let revision = from; revision <= to; revision++) {
      for (const { record, prev, deleted } of history.at(revision)) {
        if ((prev || deleted) && trim(record, target, dead)) index.delete(record);
      }
    }
    history.dropBelow(Math.min(to + 1, target));
    log?.forget(dead);
    this.#running = to < Math.min(this.#target, history.last);
    if (this.#running) setImmediate(() => this.#slice());
  }
}
