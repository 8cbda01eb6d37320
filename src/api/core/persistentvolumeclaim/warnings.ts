// Warnings about claims (pkg/api/persistentvolumeclaim).
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '#api/core/v1';
import { type Path, root } from '#apimachinery/field';
import { quote } from '#utils';
import { isWhole } from '../../common/quantities.ts';

export const storageClassAnnotation = 'volume.beta.kubernetes.io/storage-class';

/** Warns of sizes that are no whole number of bytes. */
export function claimSizeWarnings(path: Path, spec: PersistentVolumeClaimSpec | undefined): string[] {
  return (['requests', 'limits'] as const).flatMap((kind) => {
    const amount = spec?.resources?.[kind]?.['storage'];
    if (amount === undefined || isWhole(amount)) return [];
    return [
      `${path.child('resources', kind).key('storage').toString()}: fractional byte value ${quote(amount)} is invalid, must be an integer`,
    ];
  });
}

export function claimWarnings({ metadata, spec }: PersistentVolumeClaim): string[] {
  const old =
    metadata.annotations?.[storageClassAnnotation] === undefined
      ? []
      : [
          `${root('metadata', 'annotations').key(storageClassAnnotation).toString()}: deprecated since v1.8; use "storageClassName" attribute instead`,
        ];
  return [...old, ...claimSizeWarnings(root('spec'), spec)];
}
