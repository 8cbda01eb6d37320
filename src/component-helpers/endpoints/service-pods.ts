// Which pods back a Service, under which addresses and ports (k8s.io/endpointslice utils, pkg/controller/endpoint).
import type { Pod, Service, ServicePort } from '#api/core/v1';
import { type IntOrString, intValue } from '#apimachinery/intstr';
import { ipFamily, parseIP } from '#apimachinery/validation';
import { isRestartableInitContainer } from '../pod/index.ts';
import { isPodReady, isPodTerminal } from '../workload/index.ts';

export type AddressFamily = 4 | 6;

export function addressFamily(address: string): AddressFamily | undefined {
  const parsed = parseIP(address);
  return parsed && ipFamily(parsed);
}

/** Whether a Service has no cluster IP, so that DNS gives the addresses of its pods. */
export const isHeadlessService = ({ spec }: Service): boolean => !spec?.clusterIP || spec.clusterIP === 'None';

/** The Service's pods are found by the control plane: it has a selector and is not only a name for something elsewhere. */
export const selectsPods = ({ spec }: Service): boolean => spec?.type !== 'ExternalName' && spec?.selector !== undefined;

/** Whether a pod has an address and has not ended. */
export function isPodAddressable(pod: Pod, includeTerminating: boolean): boolean {
  if (isPodTerminal(pod)) return false;
  if (!pod.status?.podIP && !pod.status?.podIPs?.length) return false;
  return includeTerminating || pod.metadata.deletionTimestamp === undefined;
}

/** The pod's addresses of one family, in the pod's order. */
export const podAddresses = (pod: Pod, family: AddressFamily): string[] =>
  (pod.status?.podIPs ?? []).flatMap(({ ip }) => (addressFamily(ip) === family ? [ip] : []));

/** The pod has a DNS name of its own under the Service. */
export const hostnameUnder = (pod: Pod, service: Service): string | undefined =>
  pod.spec?.hostname && pod.spec.subdomain === service.metadata.name && pod.metadata.namespace === service.metadata.namespace
    ? pod.spec.hostname
    : undefined;

/** The number behind a Service's target port; undefined when the pod has no port of that name. */
export function findPort(pod: Pod, { targetPort = 0, protocol = 'TCP' }: ServicePort): number | undefined {
  if (typeof targetPort === 'number') return intValue(targetPort satisfies IntOrString);
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? []).filter(isRestartableInitContainer)];
  for (const { ports = [] } of containers) {
    const found = ports.find((port) => port.name === targetPort && (port.protocol ?? 'TCP') === protocol);
    if (found) return found.containerPort;
  }
  return undefined;
}

/** Whether a change of a pod can change what a Service says about it. */
export function endpointChanged(pod: Pod, old: Pod): boolean {
  const ips = (one: Pod): string => (one.status?.podIPs ?? []).map(({ ip }) => ip).join();
  return (
    pod.metadata.deletionTimestamp !== old.metadata.deletionTimestamp ||
    isPodReady(pod) !== isPodReady(old) ||
    isPodTerminal(pod) !== isPodTerminal(old) ||
    ips(pod) !== ips(old) ||
    pod.spec?.nodeName !== old.spec?.nodeName ||
    pod.spec?.hostname !== old.spec?.hostname ||
    pod.spec?.subdomain !== old.spec?.subdomain
  );
}

/** Annotation with the moment of the change that a write of endpoints answers; RFC 3339. */
export const lastChangeTriggerTime = 'endpoints.kubernetes.io/last-change-trigger-time';
