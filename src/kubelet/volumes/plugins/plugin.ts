// What a source of volumes is to the kubelet: one folder here for each, behind one interface (upstream pkg/volume VolumePlugin, Mounter, Unmounter).
import type { PersistentVolume, Pod, Volume } from '#api/core/v1';
import type { EventRecorder, KubeClient } from '#client';
import type { SnapshotService } from '#cri';
import type { Clock, Exec, Rng } from '#utils';
import type { MountedVolume } from '../../container/volume.ts';
import type { DownwardContext } from '../../env/downward.ts';
import type { ObjectSource } from '../../env/environment.ts';
import type { CsiVolumes } from './csi/volumes.ts';
import type { TokenManager } from '../tokens.ts';

/** What the kubelet gives its volume plugins to work with. */
export interface VolumeContext {
  rootDir: string;
  client: KubeClient;
  recorder: EventRecorder;
  clock: Clock;
  rng: Rng;
  exec: Exec;
  /** ConfigMaps and Secrets as they are now. */
  objects: ObjectSource;
  tokens: TokenManager;
  downward(pod: Pod): DownwardContext;
  csi: CsiVolumes;
  /** Root file systems of images. */
  snapshots: SnapshotService;
}

export interface VolumeRequest {
  pod: Pod;
  volume: Volume;
  /** The volume's own directory, for plugins that need one: nobody has made it yet. */
  path: string;
}

export interface VolumePlugin {
  /** Names the folder below the pod's directory in which the plugin's volumes are: `kubernetes.io~<name>`. */
  readonly name: string;
  serves(volume: Volume): boolean;
  /** Makes the volume ready; asked again for one that is, after a restart of the kubelet. Rejects with an Error that says why it cannot be had. */
  setUp(request: VolumeRequest): Promise<MountedVolume>;
  /** Brings what is shown up to date with the API. Absent: nothing of it is in the API. */
  refresh?(request: VolumeRequest): Promise<void>;
  /** Whether the volume shows labels and annotations of its pod. */
  showsPod?(volume: Volume): boolean;
  /** Its volumes are unmounted by `tearDown`, and by nobody else before it. */
  readonly unmounts?: boolean;
  /** Undoes what unmounting and removing the pod's directory does not, for a pod that is gone, as found on disk. `names`: those in its folder. */
  tearDown?(uid: string, names: readonly string[]): Promise<void>;
  /** The pod is gone, and with it what was kept in memory for it. */
  forget?(uid: string): void;
}

export interface PersistentRequest {
  pod: Pod;
  persistentVolume: PersistentVolume;
  readOnly: boolean;
}

/** A source of persistent volumes; pods reach it through claims. */
export interface PersistentPlugin {
  serves(volume: PersistentVolume): boolean;
  /** Knows volumes that are devices. */
  readonly blocks?: boolean;
  setUp(request: PersistentRequest): Promise<MountedVolume>;
  /** Brings a mounted volume up to date with its object. Absent: there is nothing to be done. */
  refresh?(request: PersistentRequest): Promise<void>;
}
