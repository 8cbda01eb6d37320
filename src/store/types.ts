// The etcd v3 data model (https://etcd.io/docs/v3.6/learning/data_model/): one ordered key space with revisions, transactions, watches,
// leases and compaction. Keys and bytes; nothing of Kubernetes. Three implementations (`memory`, `disk`, `etcd`) run one suite.

/** Keys are UTF-8 strings in the whole project (`/registry/...`); values are bytes. Returned buffers are shared: never write to them. */
export interface KeyValue {
  key: string;
  value: Uint8Array;
  /** Revision of the key's creation. */
  createRevision: number;
  /** Revision of its last change. */
  modRevision: number;
  /** Changes since creation, 1 at creation. */
  version: number;
  /** Lease id, 0 for none. */
  lease: number;
  /** Why the value cannot be used, where something between store and reader could not open it (encryption). */
  unreadable?: Error;
}

export interface RangeRequest {
  key: string;
  /** Exclusive end; absent: the one key. `prefixEnd(p)` gives the end of a prefix; '\0' means "to the last key". */
  rangeEnd?: string;
  /** Read the past; 0 or absent: now. Below the compacted revision: CompactedError; above the current: FutureRevisionError. */
  revision?: number;
  /** 0 or absent: no limit. */
  limit?: number;
  keysOnly?: boolean;
  countOnly?: boolean;
}

export interface RangeResponse {
  kvs: KeyValue[];
  /** More keys exist beyond `limit`. */
  more: boolean;
  /** Number of keys in the range, ignoring `limit`. */
  count: number;
  /** Store revision the answer was read at. */
  revision: number;
}

export type CompareTarget = 'modRevision' | 'createRevision' | 'version' | 'lease';
export interface Compare {
  key: string;
  target: CompareTarget;
  result: '=' | '!=' | '<' | '>';
  value: number;
}

export type Operation =
  | { op: 'put'; key: string; value: Uint8Array; lease?: number }
  | { op: 'delete'; key: string; rangeEnd?: string; prevKv?: boolean }
  | { op: 'range'; request: RangeRequest };

export interface TxnRequest {
  /** All must hold for `success` to run. Evaluated against the newest accepted state, also when not yet durable. */
  compare: Compare[];
  success: Operation[];
  failure?: Operation[];
}

export type OperationResponse =
  | { op: 'put' }
  | { op: 'delete'; deleted: number; prevKvs: KeyValue[] }
  | { op: 'range'; response: RangeResponse };

export interface TxnResponse {
  succeeded: boolean;
  responses: OperationResponse[];
  /** Revision of the transaction, or the current one when it wrote nothing. */
  revision: number;
}

export interface StoreEvent {
  type: 'PUT' | 'DELETE';
  /** For DELETE: key and modRevision (of the deletion), empty value. */
  kv: KeyValue;
  /** Value before the change; set when asked for with `prevKv` and not compacted. */
  prevKv?: KeyValue;
}

export interface WatchRequest {
  key: string;
  rangeEnd?: string;
  /** First revision wanted; 0 or absent: from the next change on. */
  startRevision?: number;
  prevKv?: boolean;
  /**
   * Called with all events of one or more whole revisions, in order, none skipped or repeated; only durable changes. Must not throw.
   * `revision` is the revision up to which everything has been delivered.
   */
  onEvents(events: readonly StoreEvent[], revision: number): void;
  /** Called at most once: the watch is over (CompactedError, ClosedError, connection loss that cannot be resumed). */
  onEnd(error: Error): void;
}

export interface StoreWatch {
  /** Asks for an `onEvents([], revision)` once everything up to the store's current revision was delivered. */
  progress(): void;
  cancel(): void;
}

/** A store. All methods reject or throw only with the typed errors of `errors.ts`. */
export interface Store {
  readonly kind: 'memory' | 'disk' | 'etcd';
  /**
   * `local`: every write goes through this process, so whoever follows the store has seen the newest revision. `ask`: others write as well, and the newest
   * revision has to be asked for.
   */
  readonly consistency: 'local' | 'ask';
  /** Newest durable revision known here. A fresh store begins at 1, as etcd does. */
  revision(): number;
  compactedRevision(): number;
  range(request: RangeRequest): Promise<RangeResponse>;
  /**
   * Atomic. Resolves only once the writes are durable, in revision order with every other transaction and after watchers of this
   * process have been told. Embedded stores take the decision and assign the revision synchronously, before returning the promise.
   */
  txn(request: TxnRequest): Promise<TxnResponse>;
  watch(request: WatchRequest): StoreWatch;
  /** Forgets history below `revision`. */
  compact(revision: number): Promise<void>;
  /** A lease that deletes its keys when it expires. `id` 0 lets the store choose. */
  leaseGrant(ttlSeconds: number, id?: number): Promise<{ id: number; ttlSeconds: number }>;
  leaseKeepAlive(id: number): Promise<{ ttlSeconds: number }>;
  leaseRevoke(id: number): Promise<void>;
  stats(): StoreUsage;
  /** Why no write is accepted at present, as far as it is known here: the disk is full, the quota is used up, the store has stopped. */
  writeRefusal(): Error | undefined;
  close(): Promise<void>;
}

export interface StoreUsage {
  /** On disk; 0 for memory. */
  bytes: number;
  /** Of those, what is neither free nor forgotten. */
  bytesInUse: number;
  /** Keys alive. */
  keys: number;
}

export interface LeaseStatus {
  id: number;
  ttlSeconds: number;
  remainingSeconds: number;
  /** Keys attached to it. */
  keys: string[];
}

/** Embedded stores can also read without waiting: memory is authoritative. */
export interface EmbeddedStore extends Store {
  rangeSync(request: RangeRequest): RangeResponse;
  /**
   * Reads the newest accepted state, durable or not: only to decide a transaction that is handed in during the same turn. Nothing
   * read here may be shown to anybody before that transaction resolves.
   */
  rangeAccepted(request: RangeRequest): RangeResponse;
  /** A consistent copy of all live keys, for snapshot, restore and fork. Durable state only. */
  snapshot(): StoreSnapshot;
  /** The contents with their history: all that a reader or watcher can still ask for. */
  capture(): StoreContents;
  leases(): LeaseStatus[];
  /** What is known of a lease; undefined when there is no such lease. */
  lease(id: number): LeaseStatus | undefined;
  /** Gives the disk back what is not needed any more, as far as that does not happen by itself. */
  defragment(): Promise<void>;
}

/** One change of one key, `sub` its position inside the revision. */
export interface Change {
  readonly kv: KeyValue;
  readonly deleted: boolean;
  readonly sub: number;
}

export interface LeaseGrant {
  readonly id: number;
  readonly ttlSeconds: number;
}

/** All of a store at one revision: what it starts from, and what a snapshot of it holds. */
export interface StoreContents {
  /** Newest revision. */
  readonly revision: number;
  readonly compactedRevision: number;
  /** First revision whose changes are all among `changes`: watches can begin there. */
  readonly historyStart: number;
  /** In order of revision and sub. */
  readonly changes: Iterable<Change>;
  readonly leases: Iterable<LeaseGrant>;
}

export interface StoreSnapshot {
  revision: number;
  compactedRevision: number;
  kvs: readonly KeyValue[];
  /** Leases start their full time again in a restored store. */
  leases?: readonly { id: number; ttlSeconds: number }[];
}
