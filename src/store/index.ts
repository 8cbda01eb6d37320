// The store: etcd's data model over memory, over LMDB, or in a real etcd.
export type * from './types.ts';
export * from './errors.ts';
export { prefixEnd } from './keys.ts';
export { openMemoryStore, type MemoryStoreOptions } from './memory.ts';
