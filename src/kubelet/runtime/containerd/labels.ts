// How pods and containers are marked in the runtime, so that a kubelet that starts anew finds them (upstream kuberuntime/labels.go).
import type { Container, Pod } from '#api/core/v1';
import { hashContainer } from '../../container/hash.ts';

export const podNameLabel = 'io.kubernetes.pod.name';
export const podNamespaceLabel = 'io.kubernetes.pod.namespace';
export const podUidLabel = 'io.kubernetes.pod.uid';
export const containerNameLabel = 'io.kubernetes.container.name';
export const hashAnnotation = 'io.kubernetes.container.hash';
export const restartCountAnnotation = 'io.kubernetes.container.restartCount';
export const messagePathAnnotation = 'io.kubernetes.container.terminationMessagePath';
export const messagePolicyAnnotation = 'io.kubernetes.container.terminationMessagePolicy';
/** The image as the pod spec wrote it: the runtime may report another tag of the same image. */
export const imageAnnotation = 'sagong.dev/container.image';

const identityLabels = ({ metadata }: Pod): Record<string, string> => ({
  [podNameLabel]: metadata.name ?? '',
  [podNamespaceLabel]: metadata.namespace ?? '',
  [podUidLabel]: metadata.uid ?? '',
});

export const sandboxLabels = (pod: Pod): Record<string, string> => ({ ...pod.metadata.labels, ...identityLabels(pod) });

export const containerLabels = (pod: Pod, container: Container): Record<string, string> => ({
  ...identityLabels(pod),
  [containerNameLabel]: container.name,
});

export function containerAnnotations(pod: Pod, container: Container, restartCount: number): Record<string, string> {
  const { deletionGracePeriodSeconds } = pod.metadata;
  const grace = pod.spec?.terminationGracePeriodSeconds;
  const preStop = container.lifecycle?.preStop;
  return {
    [hashAnnotation]: hashContainer(container),
    [restartCountAnnotation]: String(restartCount),
    [messagePathAnnotation]: container.terminationMessagePath ?? '',
    [messagePolicyAnnotation]: container.terminationMessagePolicy ?? '',
    [imageAnnotation]: container.image ?? '',
    ...(deletionGracePeriodSeconds !== undefined && {
      'io.kubernetes.pod.deletionGracePeriod': String(deletionGracePeriodSeconds),
    }),
    ...(grace !== undefined && { 'io.kubernetes.pod.terminationGracePeriod': String(grace) }),
    ...(preStop && { 'io.kubernetes.container.preStopHandler': JSON.stringify(preStop) }),
    ...(container.ports?.length && { 'io.kubernetes.container.ports': JSON.stringify(container.ports) }),
  };
}
