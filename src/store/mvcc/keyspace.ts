// All keys of an embedded store, each with its newest accepted version (`head`) and its newest durable one: what a transaction writes goes to the
// heads, becomes durable when its log says so, or is taken back. It also keeps which keys hang on which lease, and how many keys are live.
import { orderOf, rangeOf } from '../keys.ts';
import type { KeyValue, Operation } from '../types.ts';
import type { Leases } from './leases.ts';
import { alive, deleteVersion, isLive, putVersion } from './record.ts';
import type { KeyRecord, Version } from './record.ts';
import { SortedIndex } from './sorted-index.ts';

/** The transaction that runs. */
interface Writing {
  /** What its writes get. */
  revision: number;
  /** What it has written so far, in order. */
  versions: Version[];
}

export class Keyspace {
  readonly index = new SortedIndex<KeyRecord>(isLive);
  readonly #leases: Leases;
  #live = 0;

  constructor(leases: Leases) {
    this.#leases = leases;
  }

  /** Keys that are there for readers. */
  get live(): number {
    return this.#live;
  }

  get(key: string): KeyRecord | undefined {
    return this.index.get(key);
  }

  put({ key, value, lease = 0 }: Extract<Operation, { op: 'put' }>, { revision, versions }: Writing): void {
    const record = this.index.get(key) ?? this.#insert(key);
    this.#advance(record, putVersion(record, value, lease, revision, versions.length), versions);
  }

  /** Gives what was deleted. */
  deleteRange({ key, rangeEnd }: Extract<Operation, { op: 'delete' }>, writing: Writing): KeyValue[] {
    const range = rangeOf(key, rangeEnd);
    if (!range) return this.#delete(this.index.get(key), writing);
    const records: KeyRecord[] = [];
    this.index.walk(range, (record) => records.push(record) > 0);
    return records.flatMap((record) => this.#delete(record, writing));
  }

  deleteKey(key: string, writing: Writing): void {
    this.#delete(this.index.get(key), writing);
  }

  /** Readers see this version from now on. */
  publish(version: Version): void {
    const { record } = version;
    const before = isLive(record);
    record.durable = version;
    if (before === !version.deleted) return;
    this.#live += before ? -1 : 1;
    this.index.adjust(record, before ? -1 : 1);
  }

  /** Nothing of what is not durable happened to this key. */
  restore(record: KeyRecord): void {
    this.#leases.detach(alive(record.head)?.lease ?? 0, record.key);
    this.#leases.attach(alive(record.durable)?.lease ?? 0, record.key);
    record.head = record.durable;
    if (!record.head) this.index.delete(record);
  }

  /** Adds a version from the log, which is durable, newer than those before it, and not attached to its lease yet. */
  load({ kv, deleted, sub }: Pick<Version, 'kv' | 'deleted' | 'sub'>): Version {
    const record = this.index.get(kv.key) ?? this.#insert(kv.key);
    const version: Version = { kv, deleted, sub, record, prev: record.head };
    record.head = version;
    this.publish(version);
    return version;
  }

  /** Attaches each loaded key to its lease. */
  attachAll(): void {
    this.index.walk({ start: '', end: undefined }, (record) => {
      this.#leases.attach(alive(record.head)?.lease ?? 0, record.key);
      return true;
    });
  }

  #delete(record: KeyRecord | undefined, { revision, versions }: Writing): KeyValue[] {
    const before = alive(record?.head);
    if (!record || !before) return [];
    this.#advance(record, deleteVersion(record, revision, versions.length), versions);
    return [before];
  }

  #insert(key: string): KeyRecord {
    const record: KeyRecord = { key, order: orderOf(key), head: undefined, durable: undefined };
    this.index.insert(record);
    return record;
  }

  #advance(record: KeyRecord, version: Version, versions: Version[]): void {
    const before = alive(record.head);
    if (before) this.#leases.detach(before.lease, record.key);
    this.#leases.attach(version.kv.lease, record.key);
    record.head = version;
    versions.push(version);
  }
}
