// When a pod counts (k8s.io/kubernetes/pkg/api/v1/pod, pkg/controller).
import type { Pod } from '#api/core/v1';

export const podReadyCondition = (pod: Pod) => pod.status?.conditions?.find(({ type }) => type === 'Ready');

export const isPodReady = (pod: Pod): boolean => podReadyCondition(pod)?.status === 'True';

/** Whether a pod has been Ready for at least `minReadySeconds`. */
export function isPodAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  const condition = podReadyCondition(pod);
  if (condition?.status !== 'True') return false;
  if (minReadySeconds === 0) return true;
  const since = Date.parse(condition.lastTransitionTime ?? '');
  return !Number.isNaN(since) && since + minReadySeconds * 1000 <= now;
}

/** Milliseconds until a ready pod becomes available; undefined when it is available or not ready. */
export function untilAvailableMs(pod: Pod, minReadySeconds: number, now: number): number | undefined {
  const condition = podReadyCondition(pod);
  if (condition?.status !== 'True' || minReadySeconds === 0) return undefined;
  const leftMs = Date.parse(condition.lastTransitionTime ?? '') + minReadySeconds * 1000 - now;
  return leftMs > 0 ? leftMs : undefined;
}

export const isPodTerminal = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

/** Whether a pod has neither finished nor been deleted. */
export const isPodActive = (pod: Pod): boolean => !isPodTerminal(pod) && pod.metadata.deletionTimestamp === undefined;

/** Whether a pod was deleted and still runs. */
export const isPodTerminating = (pod: Pod): boolean => !isPodTerminal(pod) && pod.metadata.deletionTimestamp !== undefined;
