// What a cloud is to Kubernetes, equal in power to k8s.io/cloud-provider's `Interface` (cloud.go). Written so that a provider can be made from
// this file alone; docs/write-a-cloud-provider.md leads through one.
//
// Rules for every call:
// - Objects given (Node, Service) are frozen and shared: read them, never write to them.
// - Every call may be made again after a failure or a restart: the same input must lead to the same resources, never to a second one.
// - `signal` aborts when the manager stops or loses its lease. A provider may ignore it, but must bound its own requests in time.
// - A thrown error means «not known»: nothing is concluded from it, the call is made again later. Errors with a meaning are in errors.ts.
import type { AdmissionRequest, AdmissionResponse } from '#api/admission/v1';
import type { LoadBalancerStatus, Node, NodeAddress, Service } from '#api/core/v1';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import type { Transport } from '#apimachinery/transport';
import type { Clock, Logger, Rng } from '#utils';
import type { CloudControllerDefinition } from './controller.ts';
import type { ProviderFlagValues } from './flags.ts';

export type { LoadBalancerIngress, LoadBalancerStatus, Node, NodeAddress, Service, ServicePort } from '#api/core/v1';
export type { KubeObject } from '#apimachinery/meta';
export type { Clock, Logger, Rng } from '#utils';

/** One cloud account as the controllers see it. An absent part is not supported: the controllers that need it are left out with a warning. */
export interface CloudProvider {
  /** Called once, after the lease was won and before any controller starts. May start work of its own that ends with `signal`. */
  initialize?(context: InitializeContext): void | Promise<void>;
  /** Called right after `initialize`, before the informers are started: what is asked for here is filled before the controllers work. */
  setInformers?(informers: CloudInformers): void;
  readonly loadBalancer?: LoadBalancer;
  /** The older interface; left aside where `instancesV2` is there too. */
  readonly instances?: Instances;
  readonly instancesV2?: InstancesV2;
  /** Only asked together with `instances`. */
  readonly zones?: Zones;
  readonly routes?: Routes;
  /** Upstream's `Clusters`; no controller asks for it. */
  readonly clusters?: Clusters;
  /** Admission webhooks by name, served by the manager with the feature gate CloudControllerManagerWebhook. */
  readonly webhooks?: Readonly<Record<string, CloudWebhook>>;
  /** Controllers beside the manager's own, by name in `--controllers`. */
  readonly controllers?: readonly CloudControllerDefinition[];
  /**
   * Whether resources carry a mark of the cluster they belong to, so that two clusters can share the account. Without one the manager refuses
   * to start, unless `--allow-untagged-cloud`.
   */
  hasClusterId(): boolean;
}

/** An admission webhook of a provider. Whoever installs it names its `path` in a webhook configuration. */
export interface CloudWebhook {
  path: string;
  /** Decides about one request. The `uid` of the answer is filled in. A rejection is answered 500. */
  admit(request: AdmissionRequest): Omit<AdmissionResponse, 'uid'> | Promise<Omit<AdmissionResponse, 'uid'>>;
}

export interface InitializeContext {
  /** A client of the cluster that acts under this name; its own service account in kube-system with `--use-service-account-credentials`. */
  client(name: string): CloudClient;
  signal: AbortSignal;
}

/** The part of an API client that a provider needs. */
export interface CloudClient {
  readonly transport: Transport;
  resource<T extends KubeObject>(resource: GroupVersionResource, namespace?: string): CloudResource<T>;
}
export interface CloudResource<T extends KubeObject> {
  get(name: string): Promise<T>;
  list(): Promise<{ items: T[] }>;
  create(object: T): Promise<T>;
  update(object: T): Promise<T>;
}

/** The caches of the cluster's objects that a provider shares with the manager. */
export interface CloudInformers {
  informer<T extends KubeObject>(resource: GroupVersionResource): CloudInformer<T>;
}
export interface CloudInformer<T extends KubeObject> {
  readonly lister: { get(namespace: string, name: string): T | undefined; list(namespace?: string): T[] };
  addHandler(handler: { onAdd?(object: T): void; onUpdate?(object: T, old: T): void; onDelete?(object: T): void }): () => void;
}

/** What a provider does for Services of the type LoadBalancer. `cluster` is `--cluster-name`. */
export interface LoadBalancer {
  /** Its state, or undefined when nothing of it exists. While any piece of it is left (an address, a firewall rule) it exists. */
  getLoadBalancer(cluster: string, service: Service, signal?: AbortSignal): Promise<LoadBalancerStatus | undefined>;
  /** The cloud's name of the load balancer, whether or not it exists. Usually `defaultLoadBalancerName`. */
  getLoadBalancerName(cluster: string, service: Service): string;
  /**
   * Makes it, or brings an existing one in line with the Service and exactly these nodes (also none), and gives its state. May throw
   * `implementedElsewhere` or `retryAfter`.
   */
  ensureLoadBalancer(
    cluster: string,
    service: Service,
    nodes: readonly Node[],
    signal?: AbortSignal,
  ): Promise<LoadBalancerStatus>;
  /** Changes nothing but the backends. May throw `implementedElsewhere`. */
  updateLoadBalancer(cluster: string, service: Service, nodes: readonly Node[], signal?: AbortSignal): Promise<void>;
  /** Removes all of it, also what is left of one that was half made. Nothing there: resolves. */
  ensureLoadBalancerDeleted(cluster: string, service: Service, signal?: AbortSignal): Promise<void>;
}

/** What the cloud knows of a Node's machine. Empty strings and absent fields say: unknown. */
export interface InstanceMetadata {
  /** `<provider>://<id>`; see `providerIdOf`. May be absent only while the Node carries one. */
  providerId?: string;
  instanceType?: string;
  /** The first address of a type is the preferred one. */
  nodeAddresses: NodeAddress[];
  zone?: string;
  region?: string;
  /** Other labels for the Node. Keys of kubernetes.io and k8s.io are dropped; existing labels are kept. */
  additionalLabels?: Record<string, string>;
}

/** Machines by Node: look at `spec.providerID` first, then at the name, labels and addresses. */
export interface InstancesV2 {
  /** False: the Node is deleted. A machine that is stopped exists. */
  instanceExists(node: Node, signal?: AbortSignal): Promise<boolean>;
  /** Whether it is powered off. May throw `notImplemented`: no Node is ever marked as shut down. */
  instanceShutdown(node: Node, signal?: AbortSignal): Promise<boolean>;
  /** What the cloud knows of the instance behind a Node; undefined: not yet known, and the Node stays uninitialised and is not asked for again until it changes. */
  instanceMetadata(node: Node, signal?: AbortSignal): Promise<InstanceMetadata | undefined>;
}

/** Machines by name or providerID: the older interface. Everything may throw `instanceNotFound`. */
export interface Instances {
  nodeAddresses(nodeName: string): Promise<NodeAddress[]>;
  nodeAddressesByProviderId(providerId: string): Promise<NodeAddress[]>;
  /** The part of the providerID behind `://`. Must work for stopped machines. May throw `notImplemented`. */
  instanceId(nodeName: string): Promise<string>;
  instanceType(nodeName: string): Promise<string>;
  instanceTypeByProviderId(providerId: string): Promise<string>;
  /** May throw `notImplemented`. No controller asks for it. */
  addSshKeyToAllInstances(user: string, key: Uint8Array): Promise<void>;
  /** The Node name of the machine this process runs on. No controller asks for it. */
  currentNodeName(hostname: string): Promise<string>;
  instanceExistsByProviderId(providerId: string): Promise<boolean>;
  /** May throw `notImplemented`: taken as running. */
  instanceShutdownByProviderId(providerId: string): Promise<boolean>;
}

export interface Zone {
  failureDomain: string;
  region: string;
}

/** What a provider of the older interface says of the zones of machines. */
export interface Zones {
  getZone(): Promise<Zone>;
  getZoneByProviderId(providerId: string): Promise<Zone>;
  getZoneByNodeName(nodeName: string): Promise<Zone>;
}

export interface Route {
  /** The cloud's name of the route; '' in a request to make one. */
  name: string;
  /** Name of the Node; '' for a route that belongs to none. */
  targetNode: string;
  /** The cloud's routes follow the Node's addresses: a route is made again when they change. */
  enableNodeAddresses?: boolean;
  targetNodeAddresses: NodeAddress[];
  destinationCidr: string;
  /** What it led to is gone. */
  blackhole?: boolean;
}

/** Routes from the cloud's network to the pods of each Node. */
export interface Routes {
  /** All routes of the cluster; also foreign ones, which are left alone. */
  listRoutes(cluster: string, signal?: AbortSignal): Promise<Route[]>;
  /**
   * `nameHint` is the Node's UID: with two address families it comes twice, so the name must also depend on the CIDR. Making a route that is
   * there already succeeds. A `Conflict` StatusError is tried again at once, a few times.
   */
  createRoute(cluster: string, nameHint: string, route: Route, signal?: AbortSignal): Promise<void>;
  /** A route as `listRoutes` gave it. Gone already: resolves. */
  deleteRoute(cluster: string, route: Route, signal?: AbortSignal): Promise<void>;
}

export interface Clusters {
  listClusters(): Promise<string[]>;
  /** Address of the cluster's control plane. */
  master(cluster: string): Promise<string>;
}

/** The manager's metrics, for those of a provider. The same name again is the same family. */
export interface ProviderMetrics {
  counter(options: MetricFamily): { inc(by?: number, ...labelValues: string[]): void };
  histogram(options: MetricFamily & { buckets?: readonly number[] }): { observe(value: number, ...labelValues: string[]): void };
}
export interface MetricFamily {
  name: string;
  help: string;
  /** Names of labels; values are given in this order. */
  labels?: readonly string[];
}

/** What a provider's `create` is given. */
export interface CreateContext<Config> {
  /** Validated against `configSchema`, with its defaults filled in. */
  config: Config;
  /** Folder of `--cloud-config`, for files named in it; the working directory without one. */
  configDir: string;
  clock: Clock;
  /** Chance, for jitter. Absent: the machine's. */
  rng?: Rng;
  logger: Logger;
  /** Absent: nobody asks for metrics. */
  metrics?: ProviderMetrics;
  /** Values of the definition's `flags`; absent: their defaults. */
  flags?: ProviderFlagValues;
}
