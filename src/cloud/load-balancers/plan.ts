// From the world to what each VPC's router has to balance. Pure.
import {
  type HealthCheck,
  type LoadBalancer,
  type NetworkInterface,
  routerNetns,
  routerToInterface,
  type World,
} from '../model/index.ts';

/** Where packets to an instance go: the link to its first interface, and the address there. */
export interface Place {
  instanceId: string;
  link: string;
  address: string;
  /** Another after each boot, when the link is another too although it has the same name. */
  initPid: number | undefined;
}

export interface BalancerPlan
  extends Pick<LoadBalancer, 'id' | 'kind' | 'address' | 'listeners' | 'proxyProtocol' | 'sourceRanges'> {
  internetFacing: boolean;
  affinityTimeoutSeconds: number | undefined;
  healthCheck: HealthCheck | undefined;
  /** Targets that have power. */
  targets: readonly Place[];
  /** Targets that have none, or are of another VPC. */
  unused: readonly string[];
}

export interface VpcPlan {
  vpcId: string;
  netns: string;
  balancers: readonly BalancerPlan[];
  /** The places of all instances that are on: each may be a client whose pods' addresses only it knows. */
  places: readonly Place[];
}

const powered: ReadonlySet<string> = new Set(['running', 'stopping', 'shutting-down']);

function placesOf(world: World): Map<string, Map<string, Place>> {
  const found = new Map<string, Map<string, Place>>();
  const first = ({ attachment }: NetworkInterface): boolean => attachment?.deviceIndex === 0;
  for (const item of world.interfaces.values()) {
    const instanceId = item.attachment?.instanceId;
    const instance = world.instances.get(instanceId ?? '');
    if (!instanceId || !instance || !first(item) || !powered.has(instance.state)) continue;
    const places = found.get(item.vpcId) ?? new Map<string, Place>();
    const link = routerToInterface(item.id);
    places.set(instanceId, { instanceId, link, address: item.privateAddress, initPid: instance.initPid });
    found.set(item.vpcId, places);
  }
  return found;
}

function balancerPlan(balancer: LoadBalancer, places: ReadonlyMap<string, Place>): BalancerPlan {
  const { id, kind, address, listeners, proxyProtocol, sourceRanges, targets } = balancer;
  return {
    id,
    kind,
    address,
    listeners,
    proxyProtocol,
    sourceRanges,
    internetFacing: balancer.scheme === 'internet-facing',
    affinityTimeoutSeconds: balancer.affinityTimeoutSeconds,
    healthCheck: balancer.healthCheck,
    targets: targets.flatMap(({ instanceId }) => places.get(instanceId) ?? []),
    unused: targets.flatMap(({ instanceId }) => (places.has(instanceId) ? [] : [instanceId])),
  };
}

/** One plan for each VPC that has load balancers. */
export function plansOf(world: World, mark: string): VpcPlan[] {
  const places = placesOf(world);
  const byVpc = new Map<string, BalancerPlan[]>();
  for (const balancer of world.loadBalancers.values()) {
    const plan = balancerPlan(balancer, places.get(balancer.vpcId) ?? new Map());
    const list = byVpc.get(balancer.vpcId);
    if (list) list.push(plan);
    else byVpc.set(balancer.vpcId, [plan]);
  }
  return [...byVpc].map(([vpcId, balancers]) => ({
    vpcId,
    netns: routerNetns(mark, vpcId),
    balancers,
    places: [...(places.get(vpcId)?.values() ?? [])],
  }));
}

/** Whether `proxy`: TCP listeners are HAProxy's. */
export const tcpListeners = ({ kind, listeners }: BalancerPlan) =>
  kind === 'proxy' ? listeners.filter(({ protocol }) => protocol === 'tcp') : [];
/** Listeners whose connections are given a target by packet rules. */
export const routedListeners = ({ kind, listeners }: BalancerPlan) =>
  kind === 'proxy' ? listeners.filter(({ protocol }) => protocol === 'udp') : listeners;
