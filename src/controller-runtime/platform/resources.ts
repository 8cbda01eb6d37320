// The resources that the platform loops deal in.
import type { GroupVersionResource } from '#apimachinery/meta';
import type { ObjectId } from '../types.ts';

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource });
const v1 = (group: string, resource: string): GroupVersionResource => ({ group, version: 'v1', resource });

export const pods = core('pods');
export const nodes = core('nodes');
export const namespaces = core('namespaces');
export const serviceAccounts = core('serviceaccounts');
export const secrets = core('secrets');
export const configMaps = core('configmaps');
export const resourceQuotas = core('resourcequotas');
export const persistentVolumes = core('persistentvolumes');
export const persistentVolumeClaims = core('persistentvolumeclaims');
export const replicationControllers = core('replicationcontrollers');
export const leases = v1('coordination.k8s.io', 'leases');
export const jobs = v1('batch', 'jobs');
export const clusterRoles = v1('rbac.authorization.k8s.io', 'clusterroles');
export const podDisruptionBudgets = v1('policy', 'poddisruptionbudgets');
export const certificateSigningRequests = v1('certificates.k8s.io', 'certificatesigningrequests');
export const storageClasses = v1('storage.k8s.io', 'storageclasses');
export const horizontalPodAutoscalers: GroupVersionResource = {
  group: 'autoscaling',
  version: 'v2',
  resource: 'horizontalpodautoscalers',
};

/** Whether a key of a loop over claims and volumes names a volume: claims have a namespace, volumes do not. */
export const isVolumeKey = (key: string): boolean => !key.includes('/');

/** The claim or volume that a key of the volume loops names. */
export const claimOrVolume = (key: string): ObjectId => ({
  ...(isVolumeKey(key) ? persistentVolumes : persistentVolumeClaims),
  key,
});
