// The MVCC core that both embedded stores share: memory is authoritative, a RevisionLog underneath makes it durable
// (etcd server/storage/mvcc for the data model). A transaction is decided and gets its revision synchronously; what it wrote becomes
// visible to readers, watchers and its own caller only once durable, strictly in revision order.
import { createTurns } from '#host';
import { assert, type Clock, type Logger } from '#utils';
import { ClosedError, CompactedError, FutureRevisionError, TooManyRequestsError } from '../errors.ts';
import type { StoreError } from '../errors.ts';
import { waitingRequestsMax } from '../limits.ts';
import type {
  EmbeddedStore,
  LeaseStatus,
  Operation,
  OperationResponse,
  RangeRequest,
  RangeResponse,
  StoreSnapshot,
  StoreUsage,
  StoreWatch,
  TxnRequest,
  TxnResponse,
  WatchRequest,
} from '../types.ts';
import { checkLeases, checkTxn, weigh } from './check-txn.ts';
import { Committer, type Ticket } from './committer.ts';
import { History } from './history.ts';
import { Keyspace } from './keyspace.ts';
import { Leases } from './leases.ts';
import type { RevisionLog, StoreContents } from './log.ts';
import { checkRange, liveKvs, type ReadView, readRange } from './range.ts';
import { holds, type Version } from './record.ts';
import { Trimmer } from './trimmer.ts';
import { Watchers } from './watchers.ts';

export interface MvccOptions {
  kind: 'memory' | 'disk';
  contents: StoreContents;
  log?: RevisionLog;
  clock: Clock;
  logger: Logger;
}

export class MvccStore implements EmbeddedStore {
  readonly kind: 'memory' | 'disk';
  readonly consistency = 'local';
  readonly #log: RevisionLog | undefined;
  readonly #logger: Logger;
  readonly #history: History;
  readonly #watchers: Watchers;
  readonly #leases: Leases;
  readonly #keys: Keyspace;
  readonly #committer: Committer;
  readonly #trimmer: Trimmer;
  /** Newest revision given out. */
  #accepted: number;
  /** Newest revision that is durable and published. */
  #durable: number;
  #compacted: number;
  #stopped: ClosedError | undefined;
  #closing: Promise<void> | undefined;

  constructor({ kind, contents, log, clock, logger }: MvccOptions) {
    this.kind = kind;
    this.#log = log;
    this.#logger = logger;
    this.#accepted = contents.revision;
    this.#durable = contents.revision;
    this.#compacted = contents.compactedRevision;
    this.#history = new History(contents.historyStart);
    this.#leases = new Leases(clock, (id) => this.#expire(id));
    this.#keys = new Keyspace(this.#leases);
    this.#committer = new Committer({
      log,
      turns: createTurns(clock),
      publish: (tickets) => this.#publish(tickets),
      takeBack: (tickets) => this.#takeBack(tickets),
      failed: (error) => this.#stop(error),
    });
    this.#watchers = new Watchers({
      history: this.#history,
      revision: () => this.#durable,
      compactedRevision: () => this.#compacted,
      logger,
    });
    const { compactedRevision } = contents;
    this.#trimmer = new Trimmer({ index: this.#keys.index, history: this.#history, log, compactedRevision });
    log?.begin(this.#trimmer);
    this.#load(contents);
  }

  revision(): number {
    return this.#durable;
  }

  compactedRevision(): number {
    return this.#compacted;
  }

  stats(): StoreUsage {
    return { ...(this.#log?.usage() ?? { bytes: 0, bytesInUse: 0 }), keys: this.#keys.live };
  }

  writeRefusal(): StoreError | undefined {
    return this.#stopped ?? this.#log?.refusal(0, false);
  }

  async defragment(): Promise<void> {
    this.#assertOpen();
    await this.#log?.defragment();
  }

  rangeSync(request: RangeRequest): RangeResponse {
    if (this.#closing) throw closed();
    return readRange(request, this.#view('durable'));
  }
  rangeAccepted(request: RangeRequest): RangeResponse {
    this.#assertOpen();
    return readRange(request, this.#view('head'));
  }
  range(request: RangeRequest): Promise<RangeResponse> {
    return settle(() => Promise.resolve(this.rangeSync(request)));
  }

  txn(request: TxnRequest): Promise<TxnResponse> {
    return settle(() => {
      this.#assertOpen();
      checkTxn(request);
      const succeeded = request.compare.every((compare) => holds(compare, this.#keys.get(compare.key)));
      const operations = succeeded ? request.success : (request.failure ?? []);
      checkLeases(operations, (id) => this.#leases.has(id));
      this.#admit(operations);
      const view = this.#view('head');
      for (const operation of operations) if (operation.op === 'range') checkRange(operation.request, view);
      const versions: Version[] = [];
      const responses = operations.map((operation) => this.#apply(operation, versions));
      if (versions.length > 0) this.#accepted++;
      const response: TxnResponse = { succeeded, responses, revision: this.#accepted };
      return this.#submit({ versions }, response);
    });
  }

  watch(request: WatchRequest): StoreWatch {
    if (this.#stopped) {
      const error = this.#stopped;
      queueMicrotask(() => request.onEnd(error));
      return { progress() {}, cancel() {} };
    }
    return this.#watchers.add(request);
  }

  compact(revision: number): Promise<void> {
    return settle(() => {
      this.#assertOpen();
      if (revision <= this.#compacted) throw new CompactedError(this.#compacted);
      if (revision > this.#durable) throw new FutureRevisionError();
      this.#assertWritable(0, true);
      const before = this.#compacted;
      this.#compacted = revision;
      const undo = (): void => {
        this.#compacted = before;
      };
      return this.#submit({ versions: [], compactedRevision: revision, undo }, undefined);
    });
  }

  leaseGrant(ttlSeconds: number, id = 0): Promise<{ id: number; ttlSeconds: number }> {
    return settle(() => {
      this.#assertOpen();
      const granted = this.#leases.plan(ttlSeconds, id);
      this.#assertWritable(0, false);
      this.#leases.add(granted);
      const undo = (): void => void this.#leases.remove(granted.id);
      return this.#submit({ versions: [], granted, undo }, { ...granted });
    });
  }

  leaseKeepAlive(id: number): Promise<{ ttlSeconds: number }> {
    return settle(() => {
      this.#assertOpen();
      return Promise.resolve({ ttlSeconds: this.#leases.keepAlive(id) });
    });
  }

  leaseRevoke(id: number): Promise<void> {
    return settle(() => {
      this.#assertOpen();
      this.#assertWritable(0, true);
      const versions: Version[] = [];
      const { keys, restore: undo } = this.#leases.remove(id);
      const revision = this.#accepted + 1;
      for (const key of keys) this.#keys.deleteKey(key, { revision, versions });
      if (versions.length > 0) this.#accepted++;
      return this.#submit({ versions, revoked: id, undo }, undefined);
    });
  }

  leases(): LeaseStatus[] {
    return this.#leases.list();
  }
  lease(id: number): LeaseStatus | undefined {
    return this.#leases.status(id);
  }

  snapshot(): StoreSnapshot {
    const [kvs, leases] = [liveKvs(this.#keys.index), this.#leases.grants()];
    return { revision: this.#durable, compactedRevision: this.#compacted, kvs, leases };
  }

  capture(): StoreContents {
    const [revision, historyStart, leases] = [this.#durable, this.#history.first, this.#leases.grants()];
    return { revision, compactedRevision: this.#compacted, historyStart, changes: this.#trimmer.inOrder(), leases };
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#stopped ??= closed();
      this.#leases.stop();
      await this.#committer.drain();
      this.#watchers.endAll(this.#stopped);
      await this.#log?.close();
    })();
    return this.#closing;
  }

  #assertOpen(): void {
    if (this.#stopped) throw this.#stopped;
  }

  /** Throws what the log says to a write of that size, and what etcd says when too much waits already. */
  #assertWritable(bytes: number, frees: boolean): void {
    const refusal = this.#log?.refusal(bytes, frees);
    if (refusal) throw refusal;
    if (this.#committer.waiting > waitingRequestsMax) throw new TooManyRequestsError();
  }

  #admit(operations: readonly Operation[]): void {
    const { writes, bytes, frees } = weigh(operations);
    if (writes) this.#assertWritable(bytes, frees);
  }

  #view(from: 'head' | 'durable'): ReadView {
    const revision = from === 'head' ? this.#accepted : this.#durable;
    // With nothing pending the two states are the same one, and the durable one is cheaper to count.
    const state = this.#accepted === this.#durable ? 'durable' : from;
    return { index: this.#keys.index, from: state, revision, compactedRevision: this.#compacted };
  }

  /** `versions` collects what the running transaction wrote; its revision is the one after `#accepted`. */
  #apply(operation: Operation, versions: Version[]): OperationResponse {
    const writing = { revision: this.#accepted + 1, versions };
    switch (operation.op) {
      case 'put':
        this.#keys.put(operation, writing);
        return { op: 'put' };
      case 'delete': {
        const prevKvs = this.#keys.deleteRange(operation, writing);
        return { op: 'delete', deleted: prevKvs.length, prevKvs: operation.prevKv ? prevKvs : [] };
      }
      case 'range': {
        const view = this.#view('head');
        const seen = versions.length > 0 ? { ...view, from: 'head' as const, revision: view.revision + 1 } : view;
        return { op: 'range', response: readRange(operation.request, seen) };
      }
    }
  }

  /** Resolves with `result` once everything accepted so far, and this, is durable and published. */
  #submit<T>(ticket: Omit<Ticket, 'resolve' | 'reject'>, result: T): Promise<T> {
    const writes = ticket.versions.length > 0 || ticket.granted || ticket.revoked !== undefined || ticket.compactedRevision;
    if (!writes && this.#committer.idle) return Promise.resolve(result);
    return new Promise<T>((resolve, reject) => {
      this.#committer.submit({ ...ticket, resolve: () => resolve(result), reject });
    });
  }

  #publish(tickets: readonly Ticket[]): void {
    const versions: Version[] = [];
    for (const ticket of tickets) {
      if (ticket.versions.length === 0) continue;
      for (const version of ticket.versions) {
        this.#keys.publish(version);
        versions.push(version);
      }
      this.#history.push(ticket.versions);
      this.#durable++;
    }
    if (versions.length > 0) this.#watchers.publish(versions, this.#durable);
    const compacted = tickets.findLast((ticket) => ticket.compactedRevision)?.compactedRevision;
    if (compacted) this.#trimmer.trimTo(compacted);
    this.#trimmer.lighten((revision) => this.compact(revision));
  }

  /** Nothing of these tickets happened: the newest state is the durable one again. */
  #takeBack(tickets: readonly Ticket[]): void {
    for (const ticket of tickets.toReversed()) {
      ticket.undo?.();
      for (const { record } of ticket.versions) this.#keys.restore(record);
    }
    this.#accepted = this.#durable;
  }

  #expire(id: number): void {
    this.leaseRevoke(id).catch((error: unknown) => {
      this.#logger.debug('Failed to revoke an expired lease', { lease: id, err: error });
      if (!this.#stopped) this.#leases.postpone(id);
    });
  }

  #stop(error: ClosedError): void {
    this.#logger.error('Store stopped', { err: error });
    this.#stopped ??= error;
    this.#leases.stop();
    this.#watchers.endAll(error);
  }

  #load({ changes, leases, historyStart, revision }: StoreContents): void {
    for (const lease of leases) this.#leases.add(lease);
    let entry: Version[] = [];
    for (const change of changes) {
      const version = this.#keys.load(change);
      const { modRevision } = version.kv;
      if (modRevision < historyStart) continue;
      if (entry.length > 0 && entry[0]?.kv.modRevision !== modRevision) {
        this.#history.push(entry);
        entry = [];
      }
      entry.push(version);
    }
    if (entry.length > 0) this.#history.push(entry);
    assert(this.#history.last === Math.max(revision, historyStart - 1), 'history has no gaps');
    this.#keys.attachAll();
    this.#trimmer.trimAll();
  }
}

const closed = (): ClosedError => new ClosedError('store is closed');

/** Turns a thrown operating error into a rejection. */
function settle<T>(action: () => Promise<T>): Promise<T> {
  try {
    return action();
  } catch (error) {
    return Promise.reject(error as StoreError);
  }
}
