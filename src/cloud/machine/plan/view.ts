// The world as the machine's networks need it: by VPC, with where each interface lives. Made once for a plan.
import {
  edgeNetns,
  instanceNetns,
  interfaceNetns,
  type NetworkInterface,
  routerNetns,
  type RouteTable,
  type SecurityGroup,
  type Subnet,
  type Vpc,
  type World,
} from '../../model/index.ts';
import { addressIn } from './ipv4.ts';
import { stableNumbers } from './numbers.ts';
import type { Peer } from './types.ts';

/** An interface that exists on the machine: its instance has power, or it has no instance. */
export interface PlacedInterface {
  item: NetworkInterface;
  subnet: Subnet;
  /** The end of the link that has the interface's address. */
  place: Peer;
}

export interface VpcView {
  vpc: Vpc;
  netns: string;
  /** Link-local addresses between edge and router. */
  edgeAddress: string;
  routerAddress: string;
  subnets: Subnet[];
  interfaces: PlacedInterface[];
  securityGroups: SecurityGroup[];
  routeTables: RouteTable[];
}

export interface WorldView {
  world: World;
  edge: string;
  vpcs: VpcView[];
}

/** Namespaces of the instances that have power, or are to get it. */
export const instancePlaces = (mark: string, { instances }: World): string[] =>
  [...instances.values()].filter(({ state }) => powered.has(state)).map(({ id }) => instanceNetns(mark, id));

const powered: ReadonlySet<string> = new Set(['pending', 'running', 'stopping', 'shutting-down']);

/** 169.254.0.0/17 in blocks of four, without the first 256 addresses, which are reserved (RFC 3927). */
const linkBlocks = 127 * 64;

export function placeOf(mark: string, world: World, { id, attachment }: NetworkInterface): Peer | undefined {
  if (!attachment) return { netns: interfaceNetns(mark, id), link: 'eth0' };
  const state = world.instances.get(attachment.instanceId)?.state;
  if (!state || !powered.has(state)) return undefined;
  return { netns: instanceNetns(mark, attachment.instanceId), link: `eth${attachment.deviceIndex}` };
}

/** The link-local addresses between the edge and the routers, by VPC. */
export function routerLinks(world: World): Map<string, { edge: string; router: string }> {
  const numbers = stableNumbers(world.vpcs.keys(), linkBlocks);
  return new Map(
    [...numbers].map(([id, number]) => {
      const first = 256 + number * 4;
      return [id, { edge: addressIn('169.254.0.0/17', first + 1), router: addressIn('169.254.0.0/17', first + 2) }];
    }),
  );
}

function byVpc<T extends { vpcId: string }>(items: ReadonlyMap<string, T>): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const item of items.values()) {
    const list = found.get(item.vpcId);
    if (list) list.push(item);
    else found.set(item.vpcId, [item]);
  }
  return found;
}

export function viewOf(world: World, mark: string): WorldView {
  const subnets = byVpc(world.subnets);
  const interfaces = byVpc(world.interfaces);
  const securityGroups = byVpc(world.securityGroups);
  const routeTables = byVpc(world.routeTables);
  const links = routerLinks(world);
  const placed = (item: NetworkInterface): PlacedInterface[] => {
    const subnet = world.subnets.get(item.subnetId);
    const place = placeOf(mark, world, item);
    return subnet && place ? [{ item, subnet, place }] : [];
  };
  return {
    world,
    edge: edgeNetns(mark),
    vpcs: [...world.vpcs.values()].map((vpc) => ({
      vpc,
      netns: routerNetns(mark, vpc.id),
      edgeAddress: links.get(vpc.id)?.edge ?? '',
      routerAddress: links.get(vpc.id)?.router ?? '',
      subnets: subnets.get(vpc.id) ?? [],
      interfaces: (interfaces.get(vpc.id) ?? []).flatMap(placed),
      securityGroups: securityGroups.get(vpc.id) ?? [],
      routeTables: routeTables.get(vpc.id) ?? [],
    })),
  };
}
