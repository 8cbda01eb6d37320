// A test cluster as data: all that is needed to go on from there, as often as one likes. The store keeps its revisions, so that resource versions go on;
// certificates and keys stay, so that clients and tokens of the original are known.
import { deserialize, serialize } from 'node:v8';
import type { World } from '#cloud';
import type { PkiKeys } from '#cluster';
import type { KeptFlags } from '#cluster/flags';
import type { StoreSnapshot } from '#store';
import type { TestCloudOptions } from './cloud.ts';
import type { SavedMachine } from './nodes.ts';

export interface ClusterState {
  store: StoreSnapshot;
  pki: PkiKeys;
  /** The cluster's own cloud; absent: it has none. */
  cloud?: { options: TestCloudOptions; world: World };
  storage: KeptFlags['storage'];
  metrics?: KeptFlags['metrics'];
  /** The addresses of all pods. */
  podCidr: string;
  /** Where the cloud does not tell. */
  machines: readonly SavedMachine[];
}

export interface ClusterSnapshot {
  /** The revision of the store: the `resourceVersion` of lists at that moment. */
  readonly revision: number;
  /** Objects in it. */
  readonly objects: number;
  /** To be kept, e.g. in a file, and given to `startCluster({ from })` by the same version of this package. It holds the cluster's keys. */
  bytes(): Uint8Array;
}

const format = 'sagong.dev/test-cluster/v1';

class TakenSnapshot implements ClusterSnapshot {
  readonly state: ClusterState;

  constructor(state: ClusterState) {
    this.state = state;
  }
  get revision(): number {
    return this.state.store.revision;
  }
  get objects(): number {
    return this.state.store.kvs.length;
  }
  bytes(): Uint8Array {
    return serialize({ format, ...this.state });
  }
}

export const snapshotOf = (state: ClusterState): ClusterSnapshot => new TakenSnapshot(state);

/** Throws for what is no snapshot. */
export function stateOf(from: ClusterSnapshot | Uint8Array): ClusterState {
  if (from instanceof TakenSnapshot) return from.state;
  if (!(from instanceof Uint8Array)) throw new TypeError('this is no snapshot of a cluster');
  let read: unknown;
  try {
    read = deserialize(from);
  } catch (cause) {
    throw new TypeError('these bytes are no snapshot of a cluster', { cause });
  }
  if (typeof read !== 'object' || read === null || !('format' in read) || read.format !== format)
    throw new TypeError(`these bytes are no snapshot of a cluster in the format ${format}`);
  return read as unknown as ClusterState;
}
