// The rest of the cluster that plugins may read: listers over the informers' caches, given as one interface.
import type { ReplicaSet, StatefulSet } from '#api/apps/v1';
import type { Namespace, PersistentVolume, PersistentVolumeClaim, ReplicationController, Service } from '#api/core/v1';
import type { PodDisruptionBudget } from '#api/policy/v1';
import type { DeviceClass, ResourceClaim, ResourceSlice } from '#api/resource/v1';
import type { CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment } from '#api/storage/v1';

export interface ViewKinds {
  Namespace: Namespace;
  Service: Service;
  ReplicationController: ReplicationController;
  ReplicaSet: ReplicaSet;
  StatefulSet: StatefulSet;
  PersistentVolume: PersistentVolume;
  PersistentVolumeClaim: PersistentVolumeClaim;
  StorageClass: StorageClass;
  CSINode: CSINode;
  CSIDriver: CSIDriver;
  CSIStorageCapacity: CSIStorageCapacity;
  VolumeAttachment: VolumeAttachment;
  PodDisruptionBudget: PodDisruptionBudget;
  ResourceClaim: ResourceClaim;
  ResourceSlice: ResourceSlice;
  DeviceClass: DeviceClass;
}

export type ViewKind = keyof ViewKinds;

/** Objects are frozen and shared. `namespace` is '' for cluster-scoped kinds. */
export interface ClusterView {
  get<K extends ViewKind>(kind: K, namespace: string, name: string): ViewKinds[K] | undefined;
  list<K extends ViewKind>(kind: K, namespace?: string): readonly ViewKinds[K][];
  /** Whether what is shown of the object is being written, in several steps, for a pod that is about to be bound. */
  isUnderWay?(kind: ViewKind, namespace: string, name: string): boolean;
}

/** A view of a cluster in which nothing but nodes and pods is known. */
export const emptyView: ClusterView = { get: () => undefined, list: () => [] };
