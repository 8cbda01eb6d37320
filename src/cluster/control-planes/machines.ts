// Control-plane machines as instances of the cluster's cloud, one zone after the other, and the load balancer before them.
import type { Instance, LoadBalancer, SecurityGroup } from '#cloud';
import { type CloudClient, listAll } from '#cloud/client';
import { nodeUserData } from '../cloud/machines.ts';
import {
  type ClusterNetwork,
  clusterTag,
  controlPlanePlace,
  ensureControlPlaneGroup,
  gatewayNear,
  roleTag,
} from '../cloud/network.ts';
import { runAt } from '../cloud/run-at.ts';
import { programFolders } from '../cloud/program-folders.ts';
import type { KeptFlags } from '../flags/index.ts';
import type { ControlPlaneConfig, ControlPlaneMember } from './config.ts';
import { controlPlaneConfigPath, controlPlaneDir } from '../state/paths.ts';
import { healthCheckMs } from './limits.ts';
import { apiPort, managedApiPort, managedApiservers } from './names.ts';

/** What machines have in addition that stand in the provider's network. */
export interface ManagedMachines {
  /** Name of the endpoint. */
  endpoint: string;
  /** Addresses of the control plane's interfaces in the customer's network: of the first machine, and of the second. */
  interfaces: readonly string[];
  /** What is reached by them. */
  destinations: string[];
}

export interface ControlPlaneMachinesOptions {
  cluster: string;
  dataDir: string;
  names: readonly string[];
  /** How to run this program. */
  program: readonly string[];
  /** The cluster's layout. With `pods` the machines are nodes. */
  layout?: KeptFlags['layout'] | undefined;
  /** Absent: the machines are in the cluster's own network. */
  managed?: ManagedMachines | undefined;
}

/** The part of a machine's configuration that only managed control planes set. */
export type Side = Pick<ControlPlaneConfig, 'port' | 'customer' | 'etcdOnly'>;

const role = 'control-plane';
const isGone = ({ state }: Instance): boolean => state === 'terminated' || state === 'shutting-down';

export class ControlPlaneMachines {
  readonly #cloud: CloudClient;
  readonly #network: ClusterNetwork;
  readonly #options: ControlPlaneMachinesOptions;

  constructor(cloud: CloudClient, network: ClusterNetwork, options: ControlPlaneMachinesOptions) {
    this.#cloud = cloud;
    this.#network = network;
    this.#options = options;
  }
  /** All of them, whether or not their instances exist. */
  get members(): ControlPlaneMember[] {
    const { subnets, vpc } = this.#network;
    return this.#options.names.map((name, index) => ({
      name,
      address: controlPlanePlace(index, subnets.length, vpc.cidr).address,
    }));
  }
  /** The port of the API, at every machine and at the load balancer. */
  get port(): number {
    return this.#options.managed ? managedApiPort : apiPort;
  }
  sideOf(name: string): Side {
    const { managed, names } = this.#options;
    if (!managed) return {};
    const address = managed.interfaces[names.indexOf(name)];
    if (!this.#serves(name) || address === undefined) return { etcdOnly: true };
    const { destinations } = managed;
    return { port: this.port, customer: { link: 'eth1', address, gateway: gatewayNear(address), destinations } };
  }
  /** Under which the apiservers are found, beside their own addresses. */
  async endpoints(): Promise<string[]> {
    const { managed } = this.#options;
    return [(await this.balancer()).address, ...(managed ? [managed.endpoint, ...managed.interfaces] : [])];
  }
  /** Lists the instances in the control plane's own network. The account sees the customer's instances, too, and those may carry any tags. */
  async list(): Promise<Instance[]> {
    const tags = { [clusterTag]: this.#options.cluster, [roleTag]: role };
    const all = await listAll((page) => this.#cloud.listInstances({ tags, ...page }));
    return all.filter((instance) => instance.vpcId === this.#network.vpc.id && !isGone(instance));
  }
  /** The load balancer, made where it is missing: its address is in certificates before there is a machine. */
  async balancer(): Promise<LoadBalancer> {
    const name = `${this.#options.cluster}-${role}`;
    const { port } = this;
    const [known] = (await this.#cloud.listLoadBalancers({ name })).items;
    return (
      known ??
      this.#cloud.createLoadBalancer({
        name,
        kind: 'proxy',
        subnetIds: this.#network.subnets.map(({ id }) => id),
        listeners: [{ protocol: 'tcp', port, targetPort: port }],
        healthCheck: {
          protocol: 'https',
          port,
          path: '/readyz',
          ...healthCheckMs,
          terminateConnections: true,
          failOpen: true,
        },
        tags: { [clusterTag]: this.#options.cluster },
      })
    );
  }
  /**
   * Asks for the instances that do not exist, and puts all of them behind the load balancer. Instances that were stopped stay so. Their disks must
   * be prepared.
   */
  async ensure(names: readonly string[] = this.#options.names): Promise<Instance[]> {
    const group = await ensureControlPlaneGroup(this.#cloud, this.#network, this.port);
    const known = new Map((await this.list()).map((instance) => [instance.name, instance]));
    await Promise.all(names.map(async (name) => known.get(name) ?? this.#run(name, group)));
    const all = await this.list();
    await this.#attach(all);
    const { id } = await this.balancer();
    const targets = all.filter((instance) => this.#serves(instance.name)).map((instance) => ({ instanceId: instance.id }));
    await this.#cloud.putTargets({ loadBalancerId: id, targets });
    return all;
  }

  /** Gives machines their interfaces in the customer's network. */
  async #attach(machines: readonly Instance[]): Promise<void> {
    for (const { id: instanceId, name } of machines) {
      const { customer } = this.sideOf(name);
      if (!customer) continue;
      const { items } = await this.#cloud.listInterfaces({ privateAddress: customer.address });
      const item = items.find(({ requesterManaged }) => requesterManaged);
      if (item && !item.attachment) await this.#cloud.attachInterface({ interfaceId: item.id, instanceId, deviceIndex: 1 });
    }
  }
  /** Whether the machine has an apiserver. */
  #serves(name: string): boolean {
    const { managed, names } = this.#options;
    return !managed || names.slice(0, managedApiservers).includes(name);
  }
  #userData(name: string) {
    const { dataDir, program, layout } = this.#options;
    if (layout === 'pods') return nodeUserData({ dataDir, program, name, pods: true });
    const { command, shows } = programFolders(program);
    const directory = controlPlaneDir(dataDir, name);
    return { command: [...command, 'control-plane-agent', '--config', controlPlaneConfigPath(directory)], directory, shows };
  }
  #run(name: string, group: SecurityGroup): Promise<Instance> {
    const { cluster, names } = this.#options;
    const { subnets, vpc, group: ofNodes } = this.#network;
    const { subnet, address } = controlPlanePlace(names.indexOf(name), subnets.length, vpc.cidr);
    const isNode = this.#options.layout === 'pods';
    return runAt(this.#cloud, {
      name,
      subnetId: subnets[subnet]?.id ?? '',
      privateAddress: address,
      securityGroupIds: [group.id, ...(isNode ? [ofNodes.id] : [])],
      // Pods are behind a node.
      ...(isNode && { sourceDestCheck: false }),
      userData: this.#userData(name),
      tags: { [clusterTag]: cluster, [roleTag]: role, Name: `${vpc.name}/${name}` },
    });
  }
}
