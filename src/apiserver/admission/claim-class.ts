// The storage class that a claim names, in its field or in the annotation from before there was one.
import type { PersistentVolumeClaim } from '#api/core/v1';

const betaClassAnnotation = 'volume.beta.kubernetes.io/storage-class';

export const classOf = (claim: PersistentVolumeClaim): string | undefined =>
  claim.metadata.annotations?.[betaClassAnnotation] ?? claim.spec?.storageClassName;
