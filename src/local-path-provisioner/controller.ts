// Makes volumes for claims, as directories of nodes, and removes them: a control loop outside of kube-controller-manager, which asks it by an
// annotation of the claim, as it asks any external provisioner (https://kubernetes.io/docs/concepts/storage/dynamic-provisioning/).
import type { PersistentVolume, PersistentVolumeClaim } from '#api/core/v1';
import type { StorageClass } from '#api/storage/v1';
import { splitKey } from '#apimachinery/meta';
import { type ControllerDefinition, defineController, ownKey, type Plan, watch } from '#controller-runtime';
import {
  claimOrVolume,
  isVolumeKey,
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
} from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';
import type { Volumes } from './directories.ts';
import { afterMaking, classOf, type ClaimView, makeVolume, reconcileClaim, volumeNameOf } from './reconcile/claim.ts';
import { type LocalPathConfig, provisionerName, type VolumePlace } from './reconcile/names.ts';
import { afterRemoving, reconcileVolume, removeVolume, type VolumeView } from './reconcile/volume.ts';

type View = ({ of: 'claim' } & ClaimView) | ({ of: 'volume' } & VolumeView);

/** A full disk is not asked again every few milliseconds. */
const backoff = { baseMs: 1_000, maxMs: 1_000_000 };

/** One change of a disk, then what its outcome means. */
const onDisk =
  <Input extends { place: VolumePlace }>(
    change: (place: VolumePlace) => Promise<void>,
    after: (input: Input, problem: string | undefined) => Plan,
  ) =>
  async (input: Input): Promise<Plan> => {
    const problem = await change(input.place).then(
      () => undefined,
      (error: Error) => error.message,
    );
    return after(input, problem);
  };

/** `volumes` makes and removes what lies on the disks of the nodes. */
export const localPathProvisioner = (config: LocalPathConfig, volumes: Volumes): ControllerDefinition =>
  defineController<View>({
    name: 'local-path-provisioner',
    for: claimOrVolume,
    eventSource: provisionerName,
    rights: [
      allow('create,delete,list,patch,watch', 'core', 'persistentvolumes'),
      allow('list,update,watch', 'core', 'persistentvolumeclaims'),
      allow('list,watch', 'storage.k8s.io', 'storageclasses'),
      allow('get', 'core', 'nodes'),
      recordEvents,
    ],
    watches: [
      watch<PersistentVolumeClaim>({ resource: persistentVolumeClaims, keys: (claim) => ownKey(claim) }),
      watch<PersistentVolume>({ resource: persistentVolumes, keys: (volume) => ownKey(volume) }),
      watch<StorageClass>({ resource: storageClasses }),
    ],
    view(key, cache, { live }) {
      if (isVolumeKey(key)) return { of: 'volume', volume: cache.get<PersistentVolume>(persistentVolumes, '', key) };
      const { namespace, name } = splitKey(key);
      const claim = cache.get<PersistentVolumeClaim>(persistentVolumeClaims, namespace, name);
      const storageClass = claim && cache.get<StorageClass>(storageClasses, '', classOf(claim));
      const volume = claim && cache.get<PersistentVolume>(persistentVolumes, '', volumeNameOf(claim));
      return { of: 'claim', claim, storageClass, volume, live };
    },
    reconcile: (view) => (view.of === 'claim' ? reconcileClaim(config, view) : reconcileVolume(config, view)),
    actions: () => [
      makeVolume.by(onDisk((place) => volumes.make(place), afterMaking)),
      removeVolume.by(onDisk((place) => volumes.remove(place), afterRemoving)),
    ],
    backoff,
  });
