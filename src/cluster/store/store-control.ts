// What can be asked of the store of a running cluster.
import { type EmbeddedStore, saveSnapshot, type Store } from '#store';
import type { ControlRequest } from '../control-socket.ts';

export interface SavedSnapshotAnswer {
  revision: number;
  bytes: number;
}

export interface DefragmentAnswer {
  bytesBefore: number;
  bytes: number;
}

/** `store` absent: it is on other machines. */
const embedded = (store: Store | undefined): EmbeddedStore => {
  if (store === undefined)
    throw new Error(
      'the data of this cluster is in etcd on its control-plane machines: use etcdctl there, by sagong node shell <control plane> (docs/several-machines.md)',
    );
  if (store.kind === 'etcd') throw new Error('the data of this cluster is in etcd: use etcdctl');
  return store as EmbeddedStore;
};

export const storeRoutes = (store: Store | undefined): Record<string, ControlRequest> => ({
  'PUT /snapshot': async (query): Promise<SavedSnapshotAnswer> => saveSnapshot(embedded(store), query.get('file') ?? ''),
  'PUT /defragment': async (): Promise<DefragmentAnswer> => {
    const own = embedded(store);
    const bytesBefore = own.stats().bytes;
    await own.defragment();
    return { bytesBefore, bytes: own.stats().bytes };
  },
});
