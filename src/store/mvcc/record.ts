// One key and its versions, newest first. `head` is the newest accepted version, `durable` the newest one that is safely stored:
// compares look at the head, readers and watchers only at what is durable.
import type { Compare, KeyValue } from '../types.ts';
import type { Indexed } from './sorted-index.ts';

export interface Version {
  readonly kv: KeyValue;
  readonly deleted: boolean;
  /** Position inside its revision. */
  readonly sub: number;
  readonly record: KeyRecord;
  /** The version before it, as far as history is kept. */
  prev: Version | undefined;
}

export interface KeyRecord extends Indexed {
  head: Version | undefined;
  durable: Version | undefined;
}

export const emptyValue: Uint8Array = Buffer.alloc(0);

export const isLive = (record: KeyRecord): boolean => record.durable !== undefined && !record.durable.deleted;

/** The key-value of `version`, or undefined when there is none or it is a deletion. */
export const alive = (version: Version | undefined): KeyValue | undefined =>
  version === undefined || version.deleted ? undefined : version.kv;

/** The newest version at or before `revision`, searching back from `from`. */
export function versionAt(from: Version | undefined, revision: number): Version | undefined {
  let version = from;
  while (version && version.kv.modRevision > revision) version = version.prev;
  return version;
}

export function putVersion(record: KeyRecord, value: Uint8Array, lease: number, revision: number, sub: number): Version {
  const before = alive(record.head);
  const kv: KeyValue = {
    key: record.key,
    value,
    createRevision: before ? before.createRevision : revision,
    modRevision: revision,
    version: before ? before.version + 1 : 1,
    lease,
  };
  return { kv, deleted: false, sub, record, prev: record.head };
}

export function deleteVersion(record: KeyRecord, revision: number, sub: number): Version {
  const kv: KeyValue = { key: record.key, value: emptyValue, createRevision: 0, modRevision: revision, version: 0, lease: 0 };
  return { kv, deleted: true, sub, record, prev: record.head };
}

/**
 * Forgets what compaction at `revision` makes unreachable: versions superseded at or before it, and a deletion before it. A deletion
 * at exactly `revision` stays, for watches that begin there. Forgotten versions go to `dead`. Answers whether the record is empty now.
 */
export function trim(record: KeyRecord, revision: number, dead: Version[]): boolean {
  let newer: Version | undefined;
  let kept = record.head;
  while (kept && kept.kv.modRevision > revision) {
    newer = kept;
    kept = kept.prev;
  }
  if (!kept) return false;
  cut(kept, dead);
  if (!kept.deleted || kept.kv.modRevision === revision) return false;
  dead.push(kept);
  if (newer) newer.prev = undefined;
  return newer === undefined;
}

function cut(kept: Version, dead: Version[]): void {
  let version = kept.prev;
  kept.prev = undefined;
  while (version) {
    dead.push(version);
    const { prev } = version;
    version.prev = undefined;
    version = prev;
  }
}

/** Whether a comparison is true of the newest accepted version. */
export function holds({ target, result, value }: Compare, record: KeyRecord | undefined): boolean {
  const actual = alive(record?.head)?.[target] ?? 0;
  switch (result) {
    case '=':
      return actual === value;
    case '!=':
      return actual !== value;
    case '<':
      return actual < value;
    case '>':
      return actual > value;
  }
}
