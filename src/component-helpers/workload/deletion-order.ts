// Which pods a controller deletes first when there are too many (pkg/controller ActivePodsWithRanks; KEP-2255 pod deletion cost,
// KEP-2185 random by logarithmic age).
import type { Pod } from '#api/core/v1';
import { isPodReady, podReadyCondition } from './active.ts';
import { parseGoInt, own } from '#utils';

const costAnnotation = 'controller.kubernetes.io/pod-deletion-cost';
const phaseRank: Record<string, number> = { Pending: 0, Unknown: 1, Running: 2 };

function deletionCost(pod: Pod): number {
  const text = pod.metadata.annotations?.[costAnnotation] ?? '';
  return /^(0|[+-]?[1-9]\d*)$/.test(text) ? Number(parseGoInt(text, 32) ?? 0) : 0;
}

const restarts = (pod: Pod): number =>
  Math.max(
    0,
    ...[...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])].map(
      ({ restartCount }) => restartCount,
    ),
  );

/** Ages within one power of two count as equal; then the uid decides, which is as good as random. */
const ageRank = (time: string | null | undefined, now: number): number => {
  const age = now - Date.parse(time ?? '');
  return Number.isNaN(age) || age <= 0 ? 0 : Math.floor(Math.log2(age));
};

/**
 * Pods in the order in which they go. `rank` is the number of related pods on the pod's node: crowded nodes first.
 * @param now milliseconds since the epoch
 */
export function deletionOrder(pods: readonly Pod[], rank: (pod: Pod) => number, now: number): Pod[] {
  const keys = (pod: Pod): number[] => [
    pod.spec?.nodeName ? 1 : 0,
    own(phaseRank, pod.status?.phase ?? '') ?? 1,
    isPodReady(pod) ? 1 : 0,
    deletionCost(pod),
    -rank(pod),
    isPodReady(pod) ? ageRank(podReadyCondition(pod)?.lastTransitionTime, now) : 0,
    -restarts(pod),
    ageRank(pod.metadata.creationTimestamp, now),
  ];
  const ranked = pods.map((pod) => ({ pod, keys: keys(pod) }));
  ranked.sort((a, b) => {
    for (let index = 0; index < a.keys.length; index++) {
      const difference = (a.keys[index] ?? 0) - (b.keys[index] ?? 0);
      if (difference !== 0) return difference;
    }
    return (a.pod.metadata.uid ?? '') < (b.pod.metadata.uid ?? '') ? -1 : 1;
  });
  return ranked.map(({ pod }) => pod);
}
