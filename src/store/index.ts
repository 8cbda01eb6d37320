// The store: etcd's data model in memory, on a disk, or in a real etcd. What needs a large dependency is loaded when first opened.
import type { Restored, StoreReport } from './disk/offline.ts';
import type { Clock } from '#utils';
import type { EtcdStoreOptions } from './etcd/index.ts';
import type { EtcdMembers } from './etcd/members.ts';
import type { EtcdFront, EtcdFrontOptions } from './front/index.ts';
import type { DiskStoreOptions } from './disk/index.ts';
import type { Moved } from './migrate/to-etcd.ts';
import type { SavedSnapshot } from './snapshot/files.ts';
import type { SnapshotStatus } from './snapshot/index.ts';
import type { EmbeddedStore, Store } from './types.ts';

export type * from './types.ts';
export * from './errors.ts';
export { autoCompact, type AutoCompactOptions } from './auto-compact.ts';
export { prefixEnd } from './keys.ts';
export { openMemoryStore, type MemoryStoreOptions } from './memory.ts';
export type { EtcdStoreOptions, EtcdTls } from './etcd/index.ts';
export type { EtcdFront, EtcdFrontOptions, EtcdFrontTls } from './front/index.ts';
export type { DiskStoreOptions } from './disk/index.ts';
export type { StoreReport } from './disk/offline.ts';
export type { Moved } from './migrate/to-etcd.ts';
export type { SnapshotStatus } from './snapshot/index.ts';

export type { EtcdMember, EtcdMembers } from './etcd/members.ts';

/** Speaks to the member of a real etcd at `host:port` about its cluster's members. */
export async function connectEtcdMembers(
  address: string,
  tls: { ca: string; cert: string; key: string },
  clock: Clock,
): Promise<EtcdMembers> {
  return (await import('./etcd/members.ts')).connectMembers(address, tls, clock);
}

/** Opens or makes a durable store in a directory. Rejects with LockedError, CorruptError or the file system's error. */
export async function openDiskStore(options: DiskStoreOptions): Promise<EmbeddedStore> {
  const { open } = await import('./disk/index.ts');
  return open(options);
}

/** Looks for damage in a store, also in one that is open elsewhere; nothing is written. Rejects with CorruptError where there is none. */
export async function checkDiskStore(path: string): Promise<StoreReport> {
  return (await import('./disk/offline.ts')).checkDiskStore(path);
}

/** Saves a store that is open here, or the files of one that nobody has open, in the form of etcd's snapshots. */
export async function saveSnapshot(from: EmbeddedStore | string, file: string): Promise<SavedSnapshot> {
  const { writeSnapshot } = await import('./snapshot/files.ts');
  if (typeof from !== 'string') return writeSnapshot(from.capture(), file);
  const { readDiskStore } = await import('./disk/offline.ts');
  return writeSnapshot(await readDiskStore(from), file);
}

/** Begins the store in `path` anew from a snapshot of this store or of etcd; what was there is kept beside it. */
export async function restoreSnapshot(path: string, file: string): Promise<Restored> {
  const { readSnapshot } = await import('./snapshot/files.ts');
  const { restoreDiskStore } = await import('./disk/offline.ts');
  return restoreDiskStore(path, await readSnapshot(file));
}

/**
 * Writes what `file` holds as a snapshot that an etcd restores from beyond all revisions that clients of before have seen, so that their watches end.
 * etcd's own tools have flags for it since 3.6 only.
 */
export async function writeSnapshotAhead(file: string, to: string): Promise<SavedSnapshot> {
  const { readSnapshot, writeSnapshot } = await import('./snapshot/files.ts');
  const { decodeSnapshot } = await import('./snapshot/index.ts');
  const { aheadOf } = await import('./snapshot/ahead.ts');
  return writeSnapshot(aheadOf(decodeSnapshot(await readSnapshot(file)), undefined), to);
}

/** Puts a store that nobody has open beside its place, and says where; undefined: there was none. */
export async function moveStoreAside(path: string): Promise<string | undefined> {
  return (await import('./disk/offline.ts')).moveAside(path);
}

/** What etcd's `snapshot status` tells of a snapshot. Rejects with CorruptError when it is not whole. */
export async function readSnapshotStatus(file: string): Promise<SnapshotStatus> {
  const { readSnapshot } = await import('./snapshot/files.ts');
  const { snapshotStatus } = await import('./snapshot/index.ts');
  return snapshotStatus(await readSnapshot(file));
}

/** What a snapshot holds at a key; undefined: nothing. Rejects with CorruptError when it is not whole. */
export async function readSnapshotValue(file: string, key: string): Promise<Uint8Array | undefined> {
  const { readSnapshot } = await import('./snapshot/files.ts');
  const { decodeSnapshot } = await import('./snapshot/index.ts');
  let value: Uint8Array | undefined;
  for (const { kv, deleted } of decodeSnapshot(await readSnapshot(file)).changes)
    if (kv.key === key) value = deleted ? undefined : kv.value;
  return value;
}

/** Connects to an etcd cluster. Rejects with UnavailableError when no member answers in time. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  const { open } = await import('./etcd/index.ts');
  return open(options);
}

/** Copies a store that is open here into an empty etcd, or goes on with an interrupted copy. */
export async function copyToEtcd(source: EmbeddedStore, target: Store): Promise<Moved> {
  return (await import('./migrate/to-etcd.ts')).copyToEtcd(source, target);
}

/** Begins an embedded store in `path` with all that an etcd holds. */
export async function copyFromEtcd(source: Store, path: string): Promise<Moved> {
  return (await import('./migrate/from-etcd.ts')).copyFromEtcd(source, path);
}

/** Serves etcd's v3 gRPC API on an embedded store. Rejects when the address cannot be listened on. */
export async function serveEtcd(options: EtcdFrontOptions): Promise<EtcdFront> {
  const front = await import('./front/index.ts');
  return front.serveEtcd(options);
}
