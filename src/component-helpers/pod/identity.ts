// What a pod is called and where it comes from (upstream pkg/kubelet/types/pod_update.go, pkg/kubelet/util/format).
import type { Pod } from '#api/core/v1';

export const configSourceAnnotation = 'kubernetes.io/config.source';
export const configMirrorAnnotation = 'kubernetes.io/config.mirror';
export const configHashAnnotation = 'kubernetes.io/config.hash';
export const configSeenAnnotation = 'kubernetes.io/config.seen';

/** A pod as the kubelet's messages name it: `name_namespace(uid)`. */
export const formatPod = (pod: Pod): string =>
  `${pod.metadata.name ?? ''}_${pod.metadata.namespace ?? ''}(${pod.metadata.uid ?? ''})`;

/** A pod as `name_namespace`, which is equal for a static pod and its mirror. */
export const podFullName = (pod: Pod): string => `${pod.metadata.name ?? ''}_${pod.metadata.namespace ?? ''}`;

/** The pod came from a manifest on the node, not from the API. */
export function isStaticPod(pod: Pod): boolean {
  const source = pod.metadata.annotations?.[configSourceAnnotation];
  return source !== undefined && source !== 'api';
}

/** The API's image of a static pod. */
export const isMirrorPod = (pod: Pod): boolean => pod.metadata.annotations?.[configMirrorAnnotation] !== undefined;

const systemCriticalPriority = 2_000_000_000;

/** Static, mirror or of system priority: may preempt on the node and is never evicted. */
export const isCriticalPod = (pod: Pod): boolean =>
  isStaticPod(pod) || isMirrorPod(pod) || (pod.spec?.priority ?? 0) >= systemCriticalPriority;

export const isHostNetworkPod = (pod: Pod): boolean => pod.spec?.hostNetwork === true;

export const isTerminalPhase = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed';
