// Control-plane machines as instances of the cluster's cloud, one zone after the other, and the load balancer before them.
import type { Instance, LoadBalancer, SecurityGroup } from '#cloud';
import { type CloudClient, listAll } from '#cloud/client';
import { nodeUserData } from '../cloud/machines.ts';
import { type ClusterNetwork, clusterTag, controlPlanePlace, ensureControlPlaneGroup, roleTag } from '../cloud/network.ts';
import { programFolders } from '../cloud/program-folders.ts';
import type { KeptFlags } from '../flags/index.ts';
import type { ControlPlaneMember } from './config.ts';
import { controlPlaneConfigPath, controlPlaneDir } from './config.ts';
import { healthCheckMs } from './limits.ts';
import { apiPort } from './names.ts';

export interface ControlPlaneMachinesOptions {
  cluster: string;
  dataDir: string;
  names: readonly string[];
  /** How to run this program. */
  program: readonly string[];
  /** Of the cluster; `pods`: the machines are nodes. */
  layout?: KeptFlags['layout'] | undefined;
}

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
    const zones = this.#network.subnets.length;
    return this.#options.names.map((name, index) => ({ name, address: controlPlanePlace(index, zones).address }));
  }
  async list(): Promise<Instance[]> {
    const tags = { [clusterTag]: this.#options.cluster, [roleTag]: role };
    return (await listAll((page) => this.#cloud.listInstances({ tags, ...page }))).filter((instance) => !isGone(instance));
  }
  /** The load balancer, made where it is missing: its address is in certificates before there is a machine. */
  async balancer(): Promise<LoadBalancer> {
    const name = `${this.#options.cluster}-${role}`;
    const [known] = (await this.#cloud.listLoadBalancers({ name })).items;
    return (
      known ??
      this.#cloud.createLoadBalancer({
        name,
        kind: 'proxy',
        subnetIds: this.#network.subnets.map(({ id }) => id),
        listeners: [{ protocol: 'tcp', port: apiPort, targetPort: apiPort }],
        healthCheck: {
          protocol: 'https',
          port: apiPort,
          path: '/readyz',
          ...healthCheckMs,
          terminateConnections: true,
          failOpen: true,
        },
        tags: { [clusterTag]: this.#options.cluster },
      })
    );
  }
  /** Asks for the instances that do not exist, starts none that was stopped, and has the load balancer know all. Their disks must be prepared. */
  async ensure(names: readonly string[] = this.#options.names): Promise<Instance[]> {
    const group = await ensureControlPlaneGroup(this.#cloud, this.#network);
    const known = new Map((await this.list()).map((instance) => [instance.name, instance]));
    await Promise.all(names.map(async (name) => known.get(name) ?? this.#run(name, group)));
    const all = await this.list();
    const { id } = await this.balancer();
    const targets = all.map((instance) => ({ instanceId: instance.id }));
    await this.#cloud.putTargets({ loadBalancerId: id, targets });
    return all;
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
    const { subnet, address } = controlPlanePlace(names.indexOf(name), subnets.length);
    const isNode = this.#options.layout === 'pods';
    return this.#cloud.runInstance({
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
