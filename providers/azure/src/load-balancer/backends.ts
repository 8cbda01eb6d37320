// The machines behind a load balancer: exactly those of the given Nodes.
import type { BackendAddressPool, LoadBalancer } from '@azure/arm-network';
import type { Node } from 'sagong/cloud-provider';
import { atMost, differenceOf, familyOf } from 'sagong/cloud-provider/kit';
import type { Cloud } from '../cloud.ts';
import { networkId, parseId, sameText } from '../ids.ts';
import { groupLabel, isUnmanaged } from '../instances/finder.ts';
import type { Machine } from '../instances/machine.ts';
import { machineIdOf } from '../instances/provider-id.ts';
import { interfaceWritesMax, namesShown } from '../limits.ts';
import { type Family, poolName } from '../names.ts';
import type { Settings } from '../settings.ts';
import { type Backend, backendKey, backendOfConfig, type Change, type Membership } from './membership.ts';

const controlPlaneLabels = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'];
const isControlPlane = ({ metadata: { labels = {} } }: Node): boolean =>
  controlPlaneLabels.some((label) => labels[label] !== undefined) || labels['kubernetes.io/role'] === 'master';

/** The Nodes that load balancers may send to. */
export const eligible = (settings: Settings, nodes: readonly Node[]): Node[] =>
  nodes.filter((node) => {
    const elsewhere = node.metadata.labels?.[groupLabel];
    const isHere = settings.poolOfAddresses || !elsewhere || sameText(elsewhere, settings.group);
    return !isUnmanaged(node) && isHere && !(settings.excludeControlPlane && isControlPlane(node));
  });

export const addressesOf = ({ status }: Node, family: Family): string[] =>
  (status?.addresses ?? []).flatMap(({ type, address }) =>
    type === 'InternalIP' && familyOf(address) === family ? [address] : [],
  );

/** Addresses that the pool of this family is to have, where pools are made of addresses. */
export function poolAddresses(
  { network: { name, group }, networkSubscription }: Settings,
  nodes: readonly Node[],
  family: Family,
): NonNullable<BackendAddressPool['loadBalancerBackendAddresses']> {
  const virtualNetwork = { id: networkId(networkSubscription, group, 'virtualNetworks', name) };
  return nodes
    .flatMap((node) => addressesOf(node, family).slice(0, 1))
    .sort()
    .map((ipAddress) => ({ name: ipAddress, ipAddress, virtualNetwork }));
}

function backendOfMachine({ id, interfaceId }: Pick<Machine, 'id' | 'interfaceId'>): Backend | undefined {
  if (id.scaleSet !== undefined) return { group: id.group, scaleSet: id.scaleSet, instance: id.name };
  const card = parseId(interfaceId);
  return card && { group: card.group, interfaceName: card.names[0] ?? '' };
}
const poolOf = ({ backendAddressPools = [] }: LoadBalancer, cluster: string, family: Family): BackendAddressPool | undefined =>
  backendAddressPools.find(({ name }) => sameText(name, poolName(cluster, family)));
const familyOfPool = ({ name }: BackendAddressPool): Family => (name?.toLowerCase().endsWith('-ipv6') ? 'IPv6' : 'IPv4');
const inPool = ({ backendIPConfigurations = [] }: BackendAddressPool): Backend[] =>
  backendIPConfigurations.flatMap(({ id }) => backendOfConfig(id) ?? []);
/** `group/name` of each scale set. */
const scaleSetsOf = (backends: readonly Backend[]): string[] => [
  ...new Set(backends.flatMap(({ group, scaleSet }) => (scaleSet === undefined ? [] : [`${group}/${scaleSet}`]))),
];

/** Keeps the members of backend pools by network cards and the models of scale sets. Pools of addresses are kept elsewhere. */
export class Backends {
  readonly #cloud: Cloud;
  readonly #membership: Membership;
  readonly #ofMembers: ReturnType<typeof atMost>;
  readonly #ofInterfaces = atMost(interfaceWritesMax);

  constructor(cloud: Cloud, membership: Membership) {
    this.#cloud = cloud;
    this.#membership = membership;
    this.#ofMembers = atMost(cloud.settings.memberWritesMax);
  }
  /** Brings the pools of these families in line. */
  async settle(
    cluster: string,
    balancer: LoadBalancer,
    families: readonly Family[],
    nodes: readonly Node[],
    signal?: AbortSignal,
  ): Promise<void> {
    const wanted = await this.#ofNodes(nodes, signal);
    const keys = new Set(wanted.map(backendKey));
    for (const family of families) {
      const pool = poolOf(balancer, cluster, family);
      if (!pool?.id) continue;
      const { missing, surplus } = differenceOf(inPool(pool), wanted, backendKey, backendKey);
      if (missing.length > 0) await this.#changeScaleSets(scaleSetsOf(wanted), pool.id, family, 'join', signal);
      await this.#changeEach(missing, pool.id, family, 'join', signal);
      // A machine with two entries is not surplus.
      const leaving = surplus.filter((one) => !keys.has(backendKey(one)));
      await this.#changeEach(leaving, pool.id, family, 'leave', signal);
    }
  }
  /** Takes all machines out of all pools, and the pools out of scale sets, so that the load balancer can be deleted. */
  async detach({ backendAddressPools = [] }: LoadBalancer, signal?: AbortSignal): Promise<void> {
    const { settings, inventory } = this.#cloud;
    for (const pool of backendAddressPools) {
      const [poolId, family, there] = [pool.id ?? '', familyOfPool(pool), inPool(pool)];
      const looks = settings.looks.scaleSets && !settings.poolOfAddresses;
      const known = looks ? await inventory.scaleSetNames(settings.group, signal) : [];
      const scaleSets = new Set([...scaleSetsOf(there), ...known.map((name) => `${settings.group}/${name}`)]);
      await this.#changeScaleSets([...scaleSets], poolId, family, 'leave', signal);
      await this.#changeEach(there, poolId, family, 'leave', signal);
    }
  }
  async #changeScaleSets(
    keys: readonly string[],
    poolId: string,
    family: Family,
    change: Change,
    signal?: AbortSignal,
  ): Promise<void> {
    for (const key of keys) {
      const [group = '', name = ''] = key.split('/');
      await this.#membership.changeScaleSet(group, name, poolId, family, change, signal);
    }
  }
  async #changeEach(
    backends: readonly Backend[],
    poolId: string,
    family: Family,
    change: Change,
    signal?: AbortSignal,
  ): Promise<void> {
    const work = (one: Backend) => () => this.#membership.changeBackend(one, poolId, family, change, signal);
    await Promise.all(backends.map((one) => (one.scaleSet === undefined ? this.#ofInterfaces : this.#ofMembers)(work(one))));
  }
  async #ofNodes(nodes: readonly Node[], signal?: AbortSignal): Promise<Backend[]> {
    const found: Backend[] = [];
    const lost: string[] = [];
    // One after the other: the first one reads the list for all.
    for (const node of nodes) {
      const backend = await this.#ofNode(node, signal);
      if (backend) found.push(backend);
      else lost.push(node.metadata.name ?? '');
    }
    if (lost.length > 0)
      this.#cloud.logger.warn('machines of nodes do not exist', {
        nodes: lost.slice(0, namesShown).join(', '),
        count: lost.length,
      });
    return found;
  }
  /** The backend of a Node; undefined where its machine is gone, or never was one of this cloud. */
  async #ofNode(node: Node, signal?: AbortSignal): Promise<Backend | undefined> {
    const { finder, inventory } = this.#cloud;
    const { providerID } = node.spec ?? {};
    if (!providerID) {
      const machine = await finder.ofNode(node, signal);
      return machine && backendOfMachine(machine);
    }
    const id = machineIdOf(providerID);
    if (!id) return undefined;
    if (id.scaleSet !== undefined) return backendOfMachine({ id, interfaceId: undefined });
    const machine = await inventory.machineNamed(id.group, id.name, { asComputer: false }, signal);
    return machine && backendOfMachine(machine);
  }
}
