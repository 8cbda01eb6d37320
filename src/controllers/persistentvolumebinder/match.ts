// Which volume fits a claim (k8s.io/component-helpers/storage/volume; pkg/controller/volume/persistentvolume, index). Pure.
import type { PersistentVolume, PersistentVolumeClaim } from '#api/core/v1';
import type { StorageClass } from '#api/storage/v1';
import { fromLabelSelector } from '#apimachinery/labels';
import { parseQuantity, type Quantity, zeroQuantity } from '#apimachinery/quantity';

export const boundByController = 'pv.kubernetes.io/bound-by-controller';
export const bindCompleted = 'pv.kubernetes.io/bind-completed';
export const selectedNode = 'volume.kubernetes.io/selected-node';
export const provisionedBy = 'pv.kubernetes.io/provisioned-by';
export const storageProvisioner = 'volume.kubernetes.io/storage-provisioner';
export const betaStorageProvisioner = 'volume.beta.kubernetes.io/storage-provisioner';
const classAnnotation = 'volume.beta.kubernetes.io/storage-class';
const defaultClassAnnotations = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

type Volume = PersistentVolume;
type Claim = PersistentVolumeClaim;

export const hasAnnotation = ({ metadata }: Volume | Claim, name: string): boolean =>
  Object.hasOwn(metadata.annotations ?? {}, name);

export const classOf = ({ metadata, spec }: Volume | Claim): string =>
  metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? '';

/** Whether the claim says which class it wants, if only "none". */
export const namesClass = (claim: Claim): boolean =>
  hasAnnotation(claim, classAnnotation) || claim.spec?.storageClassName !== undefined;

/** The newest of the default classes. */
export const defaultClass = (classes: readonly StorageClass[]): StorageClass | undefined =>
  classes
    .filter(({ metadata }) => defaultClassAnnotations.some((name) => metadata.annotations?.[name] === 'true'))
    .sort(
      (a, b) =>
        Date.parse(b.metadata.creationTimestamp ?? '') - Date.parse(a.metadata.creationTimestamp ?? '') ||
        ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1),
    )[0];

/** Whether the volume is bound to the claim, or was set aside for it. */
export function isBoundTo({ spec }: Volume, { metadata }: Claim): boolean {
  const ref = spec?.claimRef;
  if (!ref || ref.name !== metadata.name || ref.namespace !== metadata.namespace) return false;
  return !ref.uid || ref.uid === metadata.uid;
}

const sizeOf = (text: string | undefined): Quantity => (text === undefined ? zeroQuantity : parseQuantity(text));
export const capacityOf = ({ spec }: Volume): Quantity => sizeOf(spec?.capacity?.storage);
const requestOf = ({ spec }: Claim): Quantity => sizeOf(spec?.resources?.requests?.storage);

export const sameMode = (volume: Volume, claim: Claim): boolean =>
  (volume.spec?.volumeMode ?? 'Filesystem') === (claim.spec?.volumeMode ?? 'Filesystem');

const sameAttributes = (volume: Volume, claim: Claim): boolean =>
  (volume.spec?.volumeAttributesClassName ?? '') === (claim.spec?.volumeAttributesClassName ?? '');

const hasModes = ({ spec }: Volume, claim: Claim): boolean =>
  (claim.spec?.accessModes ?? []).every((mode) => spec?.accessModes?.includes(mode));

/** Why a volume the claim asks for by name cannot be bound to it. */
export function mismatch(volume: Volume, claim: Claim): string | undefined {
  if (volume.metadata.deletionTimestamp) return `the volume is marked for deletion "${volume.metadata.name}"`;
  if (capacityOf(volume).compare(requestOf(claim)) < 0) return 'requested PV is too small';
  if (classOf(volume) !== classOf(claim)) return 'storageClassName does not match';
  if (!sameAttributes(volume, claim)) return 'volumeAttributesClassName does not match';
  if (!sameMode(volume, claim)) return 'incompatible volumeMode';
  return hasModes(volume, claim) ? undefined : 'incompatible accessMode';
}

/** The smallest volume that fits, of those with the fewest access modes; one set aside for the claim comes first. */
export function bestMatch(claim: Claim, volumes: readonly Volume[], delayed: boolean): Volume | undefined {
  const request = requestOf(claim);
  const selector = claim.spec?.selector ? fromLabelSelector(claim.spec.selector) : undefined;
  const able = volumes.filter(
    (volume) =>
      hasModes(volume, claim) &&
      (!volume.spec?.claimRef || isBoundTo(volume, claim)) &&
      capacityOf(volume).compare(request) >= 0 &&
      sameMode(volume, claim) &&
      sameAttributes(volume, claim) &&
      !volume.metadata.deletionTimestamp,
  );
  const reserved = able.find((volume) => isBoundTo(volume, claim));
  if (reserved || delayed) return reserved;
  return able
    .filter(
      (volume) =>
        volume.status?.phase === 'Available' &&
        classOf(volume) === classOf(claim) &&
        (!selector || selector.matches(volume.metadata.labels ?? {})),
    )
    .sort(
      (a, b) => (a.spec?.accessModes?.length ?? 0) - (b.spec?.accessModes?.length ?? 0) || capacityOf(a).compare(capacityOf(b)),
    )[0];
}
