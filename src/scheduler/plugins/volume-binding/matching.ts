// Which volume a claim could take (upstream component-helpers/storage/volume FindMatchingVolume).
import type { Node, PersistentVolume, PersistentVolumeClaim } from '#api/core/v1';
import { fromLabelSelector } from '#apimachinery/labels';
import { parseQuantity, zeroQuantity } from '#apimachinery/quantity';
import { nodeSelectorMatches } from '#component-helpers/pod';

const classAnnotation = 'volume.beta.kubernetes.io/storage-class';
export const selectedNodeAnnotation = 'volume.kubernetes.io/selected-node';
export const bindCompletedAnnotation = 'pv.kubernetes.io/bind-completed';
const boundByControllerAnnotation = 'pv.kubernetes.io/bound-by-controller';

export const claimClass = ({ metadata, spec }: PersistentVolumeClaim): string =>
  metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? '';

const volumeClass = ({ metadata, spec }: PersistentVolume): string =>
  metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? '';

const quantityOf = (text: string | undefined) => (text === undefined ? zeroQuantity : parseQuantity(text));

export const requestedStorage = (claim: PersistentVolumeClaim) => quantityOf(claim.spec?.resources?.requests?.storage);

export const isReachable = ({ spec }: PersistentVolume, node: Node): boolean =>
  spec?.nodeAffinity?.required === undefined || nodeSelectorMatches(spec.nodeAffinity.required, node);

export function isBoundTo({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const ref = spec?.claimRef;
  if (ref === undefined || ref.name !== metadata.name || ref.namespace !== metadata.namespace) return false;
  return !ref.uid || ref.uid === metadata.uid;
}

function suits(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  if (volume.spec?.claimRef !== undefined && !isBoundTo(volume, claim)) return false;
  if (quantityOf(volume.spec?.capacity?.storage).compare(requestedStorage(claim)) < 0) return false;
  if ((claim.spec?.volumeMode ?? 'Filesystem') !== (volume.spec?.volumeMode ?? 'Filesystem')) return false;
  if ((claim.spec?.volumeAttributesClassName ?? '') !== (volume.spec?.volumeAttributesClassName ?? '')) return false;
  return volume.metadata.deletionTimestamp === undefined;
}

function isFree(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  if (volume.status?.phase !== 'Available' || volumeClass(volume) !== claimClass(claim)) return false;
  const { selector, accessModes = [] } = claim.spec ?? {};
  if (selector !== undefined && !fromLabelSelector(selector).matches(volume.metadata.labels)) return false;
  return accessModes.every((mode) => volume.spec?.accessModes?.includes(mode));
}

/** The one already bound to the claim, if the node reaches it, else the smallest that will do. */
export function matchingVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  node: Node,
  taken: ReadonlySet<string>,
): PersistentVolume | undefined {
  let smallest: PersistentVolume | undefined;
  for (const volume of volumes) {
    if (taken.has(volume.metadata.name ?? '') || !suits(volume, claim)) continue;
    if (isBoundTo(volume, claim)) return isReachable(volume, node) ? volume : undefined;
    if (!isFree(volume, claim) || !isReachable(volume, node)) continue;
    const size = quantityOf(volume.spec?.capacity?.storage);
    if (smallest === undefined || size.compare(quantityOf(smallest.spec?.capacity?.storage)) < 0) smallest = volume;
  }
  return smallest;
}

/** The volume as it is once it is meant for the claim. */
export function boundVolume(volume: PersistentVolume, claim: PersistentVolumeClaim): PersistentVolume {
  const { namespace, name, uid, resourceVersion } = claim.metadata;
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion };
  const annotations = isBoundTo(volume, claim)
    ? volume.metadata.annotations
    : { ...volume.metadata.annotations, [boundByControllerAnnotation]: 'yes' };
  return {
    ...volume,
    metadata: { ...volume.metadata, ...(annotations && { annotations }) },
    spec: { ...volume.spec, claimRef },
  };
}
