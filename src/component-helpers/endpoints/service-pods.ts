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

const portId = (name: string | undefined, protocol = 'TCP'): string => `${protocol}/${name ?? ''}`;

/** The numbers that a pod gives to some names of ports; of several the first counts. */
function numbersOf(pod: Pod, wanted: ReadonlySet<string>): Map<string, number> {
  const numbers = new Map<string, number>();
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? []).filter(isRestartableInitContainer)];
  for (const { ports } of containers)
    for (const { name, protocol, containerPort } of ports ?? []) {
      const id = portId(name, protocol);
      if (wanted.has(id) && !numbers.has(id)) numbers.set(id, containerPort);
    }
  return numbers;
}

/** The number behind a Service's target port; undefined when the pod has no port of that name. */
export function findPort(pod: Pod, { targetPort = 0, protocol }: ServicePort): number | undefined {
  if (typeof targetPort === 'number') return intValue(targetPort satisfies IntOrString);
  const id = portId(targetPort, protocol);
  return numbersOf(pod, new Set([id])).get(id);
}

/** A port of a Service, and its number in a pod. */
export interface ServedPort {
  port: ServicePort;
  number: number;
}

/**
 * Gives what finds the ports of a Service that a pod serves. Pods that give the same numbers to the names of its target ports have one and the same list,
 * so that nothing has to be done for each port of each pod.
 */
export function servedPorts({ spec }: Service): (pod: Pod) => readonly ServedPort[] {
  const ports = spec?.ports ?? [];
  const named = ports.flatMap(({ targetPort, protocol }) =>
    typeof targetPort === 'string' ? [portId(targetPort, protocol)] : [],
  );
  const wanted = new Set(named);
  const lists = new Map<string, readonly ServedPort[]>();
  const listOf = (numbers: ReadonlyMap<string, number>): readonly ServedPort[] =>
    ports.flatMap((port) => {
      const { targetPort = 0, protocol } = port;
      const number = typeof targetPort === 'number' ? intValue(targetPort) : numbers.get(portId(targetPort, protocol));
      return number === undefined ? [] : [{ port, number }];
    });
  return (pod) => {
    const numbers = numbersOf(pod, wanted);
    const key = JSON.stringify([...numbers]);
    const list = lists.get(key) ?? listOf(numbers);
    lists.set(key, list);
    return list;
  };
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
