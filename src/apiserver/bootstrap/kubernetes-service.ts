// The Service `kubernetes` in `default` that leads to the apiservers, its Endpoints and EndpointSlice
// (pkg/controlplane/controller/kubernetesservice and pkg/controlplane/reconcilers).
import type { Endpoints, Service } from '#api/core/v1';
import type { EndpointSlice } from '#api/discovery/v1';
import type { KubeObject } from '#apimachinery/meta';
import { LeaseNotFoundError, prefixEnd, type Store } from '#store';
import type { Clock, Logger, Timer } from '#utils';
import type { ClusterWriter } from '../registry/writer.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import { registryPrefix } from '../storage/keys.ts';
import { ensure } from './ensure.ts';

export interface KubernetesServiceOptions {
  /** The first address of the service range. */
  clusterIp: string;
  /** `--advertise-address`: where clients in pods reach this server. */
  advertiseAddress: string;
  /** The port it serves on, known once it listens. */
  port(): number;
  /** `--kubernetes-service-node-port`; 0 or absent: a cluster IP only. */
  nodePort?: number;
  /** `--endpoint-reconciler-type`: 'none' leaves the endpoints alone. */
  reconciler?: 'lease' | 'none';
}

const servicePort = 443;
/** Upstream's DefaultEndpointReconcilerInterval and DefaultEndpointReconcilerTTL. */
const reconcileIntervalMs = 10_000;
const leaseSeconds = 15;
/** One key for each server that lives, with its address as the name. */
const leasePrefix = `${registryPrefix}masterleases/`;
const identity = { namespace: 'default', name: 'kubernetes' };

const service = ({ clusterIp, port, nodePort = 0 }: KubernetesServiceOptions): Service => ({
  metadata: { ...identity, labels: { component: 'apiserver', provider: 'kubernetes' } },
  spec: {
    type: nodePort > 0 ? 'NodePort' : 'ClusterIP',
    clusterIP: clusterIp,
    clusterIPs: [clusterIp],
    sessionAffinity: 'None',
    ipFamilyPolicy: 'SingleStack',
    ipFamilies: [clusterIp.includes(':') ? 'IPv6' : 'IPv4'],
    ports: [{ name: 'https', protocol: 'TCP', port: servicePort, targetPort: port(), ...(nodePort > 0 && { nodePort }) }],
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

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const portsOf = ({ spec }: Service): unknown =>
  spec?.ports?.map(({ name, port, targetPort, protocol, nodePort = 0 }) => [name, port, targetPort, protocol, nodePort]);

const withPort = (current: Service, wanted: Service): Service | undefined =>
  same([current.spec?.type, portsOf(current)], [wanted.spec?.type, portsOf(wanted)])
    ? undefined
    : { ...current, spec: { ...current.spec, type: wanted.spec?.type, ports: wanted.spec?.ports } };

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

export interface KubernetesServiceDeps {
  store: Store;
  clock: Clock;
  logger: Logger;
}

/**
 * Keeps the Service, and this server's address in its endpoints beside those of the other servers of the store. Each server holds a lease;
 * the address of one that died goes when its lease runs out.
 */
export class KubernetesServiceController {
  readonly #options: KubernetesServiceOptions;
  readonly #deps: KubernetesServiceDeps;
  #leaseId = 0;

  constructor(options: KubernetesServiceOptions, deps: KubernetesServiceDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /** Brings all up to date now, and again and again until the signal. */
  async start(cluster: ReadOnlyCluster, writer: ClusterWriter, signal: AbortSignal): Promise<void> {
    await this.#sync(cluster, writer);
    let timer: Timer | undefined;
    const again = (): void => {
      timer = this.#deps.clock.setTimer(reconcileIntervalMs, () => {
        this.#sync(cluster, writer)
          .catch((error: unknown) => {
            if (!signal.aborted) this.#deps.logger.warn('unable to sync kubernetes service', { err: (error as Error).message });
          })
          .finally(() => signal.aborted || again());
      });
    };
    again();
    signal.addEventListener('abort', () => timer?.cancel(), { once: true });
  }

  /** Takes this server out of the endpoints. Those of the last server stay: clients had better find it again where it was. */
  async leave(cluster: ReadOnlyCluster, writer: ClusterWriter): Promise<void> {
    if (this.#options.reconciler === 'none' || this.#leaseId === 0) return;
    await this.#deps.store.leaseRevoke(this.#leaseId);
    this.#leaseId = 0;
    await this.#publish(cluster, writer);
  }

  async #sync(cluster: ReadOnlyCluster, writer: ClusterWriter): Promise<void> {
    await ensure(cluster, writer, [{ group: '', resource: 'services', object: service(this.#options) }], withPort);
    if (this.#options.reconciler === 'none') return;
    await this.#holdLease();
    await this.#publish(cluster, writer);
  }

  async #publish(cluster: ReadOnlyCluster, writer: ClusterWriter): Promise<void> {
    const { kvs } = await this.#deps.store.range({ key: leasePrefix, rangeEnd: prefixEnd(leasePrefix), keysOnly: true });
    const addresses = kvs.map(({ key }) => key.slice(leasePrefix.length)).sort();
    if (addresses.length > 0) await publish(cluster, writer, addresses, this.#options.port());
  }

  async #holdLease(): Promise<void> {
    const { store } = this.#deps;
    const key = `${leasePrefix}${this.#options.advertiseAddress}`;
    if (this.#leaseId !== 0) {
      try {
        await store.leaseKeepAlive(this.#leaseId);
        if ((await store.range({ key })).kvs[0]?.lease === this.#leaseId) return;
      } catch (error) {
        if (!(error instanceof LeaseNotFoundError)) throw error;
        this.#leaseId = 0;
      }
    }
    if (this.#leaseId === 0) this.#leaseId = (await store.leaseGrant(leaseSeconds)).id;
    // Upstream's servers on the same store read it as Endpoints.
    const value = Buffer.from(JSON.stringify(leaseObject(this.#options.advertiseAddress)));
    await store.txn({ compare: [], success: [{ op: 'put', key, value, lease: this.#leaseId }] });
  }
}

const leaseObject = (ip: string): object => ({
  kind: 'Endpoints',
  apiVersion: 'v1',
  metadata: { name: ip },
  subsets: [{ addresses: [{ ip }] }],
});
