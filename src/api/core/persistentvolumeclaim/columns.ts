// Texts that the columns of volumes and claims share (pkg/apis/core/v1/helper).
import type { ObjectMeta } from '#apimachinery/meta';
import { storageClassAnnotation } from './warnings.ts';

const short = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
] as const;

/** Access modes in the short form of kubectl's column: `RWO,ROX`. */
export const accessModesText = (modes: readonly string[] | undefined): string =>
  short
    .filter(([mode]) => modes?.includes(mode))
    .map(([, text]) => text)
    .join(',');

/** The old annotation counts before the field. */
export const storageClassOf = ({ annotations }: ObjectMeta, spec: { storageClassName?: string } | undefined): string =>
  annotations?.[storageClassAnnotation] ?? spec?.storageClassName ?? '';
