// What the scheduler watches besides nodes and pods (upstream pkg/scheduler/eventhandlers.go).
import type { GroupVersionResource } from '#apimachinery/meta';
import type { ViewKind } from '../framework/index.ts';

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource });
const storage = (resource: string): GroupVersionResource => ({ group: 'storage.k8s.io', version: 'v1', resource });
const dra = (resource: string): GroupVersionResource => ({ group: 'resource.k8s.io', version: 'v1', resource });
const apps = (resource: string): GroupVersionResource => ({ group: 'apps', version: 'v1', resource });

export const nodes = core('nodes');
export const pods = core('pods');

export const viewResources: Readonly<Record<ViewKind, GroupVersionResource>> = {
  Namespace: core('namespaces'),
  Service: core('services'),
  ReplicationController: core('replicationcontrollers'),
  ReplicaSet: apps('replicasets'),
  StatefulSet: apps('statefulsets'),
  PersistentVolume: core('persistentvolumes'),
  PersistentVolumeClaim: core('persistentvolumeclaims'),
  StorageClass: storage('storageclasses'),
  CSINode: storage('csinodes'),
  CSIDriver: storage('csidrivers'),
  CSIStorageCapacity: storage('csistoragecapacities'),
  VolumeAttachment: storage('volumeattachments'),
  PodDisruptionBudget: { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' },
  ResourceClaim: dra('resourceclaims'),
  ResourceSlice: dra('resourceslices'),
  DeviceClass: dra('deviceclasses'),
};
