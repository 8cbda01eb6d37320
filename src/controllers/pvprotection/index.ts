// Keeps volumes from being removed while they are bound (pkg/controller/volume/pvprotection).
import type { PersistentVolume } from '#api/core/v1';
import { type ControllerDefinition, defineController, ownKey, type Plan, watch } from '#controller-runtime';
import { persistentVolumes } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';

const finalizer = 'kubernetes.io/pv-protection';

export interface VolumeProtectionView {
  volume: PersistentVolume | undefined;
}

const update = (volume: PersistentVolume, finalizers: string[]): Plan['effects'] => [
  { op: 'update', resource: persistentVolumes, object: { ...volume, metadata: { ...volume.metadata, finalizers } } },
];

export function reconcileVolumeProtection({ volume }: VolumeProtectionView): Plan {
  if (!volume) return { effects: [] };
  const finalizers = volume.metadata.finalizers ?? [];
  const isProtected = finalizers.includes(finalizer);
  if (!volume.metadata.deletionTimestamp) {
    if (isProtected) return { effects: [] };
    return { effects: update(volume, [...finalizers, finalizer]), because: 'A volume in use must not be removed by accident.' };
  }
  if (!isProtected) return { effects: [] };
  if (volume.status?.phase === 'Bound') return { effects: [], because: 'It is bound to a claim, so it stays for now.' };
  return {
    effects: update(
      volume,
      finalizers.filter((one) => one !== finalizer),
    ),
    because: 'No claim is bound to it.',
  };
}

export const pvProtectionController: ControllerDefinition = defineController<VolumeProtectionView>({
  name: 'persistentvolume-protection-controller',
  aliases: ['pv-protection'],
  for: persistentVolumes,
  serviceAccount: 'pv-protection-controller',
  rights: [allow('get,list,update,watch', 'core', 'persistentvolumes'), recordEvents],
  watches: [watch<PersistentVolume>({ resource: persistentVolumes, keys: (volume) => ownKey(volume) })],
  view: (key, cache) => ({ volume: cache.get<PersistentVolume>(persistentVolumes, '', key) }),
  reconcile: reconcileVolumeProtection,
});
