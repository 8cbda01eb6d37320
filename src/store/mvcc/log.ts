// What the MVCC core needs from durable storage: batches that are stored whole or not at all, in order.
import type { KeyValue } from '../types.ts';

/** One change of one key. `last` marks the last change of its revision, so that a reader can tell a whole revision from a torn one. */
export interface Change {
  readonly kv: KeyValue;
  readonly deleted: boolean;
  readonly sub: number;
  readonly last: boolean;
}

export interface LeaseGrant {
  readonly id: number;
  readonly ttlSeconds: number;
}

/** Where a change is stored; enough to remove it. */
export interface ChangeId {
  readonly revision: number;
  readonly sub: number;
}

export interface LogBatch {
  /** In revision order. */
  readonly changes: readonly Change[];
  readonly granted: readonly LeaseGrant[];
  readonly revoked: readonly number[];
  /** New compacted revision; 0 when it does not change. */
  readonly compactedRevision: number;
  /** Changes that compaction made unreachable. */
  readonly dead: readonly ChangeId[];
}

export interface RevisionLog {
  /** Resolves once the whole batch is durable. One call at a time. After a rejection nothing is known of the batch: never retried. */
  append(batch: LogBatch): Promise<void>;
  /** Bytes on disk. */
  bytes(): number;
  close(): Promise<void>;
}

/** What a store starts from: read from disk, or taken from a snapshot. */
export interface StoreContents {
  /** Newest revision. */
  readonly revision: number;
  readonly compactedRevision: number;
  /** First revision whose changes are all among `changes`: watches can begin there. */
  readonly historyStart: number;
  /** In order of revision and sub. */
  readonly changes: Iterable<Omit<Change, 'last'>>;
  readonly leases: Iterable<LeaseGrant>;
}

/** A fresh store begins at revision 1, as etcd does. */
export const emptyContents: StoreContents = { revision: 1, compactedRevision: 0, historyStart: 2, changes: [], leases: [] };
