// Where requests to a Service go: aggregated API servers and webhooks (k8s.io/apiserver/pkg/util/proxy, ResolveCluster and ResolveEndpoint). By
// cluster IP, or by one of the Service's endpoints where this process is not on the cluster's network (--enable-aggregator-routing).
import type { Service } from '#api/core/v1';
import type { Endpoint, EndpointSlice } from '#api/discovery/v1';
import { notFound, serviceUnavailable } from '#apimachinery/errors';
import { quote, type Rng } from '#utils';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';

/** `host:port` of a URL. Throws an Error with upstream's text for a Service that cannot be reached. */
export type ServiceResolver = (namespace: string, name: string, port: number) => string;

/** A Service name as certificates of its servers carry it. */
export const serviceServerName = (namespace: string, name: string): string => `${name}.${namespace}.svc`;

export const hostPort = (host: string, port: number): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);

type ServicePort = NonNullable<NonNullable<Service['spec']>['ports']>[number];

const routed = new Set(['ClusterIP', 'LoadBalancer', 'NodePort']);
const typeOf = ({ spec }: Service): string => spec?.type ?? 'ClusterIP';

function serviceOf(cluster: ReadOnlyCluster, namespace: string, name: string): Service {
  const service = cluster.get<Service>('', 'services', namespace, name);
  if (!service) throw notFound({ group: '', resource: 'service' }, name);
  return service;
}

function portOf({ spec }: Service, name: string, port: number): ServicePort {
  const found = spec?.ports?.find((one) => one.port === port);
  if (!found) throw serviceUnavailable(`no service port ${port} found for service ${quote(name)}`);
  return found;
}

const unsupported = (service: Service): Error => new Error(`unsupported service type ${quote(typeOf(service))}`);

/** Finds a Service by its cluster IP; the network does the rest. */
export const byClusterIp =
  (cluster: ReadOnlyCluster): ServiceResolver =>
  (namespace, name, port) => {
    const service = serviceOf(cluster, namespace, name);
    const { clusterIP = '', externalName = '' } = service.spec ?? {};
    const type = typeOf(service);
    if (type === 'ExternalName') return hostPort(externalName, port);
    if (type === 'ClusterIP' && clusterIP === 'None') throw new Error('cannot route to service with ClusterIP "None"');
    if (!routed.has(type)) throw unsupported(service);
    return hostPort(clusterIP, portOf(service, name, port).port);
  };

const isReady = ({ conditions }: Endpoint): boolean => conditions?.ready !== false;

/** Slices in any order, those of the Service's first address family before others. */
function preferred(slices: readonly EndpointSlice[], { spec }: Service, rng: Rng): EndpointSlice[] {
  const family = spec?.ipFamilies?.[0];
  const keyed = slices.map((slice) => ({ slice, key: (slice.addressType === family ? 0 : 1) + rng.next() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ slice }) => slice);
}

/** Finds a Service by choosing any of its ready endpoints. */
export const byEndpoint =
  (cluster: ReadOnlyCluster, rng: Rng): ServiceResolver =>
  (namespace, name, port) => {
    const service = serviceOf(cluster, namespace, name);
    if (!routed.has(typeOf(service))) throw unsupported(service);
    const { name: portName = '' } = portOf(service, name, port);
    for (const { endpoints, ports } of preferred(slicesOf(cluster, namespace, name), service, rng)) {
      const target = ports?.find((one) => (one.name ?? '') === portName && one.port !== undefined);
      const ready = target && endpoints ? endpoints.filter(isReady) : [];
      const chosen = ready[ready.length > 0 ? rng.int(ready.length) : 0];
      if (target?.port !== undefined && chosen) return hostPort(chosen.addresses[0] ?? '', target.port);
    }
    throw serviceUnavailable(`no endpoints available for service ${quote(name)}`);
  };

/** The Service of this server itself needs no network. */
export const withLoopback =
  (resolve: ServiceResolver, loopback: () => string): ServiceResolver =>
  (namespace, name, port) =>
    namespace === 'default' && name === 'kubernetes' && port === 443 ? loopback() : resolve(namespace, name, port);

export const slicesOf = (cluster: ReadOnlyCluster, namespace: string, name: string): EndpointSlice[] =>
  cluster
    .list<EndpointSlice>('discovery.k8s.io', 'endpointslices', namespace)
    .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name);

/** Whether any ready address serves the port of that name. */
export const hasReadyEndpoint = (slices: readonly EndpointSlice[], portName: string): boolean =>
  slices.some(
    ({ endpoints, ports }) =>
      (endpoints ?? []).some(isReady) && (ports ?? []).some((one) => (one.name ?? '') === portName && one.port !== undefined),
  );
