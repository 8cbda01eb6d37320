// Volumes that are labelled with a zone or region are used there only (upstream plugins/volumezone).
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '#api/core/v1';
import type { StorageClass } from '#api/storage/v1';
import { deepEqual } from '#utils';
import { type Cycle, interest, type Plugin, type Status, unresolvable } from '../../framework/index.ts';

const name = 'VolumeZone';
const elsewhere = unresolvable(name, 'node(s) had no available volume zone');

const zone = 'topology.kubernetes.io/zone';
const region = 'topology.kubernetes.io/region';
/** Former names of the labels, and what they are called now. */
const formerNames: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': zone,
  'failure-domain.beta.kubernetes.io/region': region,
};
const topologyLabels = [...Object.keys(formerNames), zone, region];

interface Place {
  readonly key: string;
  readonly values: ReadonlySet<string>;
}

/** A label may list several zones: `a__b`. */
const placesOf = ({ metadata }: PersistentVolume): Place[] =>
  topologyLabels.flatMap((key) => {
    const value = metadata.labels?.[key];
    return value === undefined ? [] : [{ key, values: new Set(value.split('__').map((one) => one.trim())) }];
  });

const ownClaims = (pod: Pod): string[] =>
  (pod.spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);

/** An unbound claim is fine when its class waits for the pod. */
function unboundStatus({ metadata, spec }: PersistentVolumeClaim, { view }: Cycle): Status | undefined {
  const className = metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec?.storageClassName ?? '';
  if (className === '') return unresolvable(name, 'PersistentVolumeClaim had no pv name and storageClass name');
  const found = view.get('StorageClass', '', className);
  if (found === undefined) return unresolvable(name, `storageclass.storage.k8s.io ${JSON.stringify(className)} not found`);
  if (found.volumeBindingMode === undefined) {
    return unresolvable(name, `VolumeBindingMode not set for StorageClass ${JSON.stringify(className)}`);
  }
  return found.volumeBindingMode === 'WaitForFirstConsumer' ? undefined : unresolvable(name, 'PersistentVolume had no name');
}

function placesOfPod(cycle: Cycle): Place[] | Status {
  const { pod, view } = cycle;
  const places: Place[] = [];
  for (const claimName of ownClaims(pod.pod)) {
    if (claimName === '') return unresolvable(name, 'PersistentVolumeClaim had no name');
    const claim = view.get('PersistentVolumeClaim', pod.namespace, claimName);
    if (claim === undefined) return unresolvable(name, `persistentvolumeclaim ${JSON.stringify(claimName)} not found`);
    const volumeName = claim.spec?.volumeName;
    if (!volumeName) {
      const status = unboundStatus(claim, cycle);
      if (status !== undefined) return status;
      continue;
    }
    const volume = view.get('PersistentVolume', '', volumeName);
    if (volume === undefined) return unresolvable(name, `persistentvolume ${JSON.stringify(volumeName)} not found`);
    places.push(...placesOf(volume));
  }
  return places;
}

function isThere({ key, values }: Place, { metadata }: Node): boolean {
  const value = metadata.labels?.[key] ?? metadata.labels?.[formerNames[key] ?? key];
  return value !== undefined && values.has(value);
}

export const volumeZone = (): Plugin<readonly Place[]> => ({
  name,
  events: [
    interest<StorageClass>('StorageClass', ['Add'], (_pod, { now }) => now?.volumeBindingMode === 'WaitForFirstConsumer'),
    interest('Node', ['Add', 'UpdateNodeLabel']),
    interest<PersistentVolumeClaim>('PersistentVolumeClaim', ['Add', 'Update'], ({ pod, namespace }, { now }) => {
      return now?.metadata.namespace === namespace && ownClaims(pod).includes(now.metadata.name ?? '');
    }),
    interest<PersistentVolume>('PersistentVolume', ['Add', 'Update'], (_pod, { old, now }) => {
      return (
        now !== undefined &&
        (old === undefined ||
          !deepEqual(
            placesOf(old).map(({ key }) => old.metadata.labels?.[key]),
            placesOf(now).map(({ key }) => now.metadata.labels?.[key]),
          ))
      );
    }),
  ],
  preFilter(cycle) {
    if (cycle.pod.claims.length === 0) return { skip: true };
    const places = placesOfPod(cycle);
    if (!Array.isArray(places)) return { status: places as Status };
    return places.length === 0 ? { skip: true } : { state: places };
  },
  filter(places, { node }) {
    const zoned = topologyLabels.some((key) => node.metadata.labels?.[key] !== undefined);
    return !zoned || places.every((place) => isThere(place, node)) ? undefined : elsewhere;
  },
});
