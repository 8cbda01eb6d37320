// What kube-proxy needs to know of Services and EndpointSlices, independent of how rules are written. Pure.
// Choice of endpoints after upstream's topology rules (pkg/proxy/topology.go): KEP-1669 (terminating endpoints), KEP-2086 (internal
// traffic policy), KEP-4444 (traffic distribution).
import type { Service } from '#api/core/v1';
import { cidrText, parseCIDR } from '#apimachinery/validation';
import type { EndpointSlice } from '#api/discovery/v1';

export type Protocol = 'TCP' | 'UDP' | 'SCTP';

export interface ServicePort {
  /** `namespace/name:port`, as in comments and chain names. */
  name: string;
  namespace: string;
  serviceName: string;
  portName: string;
  protocol: Protocol;
  clusterIp: string;
  port: number;
  /** 0: none. */
  nodePort: number;
  externalIps: string[];
  loadBalancerIps: string[];
  loadBalancerSourceRanges: string[];
  /** 0: no session affinity. */
  affinitySeconds: number;
  externalLocal: boolean;
  internalLocal: boolean;
  /** 0: none. */
  healthCheckNodePort: number;
}

export interface ProxyEndpoint {
  /** `ip:port`. */
  address: string;
  ip: string;
  port: number;
  local: boolean;
  ready: boolean;
  serving: boolean;
  terminating: boolean;
  zoneHints: string[];
  nodeHints: string[];
}

export interface ServiceEndpoints {
  /** Reached by traffic under policy Cluster. */
  cluster: ProxyEndpoint[];
  /** Reached by traffic under policy Local. */
  local: ProxyEndpoint[];
}

/** The node that rules are made for. */
export interface ProxyNode {
  name: string;
  zone: string;
  /** Its IPv4 address; absent while it is not known. */
  address?: string | undefined;
}

const serviceNameLabel = 'kubernetes.io/service-name';
const proxyNameLabel = 'service.kubernetes.io/service-proxy-name';
const headlessLabel = 'service.kubernetes.io/headless';
const affinitySecondsDefault = 10_800;

const isV4 = (address: string): boolean => !address.includes(':');
/** As upstream writes it: without leading zeros, spaces and host bits. */
const canonical = (range: string): string => {
  const prefix = parseCIDR(range.trim());
  return prefix ? cidrText(prefix) : range.trim();
};

/** Whether this proxy serves the Service at all. */
export function isProxied(service: Service): boolean {
  const { spec, metadata } = service;
  if (metadata.labels?.[proxyNameLabel] !== undefined) return false;
  return spec?.type !== 'ExternalName' && Boolean(spec?.clusterIP) && spec?.clusterIP !== 'None';
}

export const isProxiedSlice = (slice: EndpointSlice): boolean =>
  slice.metadata.labels?.[proxyNameLabel] === undefined &&
  slice.metadata.labels?.[headlessLabel] === undefined &&
  slice.metadata.labels?.[serviceNameLabel] !== undefined &&
  slice.addressType === 'IPv4';

/** The Service that a slice belongs to, as `namespace/service`. */
export const serviceKeyOf = (slice: EndpointSlice): string =>
  `${slice.metadata.namespace}/${slice.metadata.labels?.[serviceNameLabel]}`;

/** The ports of a Service in the IPv4 family. */
export function servicePorts(service: Service): ServicePort[] {
  const spec = service.spec ?? {};
  const { name: serviceName = '', namespace = '' } = service.metadata;
  const clusterIp = [spec.clusterIP ?? '', ...(spec.clusterIPs ?? [])].find((address) => address !== '' && isV4(address));
  if (!isProxied(service) || clusterIp === undefined) return [];
  const proxiedIngress = (service.status?.loadBalancer?.ingress ?? []).filter(
    ({ ip, ipMode }) => ip && isV4(ip) && ipMode !== 'Proxy',
  );
  const external = spec.type === 'NodePort' || spec.type === 'LoadBalancer';
  // Shared by all ports, of which there may be thousands.
  const externalIps = (spec.externalIPs ?? []).filter(isV4);
  const loadBalancerIps = spec.type === 'LoadBalancer' ? proxiedIngress.map(({ ip = '' }) => ip) : [];
  const loadBalancerSourceRanges = (spec.loadBalancerSourceRanges ?? []).filter(isV4).map(canonical);
  return (spec.ports ?? []).map((port) => ({
    name: `${namespace}/${serviceName}${port.name ? `:${port.name}` : ''}`,
    namespace,
    serviceName,
    portName: port.name ?? '',
    protocol: (port.protocol ?? 'TCP') as Protocol,
    clusterIp,
    port: port.port,
    nodePort: external ? (port.nodePort ?? 0) : 0,
    externalIps,
    loadBalancerIps,
    loadBalancerSourceRanges,
    affinitySeconds:
      spec.sessionAffinity === 'ClientIP' ? (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? affinitySecondsDefault) : 0,
    externalLocal: spec.externalTrafficPolicy === 'Local',
    internalLocal: spec.internalTrafficPolicy === 'Local',
    healthCheckNodePort: spec.healthCheckNodePort ?? 0,
  }));
}

/** About how many rules a port takes: its addresses, its endpoints, and the ranges that may reach each address of a load balancer. */
export const rulesCount = (
  { externalIps, loadBalancerIps, loadBalancerSourceRanges }: ServicePort,
  { cluster, local }: ServiceEndpoints,
): number =>
  2 +
  externalIps.length +
  loadBalancerIps.length * (1 + loadBalancerSourceRanges.length) +
  loadBalancerSourceRanges.length +
  cluster.length +
  local.length;

/** Endpoints of one service port out of all slices of the service, sorted, without doubles. */
export function portEndpoints(slices: readonly EndpointSlice[], port: ServicePort, node: ProxyNode): ProxyEndpoint[] {
  const found = new Map<string, ProxyEndpoint>();
  for (const slice of slices) {
    const match = (slice.ports ?? []).find(
      ({ name, protocol }) => (name ?? '') === port.portName && (protocol ?? 'TCP') === port.protocol,
    );
    if (!match?.port) continue;
    for (const endpoint of slice.endpoints ?? []) {
      const ip = endpoint.addresses[0];
      if (ip === undefined) continue;
      const ready = endpoint.conditions?.ready ?? true;
      const address = `${ip}:${match.port}`;
      found.set(address, {
        address,
        ip,
        port: match.port,
        local: endpoint.nodeName === node.name,
        ready,
        serving: endpoint.conditions?.serving ?? ready,
        terminating: endpoint.conditions?.terminating ?? false,
        zoneHints: (endpoint.hints?.forZones ?? []).map(({ name }) => name),
        nodeHints: (endpoint.hints?.forNodes ?? []).map(({ name }) => name),
      });
    }
  }
  return [...found.values()].sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0));
}

/** Ready endpoints; when there are none, those that still serve while they terminate. */
function usable(endpoints: readonly ProxyEndpoint[]): ProxyEndpoint[] {
  const ready = endpoints.filter((endpoint) => endpoint.ready);
  return ready.length > 0 ? ready : endpoints.filter((endpoint) => endpoint.serving && endpoint.terminating);
}

/** Which endpoints traffic of each policy may reach from `node`. */
export function chooseEndpoints(endpoints: readonly ProxyEndpoint[], node: ProxyNode): ServiceEndpoints {
  return { cluster: nearest(usable(endpoints), node), local: usable(endpoints.filter((endpoint) => endpoint.local)) };
}

/** Hints are followed only when every endpoint carries one and some endpoint is meant for this node or zone. */
function nearest(endpoints: ProxyEndpoint[], node: ProxyNode): ProxyEndpoint[] {
  if (endpoints.length > 0 && endpoints.every(({ nodeHints }) => nodeHints.length > 0)) {
    const own = endpoints.filter(({ nodeHints }) => nodeHints.includes(node.name));
    if (own.length > 0) return own;
  }
  if (node.zone === '' || !endpoints.every(({ zoneHints }) => zoneHints.length > 0)) return endpoints;
  const own = endpoints.filter(({ zoneHints }) => zoneHints.includes(node.zone));
  return own.length > 0 ? own : endpoints;
}
