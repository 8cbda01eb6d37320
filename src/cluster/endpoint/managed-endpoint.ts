// The shape of managed services (Amazon EKS, https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html): the control plane runs in a
// network of the provider's, behind a load balancer of the provider's; interfaces that the provider manages lie in two subnets of the customer's. What
// nodes use is decided by what the endpoint's name means inside the customer's network, and who may use the load balancer by its source ranges:
//
//   public                the load balancer's address, inside and outside
//   public-and-private    the interfaces inside, by a private zone; the load balancer's address outside
//   private               the interfaces, inside and outside; the load balancer is the provider's alone
//
// The interfaces are there in all modes: through them the control plane reaches kubelets, and pods the Service `kubernetes`. A switch of the mode changes
// names and source ranges, and no server: connections whose way stays open go on, and nodes follow the name (nodes/named-way.ts).
import type { LoadBalancer, NetworkInterface } from '#cloud';
import { type CloudClient, isNotFound } from '#cloud/client';
import type { Dial } from '#wire';
import type { ControlPlane } from '../control-plane.ts';
import { managedApiPort } from '../control-planes/names.ts';
import type { ControlPlaneMachines } from '../control-planes/machines.ts';
import type { EndpointAccess } from '../flags/endpoint-access.ts';
import type { ControlPlaneEndpoint } from './endpoint.ts';
import {
  type ClusterNetwork,
  clusterTag,
  endpointAddress,
  ensureEndpoint,
  ensureNetwork,
  providerCidr,
  secondEndpointAddress,
} from '../cloud/network.ts';
import { managedServer } from './managed-server.ts';

const port = managedApiPort;
const recordTtlSeconds = 5;
const anybody = '0.0.0.0/0';

/** What serves the control plane, behind the interfaces and the load balancer. */
export interface ManagedPlane {
  /** Makes what it needs in the provider's network, and gives the load balancer. `interfaces`: in the customer's. */
  open(provider: ClusterNetwork, network: ClusterNetwork, interfaces: readonly NetworkInterface[]): Promise<LoadBalancer>;
  /**
   * Connects the endpoint once its machines exist. `own`: the control plane, where it is in this process. `tell` is called with the interfaces
   * behind which an apiserver is healthy.
   */
  connect(own: ControlPlane | undefined, tell: (addresses: readonly string[]) => Promise<void>): Promise<void>;
  /** Opens connections in the customer's network. */
  readonly dial: Dial;
  /** How this process reaches it in all modes; undefined: it is in this process. */
  readonly way: Dial | undefined;
  readonly machines: ControlPlaneMachines | undefined;
  close(): Promise<void>;
}

export interface ManagedEndpointOptions {
  cluster: string;
  /** Six hex digits, in the endpoint's name. */
  mark: string;
  access: EndpointAccess;
  /** The client of the account that manages control planes. */
  service: () => CloudClient;
  plane: ManagedPlane;
}

export class ManagedEndpoint implements ControlPlaneEndpoint {
  readonly server: { host: string; port: number };
  readonly advertised = { address: endpointAddress, port };
  readonly names: { dnsNames: readonly string[]; ips: readonly string[] };
  readonly #options: ManagedEndpointOptions;
  readonly #tags: Record<string, string>;
  #access: EndpointAccess;
  #network: ClusterNetwork | undefined;
  #interfaces: readonly string[] = [];
  #balancer: LoadBalancer | undefined;
  /** Modes and lost machines change the same names: one after the other. */
  #arranged: Promise<void> = Promise.resolve();

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
    return this.#access === 'private' ? undefined : this.#atBalancer;
  }
  get way(): { url: string; serverName: string; dial: Dial } | undefined {
    const { way: dial } = this.#options.plane;
    const at = this.#atBalancer;
    return dial && at && { ...at, dial };
  }
  get machines(): ControlPlaneMachines | undefined {
    return this.#options.plane.machines;
  }
  /** Kubelets are reached from an interface in the customer's network. */
  get dial(): Dial {
    return this.#options.plane.dial;
  }

  async open(network: ClusterNetwork): Promise<void> {
    this.#network = network;
    if (network.subnets.length < 2) throw new Error('a managed control plane needs subnets in two zones');
    const { cluster, plane } = this.#options;
    const service = this.#options.service();
    const description = `control plane of ${cluster}`;
    const [provider, ...interfaces] = await Promise.all([
      ensureNetwork(service, { cluster, internet: true, provider: true }),
      ensureEndpoint(service, network, { subnet: 0, address: endpointAddress, description }),
      ensureEndpoint(service, network, { subnet: 1, address: secondEndpointAddress, description }),
    ]);
    this.#interfaces = interfaces.map(({ privateAddress }) => privateAddress);
    this.#balancer = await plane.open(provider, network, interfaces);
    await this.#arrange();
  }
  connect(own: ControlPlane | undefined): Promise<void> {
    return this.#options.plane.connect(own, (addresses) =>
      this.#inTurn(async () => {
        this.#interfaces = addresses;
        await this.#arrange();
      }),
    );
  }
  /** Another mode, on the living cluster. Where the cloud refuses it, the one of before stays. */
  setAccess(access: EndpointAccess): Promise<void> {
    return this.#inTurn(async () => {
      const before = this.#access;
      this.#access = access;
      try {
        await this.#arrange();
      } catch (error) {
        this.#access = before;
        await this.#arrange().catch(() => {});
        throw error;
      }
    });
  }
  close(): Promise<void> {
    return this.#options.plane.close();
  }

  get #atBalancer(): { url: string; serverName: string } | undefined {
    const serverName = this.server.host;
    return this.#balancer && { url: `https://${this.#balancer.address}:${port}`, serverName };
  }
  #inTurn(change: () => Promise<void>): Promise<void> {
    const done = this.#arranged.then(change);
    this.#arranged = done.catch(() => {});
    return done;
  }
  /** Load balancer and names, as the mode wants them. What is to be reached is open before a name leads there. */
  async #arrange(): Promise<void> {
    const { id: loadBalancerId, address } = this.#balancer as LoadBalancer;
    const isPublic = this.#access !== 'private';
    const sourceRanges = [isPublic ? anybody : providerCidr];
    const allow = () => this.#options.service().putSourceRanges({ loadBalancerId, sourceRanges });
    if (isPublic) await allow();
    await this.#name('public', isPublic ? [address] : this.#interfaces);
    await (this.#access === 'public' ? this.#dropPrivateZone() : this.#name('private', this.#interfaces));
    if (!isPublic) await allow();
  }
  async #name(visibility: 'public' | 'private', values: readonly string[]): Promise<void> {
    const cloud = this.#options.service();
    const name = this.server.host;
    const { vpc } = this.#network as ClusterNetwork;
    const known = (await cloud.listDnsZones({ name })).items.find((zone) => zone.visibility === visibility);
    const vpcIds = visibility === 'private' ? [vpc.id] : [];
    const zone = known ?? (await cloud.createDnsZone({ name, visibility, vpcIds, tags: this.#tags }));
    await cloud.putDnsRecord({ dnsZoneId: zone.id, type: 'A', name, ttlSeconds: recordTtlSeconds, values: [...values] });
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
