// What a pod looks like as an endpoint of a Service (k8s.io/endpointslice utils; KEP-4444 traffic distribution).
import type { Node, Pod, Service } from '#api/core/v1';
import type { Endpoint, EndpointHints, EndpointPort } from '#api/discovery/v1';
import { type AddressFamily, hostnameUnder, podAddresses, type ServedPort } from '#component-helpers/endpoints';
import { isPodReady } from '#component-helpers/workload';

const zoneLabel = 'topology.kubernetes.io/zone';
const closeDistributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];

/** The endpoint of a pod. Its node may be unknown (undefined), which only matters for the zone. */
export function endpointOf(pod: Pod, node: Node | undefined, service: Service, family: AddressFamily): Endpoint {
  const serving = isPodReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating);
  const zone = node?.metadata.labels?.[zoneLabel];
  const hostname = hostnameUnder(pod, service);
  const { name, namespace, uid } = pod.metadata;
  const endpoint: Endpoint = {
    addresses: podAddresses(pod, family),
    conditions: { ready, serving, terminating },
    ...(hostname !== undefined && { hostname }),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(pod.spec?.nodeName && { nodeName: pod.spec.nodeName }),
    ...(zone && { zone }),
  };
  const hints = ready ? hintsOf(service, endpoint) : undefined;
  return hints ? { ...endpoint, hints } : endpoint;
}

/** Whether a Service has the topology mode "Auto", which comes before its traffic distribution. */
export function isAuto({ metadata }: Service): boolean {
  const annotations = metadata.annotations ?? {};
  const mode = annotations['service.kubernetes.io/topology-aware-hints'] ?? annotations['service.kubernetes.io/topology-mode'];
  return mode === 'Auto' || mode === 'auto';
}

function hintsOf(service: Service, { zone, nodeName }: Endpoint): EndpointHints | undefined {
  const distribution = service.spec?.trafficDistribution;
  if (distribution === undefined || !closeDistributions.includes(distribution) || isAuto(service)) return undefined;
  const toNode = distribution === 'PreferSameNode' && nodeName !== undefined;
  if (zone === undefined && !toNode) return undefined;
  return { ...(zone !== undefined && { forZones: [{ name: zone }] }), ...(toNode && { forNodes: [{ name: nodeName }] }) };
}

/** The Service's ports as this pod serves them; ports it does not have are left out. */
export const portsOf = (served: readonly ServedPort[]): EndpointPort[] =>
  served.map(({ port: { name = '', protocol = 'TCP', appProtocol }, number }) => ({
    name,
    port: number,
    protocol,
    ...(appProtocol !== undefined && { appProtocol }),
  }));
