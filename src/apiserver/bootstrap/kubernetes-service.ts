// The Service `kubernetes` in `default` that leads to the apiservers, its Endpoints and EndpointSlice
// (pkg/controlplane/controller/kubernetesservice and pkg/controlplane/reconcilers).
import type { Endpoints, Service } from '#api/core/v1';
import type { EndpointSlice } from '#api/discovery/v1';
import { isNotFound } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import type { ClusterWriter, ReadOnlyCluster } from '../contracts.ts';
import { ensure } from './ensure.ts';

export interface KubernetesServiceOptions {
  /** The first address of the service range. */
  clusterIp: string;
  /** `--advertise-address`: where clients in pods reach this server. */
  advertiseAddress: string;
  /** The port it serves on. */
  port: number;
  /** `--endpoint-reconciler-type`: 'none' leaves the endpoints alone. */
  reconciler?: 'lease' | 'none';
}

const servicePort = 443;
const identity = { namespace: 'default', name: 'kubernetes' };

const service = ({ clusterIp, port }: KubernetesServiceOptions): Service => ({
  metadata: { ...identity, labels: { component: 'apiserver', provider: 'kubernetes' } },
  spec: {
    type: 'ClusterIP',
    clusterIP: clusterIp,
    clusterIPs: [clusterIp],
    sessionAffinity: 'None',
    ipFamilyPolicy: 'SingleStack',
    ipFamilies: [clusterIp.includes(':') ? 'IPv6' : 'IPv4'],
    ports: [{ name: 'https', protocol: 'TCP', port: servicePort, targetPort: port }],
  },
});

const endpoints = (addresses: readonly string[], port: number): Endpoints => ({
  metadata: { ...identity, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
  subsets: [{ addresses: addresses.map((ip) => ({ ip })), ports: [{ name: 'https', port, protocol: 'TCP' }] }],
});

const slice = (addresses: readonly string[], port: number): EndpointSlice => ({
  metadata: { ...identity, labels: { 'kubernetes.io/service-name': 'kubernetes' } },
  addressType: addresses[0]?.includes(':') ? 'IPv6' : 'IPv4',
  endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  ports: [{ name: 'https', port, protocol: 'TCP' }],
});

const addressesOf = (object: Endpoints): string[] =>
  (object.subsets ?? []).flatMap((subset) => (subset.addresses ?? []).map(({ ip }) => ip));

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const withPort = (current: Service, wanted: Service): Service | undefined =>
  same(
    current.spec?.ports?.map(({ name, port, targetPort, protocol }) => [name, port, targetPort, protocol]),
    wanted.spec?.ports?.map(({ name, port, targetPort, protocol }) => [name, port, targetPort, protocol]),
  )
    ? undefined
    : { ...current, spec: { ...current.spec, ports: wanted.spec?.ports } };

async function publish(
  cluster: ReadOnlyCluster,
  writer: ClusterWriter,
  addresses: readonly string[],
  port: number,
): Promise<void> {
  const subsets = (current: KubeObject, wanted: KubeObject): KubeObject | undefined =>
    same((current as Endpoints).subsets, (wanted as Endpoints).subsets)
      ? undefined
      : ({ ...current, subsets: (wanted as Endpoints).subsets } as KubeObject);
  const sliceChange = (current: EndpointSlice, wanted: EndpointSlice): EndpointSlice | undefined =>
    same([current.endpoints, current.ports], [wanted.endpoints, wanted.ports])
      ? undefined
      : { ...current, endpoints: wanted.endpoints, ports: wanted.ports };
  await Promise.all([
    ensure(cluster, writer, [{ group: '', resource: 'endpoints', object: endpoints(addresses, port) as KubeObject }], subsets),
    ensure(
      cluster,
      writer,
      [{ group: 'discovery.k8s.io', resource: 'endpointslices', object: slice(addresses, port) }],
      sliceChange,
    ),
  ]);
}

const published = (cluster: ReadOnlyCluster): string[] => {
  const current = cluster.get<Endpoints>('', 'endpoints', identity.namespace, identity.name);
  return current ? addressesOf(current) : [];
};

/** Makes the Service, and adds this server to its endpoints. */
export async function ensureKubernetesService(
  cluster: ReadOnlyCluster,
  writer: ClusterWriter,
  options: KubernetesServiceOptions,
): Promise<void> {
  await ensure(cluster, writer, [{ group: '', resource: 'services', object: service(options) }], withPort);
  if (options.reconciler === 'none') return;
  const addresses = [...new Set([...published(cluster), options.advertiseAddress])].sort();
  await publish(cluster, writer, addresses, options.port);
}

/** Takes this server out of the endpoints: for a clean shutdown. */
export async function leaveKubernetesService(
  cluster: ReadOnlyCluster,
  writer: ClusterWriter,
  options: KubernetesServiceOptions,
): Promise<void> {
  if (options.reconciler === 'none') return;
  const addresses = published(cluster).filter((address) => address !== options.advertiseAddress);
  try {
    await publish(cluster, writer, addresses, options.port);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
