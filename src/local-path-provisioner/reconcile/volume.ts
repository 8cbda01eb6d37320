// What is to happen with a volume that was made here (sig-storage-lib-external-provisioner, handleProtectionFinalizer, shouldDelete and
// deleteVolumeOperation; KEP-2644): its data goes first, then the volume. Pure.
import type { PersistentVolume } from '#api/core/v1';
import { action, type Effect, type Plan } from '#controller-runtime';
import { persistentVolumes, refOf } from '#controller-runtime/platform';
import {
  asVolume,
  finalizer,
  type LocalPathConfig,
  placeOfVolume,
  provisionedBy,
  provisionerName,
  type VolumePlace,
} from './names.ts';

type Volume = PersistentVolume;

export interface VolumeView {
  volume: Volume | undefined;
}

/** A volume whose data is to go. */
export interface Removing {
  volume: Volume;
  place: VolumePlace;
}

/** Removes the directory of a volume with its data. */
export const removeVolume = action<Removing>('remove');

const withoutData = (volume: Volume, problem: string): Plan => ({
  effects: [{ op: 'event', regarding: asVolume(volume), type: 'Warning', reason: 'VolumeFailedDelete', message: problem }],
  failure: problem,
});

const patchFinalizers = (volume: Volume, finalizers: Record<string, string[]>): Effect => ({
  op: 'patch',
  ref: refOf(persistentVolumes, volume),
  type: 'application/strategic-merge-patch+json',
  body: { metadata: { uid: volume.metadata.uid, ...finalizers } },
  goneIsDone: true,
});
const addFinalizer = (volume: Volume): Effect => patchFinalizers(volume, { finalizers: [finalizer] });
const removeFinalizer = (volume: Volume): Effect =>
  patchFinalizers(volume, { '$deleteFromPrimitiveList/finalizers': [finalizer] });

export function reconcileVolume(config: LocalPathConfig, { volume }: VolumeView): Plan {
  if (!volume || volume.metadata.annotations?.[provisionedBy] !== provisionerName) return { effects: [] };
  const { metadata, spec, status } = volume;
  const isDeleted = spec?.persistentVolumeReclaimPolicy === 'Delete';
  const isMarked = (metadata.finalizers ?? []).includes(finalizer);
  if (!isDeleted) {
    if (!isMarked) return { effects: [] };
    return { effects: [removeFinalizer(volume)], because: 'Its data is to be kept, so the volume may go at any time.' };
  }
  if (status?.phase === 'Bound' && !isMarked && !metadata.deletionTimestamp)
    return { effects: [addFinalizer(volume)], because: 'Its data is to go with it, so it has to wait for that.' };
  if (status?.phase !== 'Released' || (metadata.deletionTimestamp && !isMarked)) return { effects: [] };
  const place = placeOfVolume(config, volume);
  if (!place)
    return {
      ...withoutData(
        volume,
        `path "${spec?.local?.path ?? ''}" of volume "${metadata.name}" is not a place of ${provisionerName}`,
      ),
      because: 'What lies at its path was not made here, so it is not removed.',
    };
  return {
    effects: [removeVolume.on({ volume, place })],
    because: config.simulated
      ? 'Its claim is gone, so the volume goes; there is no data, for the node is simulated.'
      : `Its claim is gone, so the data in ${place.path} and the volume go.`,
  };
}

/** The volume goes once its data is gone. `problem`: why it is not. */
export function afterRemoving({ volume }: Removing, problem: string | undefined): Plan {
  if (problem !== undefined) return withoutData(volume, problem);
  return {
    effects: [
      {
        op: 'delete',
        ref: refOf(persistentVolumes, volume),
        options: { preconditions: { uid: volume.metadata.uid ?? '' } },
      },
      removeFinalizer(volume),
    ],
  };
}
