// The shape of managed services (Amazon EKS, https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html): the control plane runs in a
// network of the provider's; interfaces that the provider owns lie in two subnets of the customer's, and a load balancer makes it public. What
// nodes use is decided by what the endpoint's name means inside the customer's network:
//
//   public                the load balancer's address, inside and outside
//   public-and-private    the provider-owned interfaces inside, by a private zone; the load balancer's address outside
//   private               the provider-owned interfaces, inside and outside; there is no load balancer
//
// The interfaces are there in all modes: through them the control plane reaches kubelets, and pods the Service `kubernetes`.
import type { Instance, LoadBalancer, NetworkInterface, Subnet } from '#cloud';
import { type CloudClient, isNotFound } from '#cloud/client';
import type { NetnsSockets } from '#host';
import type { Clock } from '#utils';
import type { Dial, WireServer } from '#wire';
import type { ControlPlane } from '../control-plane.ts';
import { type ControlPlaneEndpoint, type EndpointAccess, presenceAt } from './endpoint.ts';
import { type ClusterNetwork, clusterTag, endpointAddress, ensureEndpoint, secondEndpointAddress } from './network.ts';
import { region } from './settings.ts';

const port = 443;
const controlPlaneCidr = '10.177.0.0/16';
const controlPlaneSubnet = '10.177.0.0/20';
const controlPlaneAddress = '10.177.0.10';
const recordTtlSeconds = 5;
const settledTimeoutMs = 30_000;
const settledPollMs = 25;

/** Where clients of a managed control plane look for it. `mark`: the cluster's. */
export const managedServer = (mark: string): { host: string; port: number } => ({
  host: `${mark}.${region}.eks.sagong.internal`,
  port,
});

export interface ManagedEndpointOptions {
  cluster: string;
  /** Six hex digits; in the endpoint's name, and (`dataDir`) in the command line of helpers. */
  mark: string;
  dataDir: string;
  access: EndpointAccess;
  clock: Clock;
  /** As the service that manages control planes. */
  service: () => CloudClient;
}

/** One place where the control plane is served. */
interface Presence {
  sockets: NetnsSockets;
  address: string;
  served: WireServer;
}

export class ManagedEndpoint implements ControlPlaneEndpoint {
  readonly server: { host: string; port: number };
  readonly advertised = { address: endpointAddress, port };
  readonly names: { dnsNames: readonly string[]; ips: readonly string[] };
  readonly #options: ManagedEndpointOptions;
  readonly #tags: Record<string, string>;
  #access: EndpointAccess;
  #network: ClusterNetwork | undefined;
  #controlPlane: Instance | undefined;
  #interfaces: NetworkInterface[] = [];
  #balancer: LoadBalancer | undefined;
  #plane: ControlPlane | undefined;
  #presences: Presence[] = [];

  constructor(options: ManagedEndpointOptions) {
    this.#options = options;
    this.#access = options.access;
    this.#tags = { [clusterTag]: options.cluster };
    this.server = managedServer(options.mark);
    this.names = { dnsNames: [this.server.host], ips: [endpointAddress, secondEndpointAddress] };
  }
  get access(): EndpointAccess {
    return this.#access;
  }
  get publicServer(): { url: string; serverName: string } | undefined {
    const serverName = this.server.host;
    return this.#balancer && { url: `https://${this.#balancer.address}:${port}`, serverName };
  }
  get sockets(): NetnsSockets {
    const [first] = this.#presences.filter(({ address }) => address === endpointAddress);
    if (!first) throw new Error("the nodes' network is not up yet");
    return first.sockets;
  }
  /** Kubelets are reached from a provider-owned interface. */
  readonly dial: Dial = async ({ host, port: kubeletPort }) => this.sockets.connect(host, kubeletPort);

  async open(network: ClusterNetwork): Promise<void> {
    this.#network = network;
    const [second] = network.subnets.slice(1);
    if (!second) throw new Error('a managed control plane needs subnets in two zones');
    const service = this.#options.service();
    const description = `control plane of ${this.#options.cluster}`;
    [this.#controlPlane, ...this.#interfaces] = await Promise.all([
      this.#ensureControlPlane(),
      ensureEndpoint(service, network, { subnet: 0, address: endpointAddress, description }),
      ensureEndpoint(service, network, { subnet: 1, address: secondEndpointAddress, description }),
    ]);
    await this.#arrange();
  }
  async connect(plane: ControlPlane | undefined): Promise<void> {
    if (!plane) return;
    this.#plane = plane;
    const { privateAddress, id } = this.#controlPlane as Instance;
    const [own] = (await this.#options.service().listInterfaces({ instanceId: id })).items;
    const places = [...this.#interfaces, { netns: own?.netns, privateAddress }];
    this.#presences = await Promise.all(
      places.map(async ({ netns = '', privateAddress: address }) => {
        const { sockets, handle } = await presenceAt({ netns, address, port }, this.#options.dataDir);
        return { sockets, address, served: await plane.serveOn({ handle }) };
      }),
    );
  }
  /** Another mode, on the living cluster: connections end, clients come back by what the name means then. Pods notice nothing. */
  async setAccess(access: EndpointAccess): Promise<void> {
    this.#access = access;
    await this.#arrange();
    const plane = this.#plane;
    if (!plane) return;
    this.#presences = await Promise.all(
      this.#presences.map(async ({ sockets, address, served }) => {
        await served.close({ graceMs: 0 });
        return { sockets, address, served: await plane.serveOn({ handle: await sockets.listen(address, port) }) };
      }),
    );
  }
  async close(): Promise<void> {
    for (const { served, sockets } of this.#presences.splice(0)) {
      await served.close({ graceMs: 0 });
      sockets.close();
    }
  }

  /** Load balancer and names, as the mode wants them. */
  async #arrange(): Promise<void> {
    this.#balancer = this.#access === 'private' ? await this.#dropBalancer() : await this.#ensureBalancer();
    const inside = this.#interfaces.map(({ privateAddress }) => privateAddress);
    const outside = this.#balancer ? [this.#balancer.address] : inside;
    await this.#name('public', outside);
    await (this.#access === 'public' ? this.#dropPrivateZone() : this.#name('private', inside));
  }
  async #ensureControlPlane(): Promise<Instance> {
    const { cluster, service } = this.#options;
    const tags = this.#tags;
    const cloud = service();
    const own = { ...tags, 'sagong.dev/role': 'control-plane' };
    const [known] = (await cloud.listInstances({ tags: own, state: 'running' })).items;
    if (known) return known;
    const vpc = await cloud.createVpc({ name: `${cluster}-control-plane`, cidr: controlPlaneCidr, tags: own });
    const subnet = await this.#controlPlaneSubnet(vpc.id, own);
    const [group] = (await cloud.listSecurityGroups({ vpcId: vpc.id, name: 'default' })).items;
    await cloud.authorizeSecurityGroupIngress({
      securityGroupId: group?.id ?? '',
      rules: [{ protocol: 'tcp', fromPort: port, toPort: port, cidr: '0.0.0.0/0', description: 'the API' }],
    });
    const made = await cloud.runInstance({
      name: 'control-plane',
      subnetId: subnet.id,
      privateAddress: controlPlaneAddress,
      tags: own,
    });
    return this.#settled(made.id);
  }
  async #controlPlaneSubnet(vpcId: string, tags: Record<string, string>): Promise<Subnet> {
    const cloud = this.#options.service();
    const [zone] = (await cloud.listZones()).items;
    const [table] = (await cloud.listRouteTables({ vpcId, main: 'true' })).items;
    await cloud.putRoute({
      routeTableId: table?.id ?? '',
      destination: '0.0.0.0/0',
      target: { kind: 'internet-gateway' },
      name: 'internet',
    });
    return cloud.createSubnet({ name: 'control-plane', vpcId, zone: zone?.name ?? '', cidr: controlPlaneSubnet, tags });
  }
  /** The instance, once it runs. */
  async #settled(instanceId: string): Promise<Instance> {
    const { clock, service } = this.#options;
    const deadlineMs = clock.monotonic() + settledTimeoutMs;
    for (;;) {
      const instance = await service().getInstance({ instanceId });
      if (instance.state === 'running') return instance;
      if (clock.monotonic() > deadlineMs) throw new Error(`the control plane's instance is still ${instance.state}`);
      await clock.sleep(settledPollMs);
    }
  }
  async #ensureBalancer(): Promise<LoadBalancer> {
    const cloud = this.#options.service();
    const name = `${this.#options.cluster}-endpoint`;
    const { subnetId, id } = this.#controlPlane as Instance;
    const [known] = (await cloud.listLoadBalancers({ name })).items;
    const balancer =
      known ??
      (await cloud.createLoadBalancer({
        name,
        kind: 'proxy',
        subnetIds: [subnetId],
        listeners: [{ protocol: 'tcp', port, targetPort: port }],
        healthCheck: { protocol: 'tcp', port },
        targets: [{ instanceId: id }],
        tags: this.#tags,
      }));
    return balancer;
  }
  async #dropBalancer(): Promise<undefined> {
    const cloud = this.#options.service();
    const [known] = (await cloud.listLoadBalancers({ name: `${this.#options.cluster}-endpoint` })).items;
    if (known) await cloud.deleteLoadBalancer({ loadBalancerId: known.id });
    return undefined;
  }
  async #name(visibility: 'public' | 'private', values: string[]): Promise<void> {
    const cloud = this.#options.service();
    const name = this.server.host;
    const { vpc } = this.#network as ClusterNetwork;
    const known = (await cloud.listDnsZones({ name })).items.find((zone) => zone.visibility === visibility);
    const vpcIds = visibility === 'private' ? [vpc.id] : [];
    const zone = known ?? (await cloud.createDnsZone({ name, visibility, vpcIds, tags: this.#tags }));
    await cloud.putDnsRecord({ dnsZoneId: zone.id, type: 'A', name, ttlSeconds: recordTtlSeconds, values });
  }
  async #dropPrivateZone(): Promise<void> {
    const cloud = this.#options.service();
    const zones = (await cloud.listDnsZones({ name: this.server.host })).items;
    for (const { id, visibility } of zones)
      if (visibility === 'private')
        await cloud.deleteDnsZone({ dnsZoneId: id }).catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
  }
}
