// What the MVCC core needs from durable storage: a log to which accepted requests are appended, each whole or not at all, in order.
import type { StoreError } from '../errors.ts';
import type { Change, LeaseGrant, StoreContents, StoreUsage } from '../types.ts';

export type { Change, LeaseGrant, StoreContents } from '../types.ts';

/** What one accepted request changes, as the log keeps it. */
export interface LogEntry {
  /** The changes of one revision; empty when nothing was written. */
  readonly versions: readonly Change[];
  readonly granted?: LeaseGrant;
  readonly revoked?: number;
  readonly compactedRevision?: number;
}

/** What compaction has left of all that was appended. */
export interface Reachable {
  has(change: Change): boolean;
  /** All of it; `last` marks the last change of its revision. */
  all(): { change: Change; last: boolean }[];
}

export interface RevisionLog {
  /** Called once, before everything else. */
  begin(reachable: Reachable): void;
  /** Why nothing of that size can be taken at present. What `frees` space later may use room that is kept back from other writes. */
  refusal(bytes: number, frees: boolean): StoreError | undefined;
  /**
   * Takes some entries, the first ones, and resolves with their number once they are durable. One call at a time. After a rejection
   * none of them counts: they are not there when the log is read again, unless the process ends before the log has taken anything else.
   */
  append(entries: readonly LogEntry[]): Promise<number>;
  /** Learns of changes that nobody can reach any more. */
  forget(dead: readonly Change[]): void;
  usage(): Omit<StoreUsage, 'keys'>;
  /** Gives back at once what is not needed any more. */
  defragment(): Promise<void>;
  close(): Promise<void>;
}

/** A fresh store begins at revision 1, as etcd does. */
export const emptyContents: StoreContents = { revision: 1, compactedRevision: 0, historyStart: 2, changes: [], leases: [] };
