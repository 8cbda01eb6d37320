// Keeps claims from being removed while a pod uses them (pkg/controller/volume/pvcprotection).
import type { PersistentVolumeClaim, Pod } from '#api/core/v1';
import { type KubeObject, splitKey } from '#apimachinery/meta';
import { type ControllerDefinition, defineController, ownKey, type Plan, watch } from '#controller-runtime';
import { claimIndexer, persistentVolumeClaims, pods, podsByClaim } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';

const finalizer = 'kubernetes.io/pvc-protection';

export interface ClaimProtectionView {
  claim: PersistentVolumeClaim | undefined;
  /** Pods that name the claim. */
  pods: readonly Pod[];
}

const update = (claim: PersistentVolumeClaim, finalizers: string[]): Plan['effects'] => [
  { op: 'update', resource: persistentVolumeClaims, object: { ...claim, metadata: { ...claim.metadata, finalizers } } },
];

/** The node is done with the pod, volumes and all, or is not asked. */
const isShutDown = ({ metadata }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;

/** A pod without a node uses nothing yet. A finished one still does: its node has the volume until the pod is gone, or for a claim of its own, is shut down. */
const uses = (pod: Pod, { metadata }: PersistentVolumeClaim): boolean =>
  Boolean(pod.spec?.nodeName) &&
  (pod.spec?.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === metadata.name) ||
    !isShutDown(pod));

export function reconcileClaimProtection({ claim, pods: all }: ClaimProtectionView): Plan {
  if (!claim) return { effects: [] };
  const finalizers = claim.metadata.finalizers ?? [];
  const isProtected = finalizers.includes(finalizer);
  if (!claim.metadata.deletionTimestamp) {
    if (isProtected) return { effects: [] };
    return { effects: update(claim, [...finalizers, finalizer]), because: 'A claim in use must not be removed by accident.' };
  }
  if (!isProtected) return { effects: [] };
  const user = all.find((pod) => uses(pod, claim));
  if (user) return { effects: [], because: `Pod ${user.metadata.name} uses it, so it stays for now.` };
  return {
    effects: update(
      claim,
      finalizers.filter((one) => one !== finalizer),
    ),
    because: 'No pod uses it.',
  };
}

export const pvcProtectionController: ControllerDefinition = defineController<ClaimProtectionView>({
  name: 'persistentvolumeclaim-protection-controller',
  aliases: ['pvc-protection'],
  for: persistentVolumeClaims,
  serviceAccount: 'pvc-protection-controller',
  rights: [
    allow('get,list,update,watch', 'core', 'persistentvolumeclaims'),
    allow('update', 'core', 'persistentvolumeclaims/status'),
    allow('get,list,watch', 'core', 'pods'),
    recordEvents,
  ],
  watches: [
    watch<PersistentVolumeClaim>({ resource: persistentVolumeClaims, keys: (claim) => ownKey(claim) }),
    watch<Pod>({
      resource: pods,
      indexers: claimIndexer,
      *keys(pod: KubeObject, _old, cache) {
        for (const claim of (claimIndexer[podsByClaim]?.(pod as Pod) ?? []) as string[]) {
          const { namespace, name } = splitKey(claim);
          const deleting = cache.get(persistentVolumeClaims, namespace, name)?.metadata.deletionTimestamp !== undefined;
          if (deleting) yield claim;
        }
      },
    }),
  ],
  view(key, cache) {
    const { namespace, name } = splitKey(key);
    return {
      claim: cache.get<PersistentVolumeClaim>(persistentVolumeClaims, namespace, name),
      pods: cache.byIndex<Pod>(pods, podsByClaim, key),
    };
  },
  reconcile: reconcileClaimProtection,
});
