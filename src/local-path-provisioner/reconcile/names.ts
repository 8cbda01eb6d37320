// What the provisioner calls things, and where a volume lies. Names are those of sig-storage-lib-external-provisioner. Pure.
import type { PersistentVolume, PersistentVolumeClaim } from '#api/core/v1';

/** The name of the provisioner in StorageClasses, which is also the source of its events. */
export const provisionerName = 'sagong.dev/local-path';

export const storageProvisioner = 'volume.kubernetes.io/storage-provisioner';
export const betaStorageProvisioner = 'volume.beta.kubernetes.io/storage-provisioner';
export const selectedNode = 'volume.kubernetes.io/selected-node';
export const provisionedBy = 'pv.kubernetes.io/provisioned-by';
/** Keeps a volume until its data is gone, also when the volume is deleted before its claim (KEP-2644). */
export const finalizer = 'external-provisioner.volume.kubernetes.io/finalizer';
export const hostnameLabel = 'kubernetes.io/hostname';

export interface LocalPathConfig {
  /** The disks of the nodes, a folder for each by the first part of its name; absolute. */
  nodesDir: string;
  /** The nodes are simulated: their volumes are objects without directories. */
  simulated: boolean;
}

/** A place on the disk of a node. */
export interface VolumePlace {
  node: string;
  /** The name of the volume. */
  name: string;
  path: string;
}

export const placeOf = ({ nodesDir }: LocalPathConfig, node: string, name: string): VolumePlace => ({
  node,
  name,
  path: `${nodesDir}/${node.split('.', 1)[0]}/volumes/${name}`,
});

/** Where a volume lies. Undefined for a path that this provisioner cannot have made: nothing there is its own to remove. */
export function placeOfVolume(config: LocalPathConfig, { metadata, spec }: PersistentVolume): VolumePlace | undefined {
  const { name = '' } = metadata;
  const path = spec?.local?.path ?? '';
  const [node = ''] = path.startsWith(`${config.nodesDir}/`) ? path.slice(config.nodesDir.length + 1).split('/') : [];
  const place = placeOf(config, node, name);
  return /^[a-z0-9][a-z0-9.-]*$/.test(node) && place.path === path ? place : undefined;
}

export const asClaim = (claim: PersistentVolumeClaim): PersistentVolumeClaim => ({
  ...claim,
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
});
export const asVolume = (volume: PersistentVolume): PersistentVolume => ({
  ...volume,
  apiVersion: 'v1',
  kind: 'PersistentVolume',
});
