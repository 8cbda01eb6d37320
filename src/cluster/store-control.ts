// What can be asked of the store of a running cluster.
import { type EmbeddedStore, saveSnapshot, type Store } from '#store';
import type { ControlRequest } from './control-socket.ts';

export interface SavedSnapshotAnswer {
  revision: number;
  bytes: number;
}

export interface DefragmentAnswer {
  bytesBefore: number;
  bytes: number;
}

const embedded = (store: Store): EmbeddedStore => {
  if (store.kind === 'etcd') throw new Error('the data of this cluster is in etcd: use etcdctl');
  return store as EmbeddedStore;
};

export const storeRoutes = (store: Store): Record<string, ControlRequest> => ({
  'PUT /snapshot': async (query): Promise<SavedSnapshotAnswer> => saveSnapshot(embedded(store), query.get('file') ?? ''),
  'PUT /defragment': async (): Promise<DefragmentAnswer> => {
    const bytesBefore = store.stats().bytes;
    await embedded(store).defragment();
    return { bytesBefore, bytes: store.stats().bytes };
  },
});
