// Makes the claims of generic ephemeral volumes, owned by their pod (pkg/controller/volume/ephemeral).
import type { PersistentVolumeClaim, Pod } from '#api/core/v1';
import { controllerOf, splitKey } from '#apimachinery/meta';
import {
  type ControllerDefinition,
  controllerRef,
  defineController,
  ownKey,
  type Effect,
  type Plan,
  watch,
} from '#controller-runtime';
import { persistentVolumeClaims, pods } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';
import { quote } from '#utils';

export interface EphemeralView {
  pod: Pod | undefined;
  claims: ReadonlyMap<string, PersistentVolumeClaim>;
}

const hasEphemeral = ({ spec }: Pod): boolean => (spec?.volumes ?? []).some(({ ephemeral }) => ephemeral);
const claimName = (pod: Pod, volume: string): string => `${pod.metadata.name}-${volume}`;

export function reconcileEphemeral({ pod, claims }: EphemeralView): Plan {
  if (!pod || pod.metadata.deletionTimestamp) return { effects: [] };
  const effects: Effect[] = [];
  const owner: Pod = { ...pod, apiVersion: 'v1', kind: 'Pod' };
  for (const { name: volume, ephemeral } of pod.spec?.volumes ?? []) {
    if (!ephemeral) continue;
    const name = claimName(pod, volume);
    const known = claims.get(name);
    if (known) {
      if (controllerOf(known.metadata)?.uid === pod.metadata.uid) continue;
      const failure = `PVC ${quote(`${pod.metadata.namespace}/${name}`)} was not created for pod ${quote(`${pod.metadata.namespace}/${pod.metadata.name}`)} (pod is not owner)`;
      return { effects, failure, because: 'A claim of the name that its volume needs belongs to somebody else.' };
    }
    const { metadata = {}, spec } = ephemeral.volumeClaimTemplate ?? {};
    const object = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name,
        namespace: pod.metadata.namespace ?? '',
        ...(metadata.annotations && { annotations: metadata.annotations }),
        ...(metadata.labels && { labels: metadata.labels }),
        ownerReferences: [controllerRef(owner, '', 'v1', 'Pod')],
      },
      spec,
    } as PersistentVolumeClaim;
    const message = `ephemeral volume ${volume}: {error}`;
    effects.push({
      op: 'create',
      resource: persistentVolumeClaims,
      object,
      events: { regarding: owner, failure: { reason: 'FailedBinding', message } },
    });
  }
  return { effects, ...(effects.length > 0 && { because: 'Its ephemeral volumes need claims, which go when the pod goes.' }) };
}

export const ephemeralVolumeController: ControllerDefinition = defineController<EphemeralView>({
  name: 'ephemeral-volume-controller',
  aliases: ['ephemeral-volume'],
  for: pods,
  concurrency: { flag: 'concurrent-ephemeralvolume-syncs', default: 5 },
  eventSource: 'ephemeral_volume',
  rights: [
    allow('get,list,watch', 'core', 'pods'),
    allow('update', 'core', 'pods/finalizers'),
    allow('create,get,list,watch', 'core', 'persistentvolumeclaims'),
    recordEvents,
  ],
  watches: [
    watch<Pod>({ resource: pods, keys: (pod, old) => (!old && hasEphemeral(pod) ? ownKey(pod) : []) }),
    watch<PersistentVolumeClaim>({
      resource: persistentVolumeClaims,
      keys({ metadata }, old) {
        const owner = old ? undefined : controllerOf(metadata);
        return owner?.kind === 'Pod' ? [`${metadata.namespace}/${owner.name}`] : [];
      },
    }),
  ],
  view(key, cache) {
    const { namespace, name } = splitKey(key);
    const pod = cache.get<Pod>(pods, namespace, name);
    const claims = new Map<string, PersistentVolumeClaim>();
    for (const { name: volume, ephemeral } of pod?.spec?.volumes ?? []) {
      const claim =
        pod && ephemeral && cache.get<PersistentVolumeClaim>(persistentVolumeClaims, namespace, claimName(pod, volume));
      if (pod && claim) claims.set(claimName(pod, volume), claim);
    }
    return { pod, claims };
  },
  reconcile: reconcileEphemeral,
});
