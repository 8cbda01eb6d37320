// The requests to a CSI driver about a volume and the pod that gets it (upstream pkg/volume/csi csi_mounter.go, csi_client.go). Pure.
import type { CSIVolumeSource, PersistentVolume, Pod, SecretReference } from '#api/core/v1';
import type { CSIDriver } from '#api/storage/v1';
import type { AccessMode, Capabilities, Texts, VolumeCapability } from '../../../csi/index.ts';

/** A volume as it is to be mounted, whether a persistent one or one of the pod alone. */
export interface CsiVolume {
  /** The name of the persistent volume, or of the volume in the pod. */
  name: string;
  driver: string;
  handle: string;
  fsType: string;
  attributes: Texts;
  mountOptions: string[];
  accessModes: readonly string[];
  readOnly: boolean;
  ephemeral: boolean;
  /** A device instead of a file system. */
  block: boolean;
  stageSecret?: SecretReference | undefined;
  publishSecret?: SecretReference | undefined;
  expandSecret?: SecretReference | undefined;
}

export function persistentVolumeOf({ metadata, spec }: PersistentVolume, readOnly: boolean): CsiVolume {
  const source = spec?.csi;
  if (!source) throw new Error(`volume ${metadata.name} is not one of a CSI driver`);
  return {
    name: metadata.name ?? '',
    driver: source.driver,
    handle: source.volumeHandle,
    fsType: source.fsType ?? '',
    attributes: source.volumeAttributes ?? {},
    mountOptions: spec?.mountOptions ?? [],
    accessModes: spec?.accessModes ?? [],
    readOnly: readOnly || source.readOnly === true,
    ephemeral: false,
    block: spec?.volumeMode === 'Block',
    stageSecret: source.nodeStageSecretRef,
    publishSecret: source.nodePublishSecretRef,
    expandSecret: source.nodeExpandSecretRef,
  };
}

export const inlineVolumeOf = (pod: Pod, name: string, handle: string, source: CSIVolumeSource): CsiVolume => ({
  name,
  driver: source.driver,
  handle,
  fsType: source.fsType ?? '',
  attributes: source.volumeAttributes ?? {},
  mountOptions: [],
  accessModes: ['ReadWriteOnce'],
  readOnly: source.readOnly ?? false,
  ephemeral: true,
  block: false,
  publishSecret: source.nodePublishSecretRef && {
    name: source.nodePublishSecretRef.name,
    namespace: pod.metadata.namespace,
  },
});

function accessMode(modes: readonly string[], knowsSingleNode: boolean): AccessMode {
  switch (modes[0]) {
    case 'ReadOnlyMany':
      return 'MULTI_NODE_READER_ONLY';
    case 'ReadWriteMany':
      return 'MULTI_NODE_MULTI_WRITER';
    case 'ReadWriteOncePod':
      return knowsSingleNode ? 'SINGLE_NODE_SINGLE_WRITER' : 'SINGLE_NODE_WRITER';
    default:
      return knowsSingleNode ? 'SINGLE_NODE_MULTI_WRITER' : 'SINGLE_NODE_WRITER';
  }
}

const groupOf = (pod: Pod): number | undefined => pod.spec?.securityContext?.fsGroup;

export const capabilityOf = (volume: CsiVolume, pod: Pod, { singleNodeModes, mountGroup }: Capabilities): VolumeCapability => ({
  ...(volume.block
    ? { block: {} }
    : {
        mount: {
          fsType: volume.fsType,
          mountFlags: volume.mountOptions,
          volumeMountGroup: mountGroup ? String(groupOf(pod) ?? '') : '',
        },
      }),
  accessMode: { mode: accessMode(volume.accessModes, singleNodeModes && !volume.ephemeral) },
});

/** Whether the kubelet gives the files of the volume to the pod's group (`fsGroupPolicy` of the driver). */
export function changesOwner(volume: CsiVolume, driver: CSIDriver | undefined, { mountGroup }: Capabilities): boolean {
  const policy = driver?.spec.fsGroupPolicy ?? 'ReadWriteOnceWithFSType';
  if (volume.block || mountGroup || policy === 'None') return false;
  if (policy === 'File') return true;
  const single = volume.accessModes.includes('ReadWriteOnce') || volume.accessModes.includes('ReadWriteOncePod');
  return volume.fsType !== '' && single && !volume.readOnly;
}

const prefix = 'csi.storage.k8s.io';

/** The context of a volume with what the driver wants to know about the pod. */
export const contextOf = (volume: CsiVolume, pod: Pod, driver: CSIDriver | undefined): Texts => ({
  ...volume.attributes,
  ...(driver?.spec.podInfoOnMount && {
    [`${prefix}/pod.name`]: pod.metadata.name ?? '',
    [`${prefix}/pod.namespace`]: pod.metadata.namespace ?? '',
    [`${prefix}/pod.uid`]: pod.metadata.uid ?? '',
    [`${prefix}/serviceAccount.name`]: pod.spec?.serviceAccountName ?? '',
    [`${prefix}/ephemeral`]: String(volume.ephemeral),
  }),
});

/** How a driver is given tokens of the pod's service account, by audience. */
export const tokenText = (tokens: object): Texts => ({ [`${prefix}/serviceAccount.tokens`]: JSON.stringify(tokens) });

/** Throws when the driver does not serve volumes of pods alone, or nothing else. */
export function checkLifecycle({ driver: name, ephemeral }: CsiVolume, driver: CSIDriver | undefined): void {
  const wanted = ephemeral ? 'Ephemeral' : 'Persistent';
  if (!driver) {
    if (ephemeral) throw new Error(`volume mode "Ephemeral" not supported by driver ${name} (no CSIDriver object)`);
    return;
  }
  const modes = driver.spec.volumeLifecycleModes ?? ['Persistent'];
  if (!modes.includes(wanted))
    throw new Error(`volume mode "${wanted}" not supported by driver ${name} (only supports ${JSON.stringify(modes)})`);
}
