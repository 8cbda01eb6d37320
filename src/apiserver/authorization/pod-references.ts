// The objects a pod's node has to read for it (pkg/api/v1/pod visitors, pkg/api/v1/persistentvolume).
import type { Container, PersistentVolume, Pod, Volume } from '#api/core/v1';

/** The name of an object that a pod refers to: `secrets/ns/name`. */
export type Reference = string;

export const reference = (resource: string, namespace: string, name: string): Reference => `${resource}/${namespace}/${name}`;

type Named = { name?: string } | null | undefined;

const containersOf = ({ spec }: Pod): Container[] => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
  ...((spec?.ephemeralContainers ?? []) as Container[]),
];

/** Every secret a volume names. */
function volumeSecrets(volume: Volume): (string | undefined)[] {
  const { azureFile, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos, csi, secret, projected } = volume;
  const refs: Named[] = [
    ...[cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos].map((source) => source?.secretRef),
    csi?.nodePublishSecretRef,
    ...(projected?.sources ?? []).map((source) => source.secret),
  ];
  return [azureFile?.secretName, secret?.secretName, ...refs.map((ref) => ref?.name)];
}

/** Names of the secrets of a pod, in its own namespace. */
export function secretNames(pod: Pod): Set<string> {
  const names = [
    ...(pod.spec?.imagePullSecrets ?? []).map(({ name }) => name),
    ...containersOf(pod).flatMap(({ env = [], envFrom = [] }) => [
      ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
      ...envFrom.map(({ secretRef }) => secretRef?.name),
    ]),
    ...(pod.spec?.volumes ?? []).flatMap(volumeSecrets),
  ];
  return new Set(names.filter((name) => name !== undefined && name !== '') as string[]);
}

export function configMapNames(pod: Pod): Set<string> {
  const names = [
    ...containersOf(pod).flatMap(({ env = [], envFrom = [] }) => [
      ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
      ...envFrom.map(({ configMapRef }) => configMapRef?.name),
    ]),
    ...(pod.spec?.volumes ?? []).flatMap(({ configMap, projected }) => [
      configMap?.name,
      ...(projected?.sources ?? []).map((source) => source.configMap?.name),
    ]),
  ];
  return new Set(names.filter((name) => name !== undefined && name !== '') as string[]);
}

function claimNames(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim) return persistentVolumeClaim.claimName;
    return ephemeral ? `${pod.metadata.name}-${name}` : [];
  });
}

function resourceClaimNames({ spec, status }: Pod): string[] {
  const made = new Map((status?.resourceClaimStatuses ?? []).map(({ name, resourceClaimName }) => [name, resourceClaimName]));
  const own = (spec?.resourceClaims ?? []).flatMap(({ name, resourceClaimName }) => resourceClaimName ?? made.get(name) ?? []);
  return [
    ...own,
    ...(status?.extendedResourceClaimStatus?.resourceClaimName ? [status.extendedResourceClaimStatus.resourceClaimName] : []),
  ];
}

const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** All that a pod makes readable for its node, itself included. A mirror pod gives nothing: the node wrote it. */
export function podReferences(pod: Pod): Set<Reference> {
  const { namespace = '', name = '', annotations } = pod.metadata;
  const of = (resource: string) => (referenced: string) => reference(resource, namespace, referenced);
  const references = [reference('pods', namespace, name)];
  if (annotations?.[mirrorAnnotation] === undefined) {
    const account = pod.spec?.serviceAccountName;
    references.push(
      ...(account ? [reference('serviceaccounts', namespace, account)] : []),
      ...[...secretNames(pod)].map(of('secrets')),
      ...[...configMapNames(pod)].map(of('configmaps')),
      ...claimNames(pod).map(of('persistentvolumeclaims')),
      ...resourceClaimNames(pod).map(of('resourceclaims')),
    );
  }
  return new Set(references);
}

/** The secrets a kubelet needs to mount a volume. */
export function volumeSecretReferences({ spec }: PersistentVolume): Set<Reference> {
  const fallback = spec?.claimRef?.namespace ?? '';
  const { csi, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos, azureFile } = spec ?? {};
  const refs = [
    ...[cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos].map((source) => source?.secretRef),
    csi?.nodePublishSecretRef,
    csi?.nodeStageSecretRef,
    csi?.nodeExpandSecretRef,
    ...(azureFile ? [{ name: azureFile.secretName, namespace: azureFile.secretNamespace }] : []),
  ];
  return new Set(refs.flatMap((ref) => (ref?.name ? reference('secrets', ref.namespace || fallback, ref.name) : [])));
}
