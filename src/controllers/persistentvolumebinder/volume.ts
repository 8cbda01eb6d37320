// What is to happen with a volume: available, bound, released or reclaimed (pkg/controller/volume/persistentvolume, syncVolume). Pure.
import type { PersistentVolume, PersistentVolumeClaim } from '#api/core/v1';
import type { Effect, Plan, Ref } from '#controller-runtime';
import { refKey } from '#controller-runtime';
import { persistentVolumeClaims, persistentVolumes } from '#controller-runtime/platform';
import type { KubeObject } from '#apimachinery/meta';
import { setVolumePhase } from './claim.ts';
import { boundByController, hasAnnotation, provisionedBy, sameMode } from './match.ts';

type Volume = PersistentVolume;
type Claim = PersistentVolumeClaim;

export interface VolumeView {
  volume: Volume | undefined;
  /** The one it names, by name. */
  claim: Claim | undefined;
  live: ReadonlyMap<string, KubeObject | undefined>;
}

const tell = (object: Volume | Claim, kind: string, type: 'Normal' | 'Warning', reason: string, message: string): Effect => ({
  op: 'event',
  regarding: { ...object, apiVersion: 'v1', kind } as KubeObject,
  type,
  reason,
  message,
});

const failed = (volume: Volume, reason: string, message: string): Effect[] =>
  volume.status?.phase === 'Failed' && volume.status.message === message
    ? []
    : [...setVolumePhase(volume, 'Failed', message), tell(volume, 'PersistentVolume', 'Warning', reason, message)];

/** Deleting a volume made by a provisioner is that provisioner's work; volumes that nobody made cannot be deleted. */
function reclaim(volume: Volume): Effect[] {
  const { spec, metadata } = volume;
  switch (spec?.persistentVolumeReclaimPolicy) {
    case 'Retain':
      return [];
    case 'Recycle':
      return failed(volume, 'VolumeFailedRecycle', 'No recycler plugin found for the volume!');
    case 'Delete': {
      const maker = metadata.annotations?.[provisionedBy] ?? '';
      if (spec.csi || (maker !== '' && !maker.startsWith('kubernetes.io/'))) return [];
      const message = `error getting deleter volume plugin for volume "${metadata.name}": no deletable volume plugin matched`;
      return failed(volume, 'VolumeFailedDelete', message);
    }
    default:
      return failed(volume, 'VolumeUnknownReclaimPolicy', 'Volume has unrecognized PersistentVolumeReclaimPolicy');
  }
}

function release(volume: Volume): Plan {
  const phase = volume.status?.phase;
  if (phase !== 'Released' && phase !== 'Failed')
    return { effects: setVolumePhase(volume, 'Released'), because: 'The claim it was bound to is gone.' };
  return { effects: reclaim(volume), because: `Its claim is gone; its policy is ${volume.spec?.persistentVolumeReclaimPolicy}.` };
}

/** Takes back a binding that the claim did not want. A reservation made by the user stays one. */
function unbind(volume: Volume): Effect[] {
  const { [boundByController]: mark, ...annotations } = volume.metadata.annotations ?? {};
  const { claimRef, ...spec } = volume.spec ?? {};
  const { uid: _, ...reservation } = claimRef ?? {};
  const object: Volume =
    mark === undefined
      ? { ...volume, spec: { ...spec, claimRef: reservation } }
      : { ...volume, metadata: { ...volume.metadata, annotations }, spec };
  return [{ op: 'update', resource: persistentVolumes, object }];
}

export function reconcileVolume({ volume, claim: cached, live }: VolumeView): Plan {
  const ref = volume?.spec?.claimRef;
  if (!volume) return { effects: [] };
  if (!ref?.uid) return { effects: setVolumePhase(volume, 'Available') };
  let claim = cached;
  if (claim?.metadata.uid !== ref.uid) {
    // Before data may be lost, the server is asked.
    const ask: Ref = { resource: persistentVolumeClaims, namespace: ref.namespace ?? '', name: ref.name ?? '' };
    if (!live.has(refKey(ask))) return { effects: [], needsLive: [ask] };
    claim = live.get(refKey(ask)) as Claim | undefined;
  }
  if (claim?.metadata.uid !== ref.uid) return release(volume);
  const wanted = claim?.spec?.volumeName ?? '';
  if (wanted === volume.metadata.name) return { effects: setVolumePhase(volume, 'Bound') };
  if (wanted === '' && claim) {
    if (sameMode(volume, claim)) return { effects: [] };
    const { name } = claim.metadata;
    return {
      effects: [
        tell(
          volume,
          'PersistentVolume',
          'Warning',
          'VolumeMismatch',
          `Cannot bind PersistentVolume to requested PersistentVolumeClaim "${name}" due to incompatible volumeMode.`,
        ),
        tell(
          claim,
          'PersistentVolumeClaim',
          'Warning',
          'VolumeMismatch',
          `Cannot bind PersistentVolume "${volume.metadata.name}" to requested PersistentVolumeClaim due to incompatible volumeMode.`,
        ),
      ],
    };
  }
  if (hasAnnotation(volume, provisionedBy) && volume.spec?.persistentVolumeReclaimPolicy === 'Delete') return release(volume);
  return { effects: unbind(volume), because: 'Its claim is bound to another volume.' };
}
