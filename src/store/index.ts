// The store: etcd's data model in memory, on a disk, or in a real etcd. What needs a large dependency is loaded when first opened.
import type { EtcdStoreOptions } from './etcd/index.ts';
import type { EtcdFront, EtcdFrontOptions } from './front/index.ts';
import type { DiskStoreOptions } from './disk/index.ts';
import type { EmbeddedStore, Store } from './types.ts';

export type * from './types.ts';
export * from './errors.ts';
export { autoCompact, type AutoCompactOptions } from './auto-compact.ts';
export { prefixEnd } from './keys.ts';
export { openMemoryStore, type MemoryStoreOptions } from './memory.ts';
export type { EtcdStoreOptions, EtcdTls } from './etcd/index.ts';
export type { EtcdFront, EtcdFrontOptions, EtcdFrontTls } from './front/index.ts';
export type { DiskStoreOptions } from './disk/index.ts';

/** Opens or makes a durable store in a directory. Rejects with LockedError, CorruptError or the file system's error. */
export async function openDiskStore(options: DiskStoreOptions): Promise<EmbeddedStore> {
  const { open } = await import('./disk/index.ts');
  return open(options);
}

/** Connects to an etcd cluster. Rejects with UnavailableError when no member answers in time. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  const { open } = await import('./etcd/index.ts');
  return open(options);
}

/** Serves etcd's v3 gRPC API on an embedded store. Rejects when the address cannot be listened on. */
export async function serveEtcd(options: EtcdFrontOptions): Promise<EtcdFront> {
  const front = await import('./front/index.ts');
  return front.serveEtcd(options);
}
