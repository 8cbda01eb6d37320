// Whether a pod needs anything of the API: mirror pods must not (pkg/api/pod, HasAPIObjectReference).
import type { Pod, Volume } from '#api/core/v1';
import { configMapNames, secretNames } from '../../../authorization/pod-references.ts';

function volumeReference(volume: Volume): string | undefined {
  const kinds: [keyof Volume, string][] = [
    ['configMap', 'configmaps (via configmap volumes)'],
    ['secret', 'secrets (via secret volumes)'],
    ['csi', 'csidrivers (via CSI volumes)'],
    ['glusterfs', 'endpoints (via glusterFS volumes)'],
    ['persistentVolumeClaim', 'persistentvolumeclaims'],
    ['ephemeral', 'persistentvolumeclaims (via ephemeral volumes)'],
    ['azureFile', 'secrets (via azureFile volumes)'],
  ];
  const found = kinds.find(([field]) => volume[field] !== undefined);
  if (found) return found[1];
  for (const source of volume.projected?.sources ?? []) {
    if (source.configMap) return 'configmaps (via projected volumes)';
    if (source.secret) return 'secrets (via projected volumes)';
    if (source.serviceAccountToken) return 'serviceaccounts (via projected volumes)';
    if (source.clusterTrustBundle) return 'clustertrustbundles';
    if (source.podCertificate) return 'podcertificates';
  }
  return undefined;
}

/** What kind of object the pod refers to; undefined for none. */
export function apiObjectReference(pod: Pod): string | undefined {
  const { spec } = pod;
  if (spec?.serviceAccountName) return 'serviceaccounts';
  if (secretNames(pod).size > 0) return 'secrets';
  if (configMapNames(pod).size > 0) return 'configmaps';
  if (spec?.resourceClaims?.length) return 'resourceclaims';
  for (const volume of spec?.volumes ?? []) {
    const found = volumeReference(volume);
    if (found !== undefined) return found;
  }
  return undefined;
}
