// Events the kubelet records about pods and their containers (upstream pkg/kubelet/events). Containers are named by field path.
import type { Container, Pod } from '#api/core/v1';
import type { KubeObject } from '#apimachinery/meta';
import type { EventRecorder } from '#client';

export type EventType = 'Normal' | 'Warning';

/** `spec.containers{name}`: how an event names a container of its pod. */
function containerFieldPath(pod: Pod, container: Container): string {
  const has = (list: readonly { name: string }[] | undefined): boolean =>
    list?.some(({ name }) => name === container.name) ?? false;
  if (has(pod.spec?.initContainers)) return `spec.initContainers{${container.name}}`;
  if (has(pod.spec?.ephemeralContainers)) return `spec.ephemeralContainers{${container.name}}`;
  return `spec.containers{${container.name}}`;
}

export interface PodEvents {
  pod(pod: Pod, type: EventType, reason: string, message: string): void;
  container(pod: Pod, container: Container, type: EventType, reason: string, message: string): void;
}

const typed = (pod: Pod): KubeObject => (pod.kind ? pod : { ...pod, apiVersion: 'v1', kind: 'Pod' });

export const podEvents = (recorder: EventRecorder): PodEvents => ({
  pod: (pod, type, reason, message) => recorder.event(typed(pod), type, reason, message),
  container: (pod, container, type, reason, message) =>
    recorder.event(typed(pod), type, reason, message, { fieldPath: containerFieldPath(pod, container) }),
});
