// What can be attached: persistent volumes of CSI drivers, their names in node status and those of their VolumeAttachments (pkg/volume/csi).
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '#api/core/v1';
import type { CSIDriver, VolumeAttachment } from '#api/storage/v1';
import { controllerOf, type GroupVersionResource } from '#apimachinery/meta';
import type { Cache } from '#controller-runtime';
import { persistentVolumeClaims, persistentVolumes } from '#controller-runtime/platform';
import { sha256Hex } from '#pki';

const storage = (resource: string): GroupVersionResource => ({ group: 'storage.k8s.io', version: 'v1', resource });
export const volumeAttachments = storage('volumeattachments');
export const csiDrivers = storage('csidrivers');

const uniquePrefix = 'kubernetes.io/csi/';

export interface Volume {
  /** The name as in `volumesInUse` and `volumesAttached` of nodes. */
  uniqueName: string;
  /** The name of the persistent volume. */
  name: string;
  driver: string;
  handle: string;
  /** One node at a time. */
  isExclusive: boolean;
}

/** A node, and what of a driver is to be there. */
export const attachmentName = ({ handle, driver }: Pick<Volume, 'handle' | 'driver'>, nodeName: string): string =>
  `csi-${sha256Hex(`${handle}${driver}${nodeName}`)}`;

export const isCsiName = (uniqueName: string): boolean => uniqueName.startsWith(uniquePrefix);

/** Reads a unique name; the volume's access modes are not in it. */
export function partsOf(uniqueName: string): Pick<Volume, 'handle' | 'driver'> | undefined {
  const at = uniqueName.indexOf('^');
  if (!isCsiName(uniqueName) || at < 0) return undefined;
  return { driver: uniqueName.slice(uniquePrefix.length, at), handle: uniqueName.slice(at + 1) };
}

/** The volume of a CSI driver; undefined for another kind. */
export function volumeOf({ metadata, spec }: PersistentVolume): Volume | undefined {
  if (!spec?.csi) return undefined;
  const { driver, volumeHandle: handle } = spec.csi;
  const modes = spec.accessModes ?? [];
  return {
    uniqueName: `${uniquePrefix}${driver}^${handle}`,
    name: metadata.name ?? '',
    driver,
    handle,
    isExclusive: modes.length > 0 && !modes.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany'),
  };
}

const isIdle = (statuses: readonly { state?: { running?: unknown; terminated?: unknown; waiting?: unknown } }[] = []): boolean =>
  statuses.every(({ state }) => state?.terminated !== undefined || state?.waiting !== undefined);

/** Whether the pod needs its volumes: it has a node and is not finished, nor deleted with all its containers ended. */
export const needsVolumes = ({ metadata, spec, status }: Pod): boolean =>
  Boolean(spec?.nodeName) &&
  status?.phase !== 'Failed' &&
  status?.phase !== 'Succeeded' &&
  !(
    metadata.deletionTimestamp &&
    isIdle(status?.initContainerStatuses) &&
    isIdle(status?.containerStatuses) &&
    isIdle(status?.ephemeralContainerStatuses)
  );

/** What a driver says of itself; a driver without a CSIDriver object attaches. */
const attaches = (cache: Cache, driver: string): boolean =>
  cache.get<CSIDriver>(csiDrivers, '', driver)?.spec.attachRequired !== false;

/** The persistent volumes of drivers that the pod uses, bound both ways. */
export function* boundVolumes(pod: Pod, cache: Cache): Iterable<Volume> {
  const namespace = pod.metadata.namespace ?? '';
  for (const { name, persistentVolumeClaim, ephemeral } of pod.spec?.volumes ?? []) {
    const claimName = persistentVolumeClaim?.claimName ?? (ephemeral && `${pod.metadata.name}-${name}`);
    if (!claimName) continue;
    const claim = cache.get<PersistentVolumeClaim>(persistentVolumeClaims, namespace, claimName);
    if (!claim?.spec?.volumeName || claim.status?.phase !== 'Bound') continue;
    if (ephemeral && controllerOf(claim.metadata)?.uid !== pod.metadata.uid) continue;
    const persistent = cache.get<PersistentVolume>(persistentVolumes, '', claim.spec.volumeName);
    if (!persistent || persistent.spec?.claimRef?.uid !== claim.metadata.uid) continue;
    const volume = volumeOf(persistent);
    if (volume) yield volume;
  }
}

/** The volumes of the pod that have to be attached. */
export function* attachableVolumes(pod: Pod, cache: Cache): Iterable<Volume> {
  for (const volume of boundVolumes(pod, cache)) if (attaches(cache, volume.driver)) yield volume;
}

/** The volume behind an attachment that this loop made; undefined for those of others. */
export function attachedVolume({ metadata, spec }: VolumeAttachment, cache: Cache): Volume | undefined {
  const name = spec.source.persistentVolumeName;
  const persistent = name === undefined ? undefined : cache.get<PersistentVolume>(persistentVolumes, '', name);
  const volume = persistent && volumeOf(persistent);
  return volume && attachmentName(volume, spec.nodeName) === metadata.name ? volume : undefined;
}

export const isManaged = (node: Node | undefined): boolean =>
  node?.metadata.annotations?.['volumes.kubernetes.io/controller-managed-attach-detach'] !== undefined;
export const isReady = (node: Node | undefined): boolean =>
  (node?.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');
export const isOutOfService = (node: Node | undefined): boolean =>
  (node?.spec?.taints ?? []).some(({ key }) => key === 'node.kubernetes.io/out-of-service');
export const reportedOf = (node: Node | undefined): string[] => (node?.status?.volumesAttached ?? []).map(({ name }) => name);
