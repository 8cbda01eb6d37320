// Why a claim has no volume, and what became of a volume. Pure.
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '#api/core/v1';
import type { StorageClass } from '#api/storage/v1';
import { someNames } from './words.ts';

export interface ClaimWorld {
  classes: readonly StorageClass[];
  /** The pods of the claim's namespace. */
  pods: readonly Pod[];
  volume: PersistentVolume | undefined;
}

const isDefault = ({ metadata }: StorageClass): boolean =>
  metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true';

/** The claims that a pod mounts, those made for it alone among them. */
export const claimsOf = ({ metadata, spec }: Pod): string[] =>
  (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim) return [persistentVolumeClaim.claimName];
    return ephemeral ? [`${metadata.name}-${name}`] : [];
  });

export const podsUsing = (claim: string, pods: readonly Pod[]): Pod[] =>
  pods.filter((pod) => claimsOf(pod).includes(claim) && pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed');

function pendingSentences({ metadata, spec = {} }: PersistentVolumeClaim, { classes, pods, volume }: ClaimWorld): string[] {
  if (spec.volumeName)
    return [
      volume
        ? `waits to be bound to the volume ${spec.volumeName}`
        : `asks for the volume ${spec.volumeName}, which does not exist`,
    ];
  const names = classes.map((one) => one.metadata.name ?? '');
  const there = names.length > 0 ? `there are: ${someNames(names, 5)}` : 'there is none';
  const className = spec.storageClassName;
  if (className === '') return ['asks for no class: it waits for a volume that somebody makes by hand and that fits'];
  if (className === undefined)
    return [
      classes.some(isDefault)
        ? 'waits for the default StorageClass to be filled in'
        : `names no StorageClass, and none is the default; ${there}`,
    ];
  const found = classes.find((one) => one.metadata.name === className);
  if (!found) return [`its StorageClass ${JSON.stringify(className)} does not exist; ${there}`];
  if (found.volumeBindingMode !== 'WaitForFirstConsumer')
    return [`waits for ${found.provisioner} to make a volume of class ${className}`];
  const using = podsUsing(metadata.name ?? '', pods);
  if (using.length === 0) return [`no pod uses it: class ${className} makes the volume once a pod that does has a node`];
  return [
    `waits for a volume on the node that the scheduler chooses for ${someNames(using.map((pod) => `pod ${pod.metadata.name}`))}`,
  ];
}

/** Says what a claim waits for. */
export function claimSentences(claim: PersistentVolumeClaim, world: ClaimWorld): string[] {
  const { status, spec } = claim;
  if (status?.phase === 'Bound') {
    const size = status.capacity?.storage;
    const wanted = spec?.resources?.requests?.storage;
    return [
      `is bound to the volume ${spec?.volumeName}${size ? ` (${size})` : ''}`,
      ...(size && wanted && size !== wanted ? [`asks for ${wanted}`] : []),
    ];
  }
  if (status?.phase === 'Lost') return [`is lost: its volume ${spec?.volumeName} is gone, and the data with it`];
  return pendingSentences(claim, world);
}

/** Says what has become of a volume. */
export function volumeSentences({ spec = {}, status }: PersistentVolume): string[] {
  const { claimRef, persistentVolumeReclaimPolicy: policy } = spec;
  const claim = claimRef && `${claimRef.namespace}/${claimRef.name}`;
  if (status?.phase === 'Released')
    return policy === 'Retain'
      ? [`its claim ${claim} is gone, and its policy Retain keeps it; to give it to another claim, take spec.claimRef out of it`]
      : [`its claim ${claim} is gone, and its policy ${policy} is to remove it`];
  if (status?.phase === 'Failed') return [`could not be reclaimed: ${status.message ?? status.reason ?? 'without a reason'}`];
  if (status?.phase === 'Bound') return [`is bound to the claim ${claim}`];
  return claim ? [`waits for the claim ${claim}`] : ['is free: no claim is bound to it'];
}
