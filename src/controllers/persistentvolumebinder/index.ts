// Binds claims to volumes (pkg/controller/volume/persistentvolume; https://kubernetes.io/docs/concepts/storage/persistent-volumes/).
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '#api/core/v1';
import type { StorageClass } from '#api/storage/v1';
import { keyOf, splitKey } from '#apimachinery/meta';
import { isPodTerminal } from '#component-helpers/workload';
import { type Cache, type ControllerDefinition, defineController, watch } from '#controller-runtime';
import {
  claimIndexer,
  claimOrVolume,
  isVolumeKey,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  podsByClaim,
  storageClasses,
} from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';
import { type ClaimView, reconcileClaim } from './claim.ts';
import { classOf } from './match.ts';
import { reconcileVolume, type VolumeView } from './volume.ts';

const syncPeriodMs = 15_000;

type View = ({ of: 'claim' } & ClaimView) | ({ of: 'volume' } & VolumeView);

/** The volume, its claim, and claims that wait for such a volume. */
function* keysOfVolume(volume: PersistentVolume, _old: unknown, cache: Cache): Iterable<string> {
  yield volume.metadata.name ?? '';
  const ref = volume.spec?.claimRef;
  if (ref) yield keyOf({ namespace: ref.namespace ?? '', name: ref.name ?? '' });
  for (const claim of cache.list<PersistentVolumeClaim>(persistentVolumeClaims)) {
    const { volumeName } = claim.spec ?? {};
    const isNamed = volumeName === volume.metadata.name;
    if (isNamed || (!volumeName && !ref && classOf(claim) === classOf(volume))) yield keyOf(claim.metadata);
  }
}

function* keysOfClaim(claim: PersistentVolumeClaim, _old: unknown, cache: Cache): Iterable<string> {
  yield keyOf(claim.metadata);
  if (claim.spec?.volumeName) yield claim.spec.volumeName;
  for (const { metadata, spec } of cache.list<PersistentVolume>(persistentVolumes))
    if (spec?.claimRef?.name === claim.metadata.name && spec?.claimRef?.namespace === claim.metadata.namespace)
      yield metadata.name ?? '';
}

function viewOf(key: string, cache: Cache, live: VolumeView['live']): View {
  const volumes = (): PersistentVolume[] => cache.list<PersistentVolume>(persistentVolumes);
  if (isVolumeKey(key)) {
    const volume = cache.get<PersistentVolume>(persistentVolumes, '', key);
    const ref = volume?.spec?.claimRef;
    const claim = ref && cache.get<PersistentVolumeClaim>(persistentVolumeClaims, ref.namespace ?? '', ref.name ?? '');
    return { of: 'volume', volume, claim, live };
  }
  const { namespace, name } = splitKey(key);
  const claim = cache.get<PersistentVolumeClaim>(persistentVolumeClaims, namespace, name);
  const waitingPods = cache
    .byIndex<Pod>(pods, podsByClaim, key)
    .filter((pod) => !isPodTerminal(pod) && !pod.spec?.nodeName)
    .map(({ metadata }) => metadata.name ?? '');
  return { of: 'claim', claim, volumes: volumes(), classes: cache.list<StorageClass>(storageClasses), waitingPods };
}

export const persistentVolumeBinder: ControllerDefinition = defineController<View>({
  name: 'persistentvolume-binder-controller',
  aliases: ['persistentvolume-binder'],
  for: claimOrVolume,
  serviceAccount: 'persistent-volume-binder',
  eventSource: 'persistentvolume-controller',
  rights: [
    allow('create,delete,get,list,update,watch', 'core', 'persistentvolumes'),
    allow('update', 'core', 'persistentvolumes/status'),
    allow('get,list,update,watch', 'core', 'persistentvolumeclaims'),
    allow('update', 'core', 'persistentvolumeclaims/status'),
    allow('create,delete,get,list,watch', 'core', 'pods'),
    allow('get,list,watch', 'storage.k8s.io', 'storageclasses'),
    allow('list,watch', 'core', 'nodes'),
    recordEvents,
    allow('watch', 'core', 'events'),
  ],
  watches: [
    watch<PersistentVolume>({ resource: persistentVolumes, keys: keysOfVolume }),
    watch<PersistentVolumeClaim>({ resource: persistentVolumeClaims, keys: keysOfClaim }),
    watch<StorageClass>({ resource: storageClasses }),
    watch<Pod>({ resource: pods, indexers: claimIndexer }),
  ],
  periodic: {
    everyMs: syncPeriodMs,
    *keys(cache) {
      for (const { metadata } of cache.list(persistentVolumeClaims)) yield keyOf(metadata);
      for (const { metadata } of cache.list(persistentVolumes)) yield metadata.name ?? '';
    },
  },
  view: (key, cache, { live }) => viewOf(key, cache, live),
  reconcile: (view) => (view.of === 'claim' ? reconcileClaim(view) : reconcileVolume(view)),
  concurrency: 2,
});
