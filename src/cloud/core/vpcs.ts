// Networks and their parts. A new VPC has a main route table (inside: itself) and a default security group (in: from itself; out: everything).
import { accessDenied, conflicting, inUse, invalid } from '../api/errors.ts';
import type { RouteTable, World } from '../model/index.ts';
import { contains, isCanonical, overlaps, rangeOf } from './cidr.ts';
import type { Changes } from './command.ts';
import type { Context } from './context.ts';
import { prefixLengthMax, prefixLengthMin } from './limits.ts';
import { itemsOf, newResource, own, put, remove, withinAccountQuota, withinQuota } from './world.ts';

function sized(cidr: string): string {
  const { length } = rangeOf(cidr);
  if (length < prefixLengthMin || length > prefixLengthMax)
    throw invalid('cidr', `the prefix length must be ${prefixLengthMin} to ${prefixLengthMax}`);
  if (!isCanonical(cidr)) throw invalid('cidr', 'bits are set behind the prefix');
  return cidr;
}

export const mainTable = (world: World, vpcId: string): RouteTable => {
  const main = itemsOf(world, 'routeTables').find((table) => table.vpcId === vpcId && table.main);
  if (!main) throw new Error(`assertion failed: ${vpcId} has no main route table`);
  return main;
};

export function newTable(
  world: World,
  context: Context,
  vpcId: string,
  cidr: string,
  main: boolean,
  tags: Record<string, string>,
): RouteTable {
  const local = { destination: cidr, target: { kind: 'local' }, state: 'active', name: 'local' } as const;
  return { ...newResource(world, 'routeTables', context, tags), vpcId, main, routes: [local] };
}

/** Ids of what lies in a VPC, beside what came with it. */
function* contentOf(world: World, vpcId: string): Generator<string> {
  const table = itemsOf(world, 'routeTables').filter(({ main }) => !main);
  const groups = itemsOf(world, 'securityGroups').filter(({ name }) => name !== 'default');
  const parts = [world.subnets, world.interfaces, world.loadBalancers].flatMap((map) => [...map.values()]);
  for (const item of [...table, ...groups, ...parts]) if (item.vpcId === vpcId) yield item.id;
  for (const { id, vpcIds } of world.dnsZones.values()) if (vpcIds.includes(vpcId)) yield id;
}

export const vpcChanges: Changes<'createVpc' | 'deleteVpc' | 'createSubnet' | 'modifySubnet' | 'deleteSubnet'> = {
  createVpc(world, { name, cidr, tags }, context) {
    withinAccountQuota(world, context, 'vpcs');
    if (overlaps(rangeOf(sized(cidr)), rangeOf(context.settings.publicCidr)))
      throw invalid('cidr', `overlaps with the public addresses of the cloud (${context.settings.publicCidr})`);
    const vpc = { ...newResource(world, 'vpcs', context, tags), name, cidr };
    const id = newResource(world, 'securityGroups', context, {});
    const group = {
      ...id,
      vpcId: vpc.id,
      name: 'default',
      description: 'default security group of the VPC',
      ingress: [{ protocol: 'all' as const, groupId: id.id }],
      egress: [{ protocol: 'all' as const, cidr: '0.0.0.0/0' }],
    };
    const withVpc = put(put(world, 'vpcs', vpc), 'securityGroups', group);
    return { world: put(withVpc, 'routeTables', newTable(world, context, vpc.id, cidr, true, {})), result: vpc };
  },
  deleteVpc(world, { vpcId }, context) {
    const { id } = own(world, context, 'vpcs', vpcId);
    const [first] = contentOf(world, id);
    if (first !== undefined) throw inUse(`${id} still has ${first}`);
    let changed = remove(world, 'vpcs', id);
    for (const collection of ['routeTables', 'securityGroups'] as const)
      for (const item of world[collection].values()) if (item.vpcId === id) changed = remove(changed, collection, item.id);
    return { world: changed, result: undefined };
  },
  createSubnet(world, { name, vpcId, zone, cidr, routeTableId, tags }, context) {
    const vpc = own(world, context, 'vpcs', vpcId);
    const others = itemsOf(world, 'subnets').filter((subnet) => subnet.vpcId === vpcId);
    withinQuota(others.length, context.settings.quotas.subnetsPerVpc, 'subnets in a VPC');
    if (!context.settings.zones.some((known) => known.name === zone)) throw invalid('zone', `there is no zone ${zone}`);
    const range = rangeOf(sized(cidr));
    if (!contains(rangeOf(vpc.cidr), range)) throw invalid('cidr', `is not a part of ${vpc.cidr}`);
    const other = others.find((subnet) => overlaps(rangeOf(subnet.cidr), range));
    if (other) throw conflicting('SubnetConflict', `${cidr} overlaps with ${other.cidr} of ${other.id}`);
    const table = routeTableId === undefined ? mainTable(world, vpcId) : tableOf(world, context, vpcId, routeTableId);
    const subnet = { ...newResource(world, 'subnets', context, tags), name, vpcId, zone, cidr, routeTableId: table.id };
    return { world: put(world, 'subnets', subnet), result: subnet };
  },
  modifySubnet(world, { subnetId, routeTableId }, context) {
    const subnet = own(world, context, 'subnets', subnetId);
    const changed = { ...subnet, routeTableId: tableOf(world, context, subnet.vpcId, routeTableId).id };
    return { world: put(world, 'subnets', changed), result: changed };
  },
  deleteSubnet(world, { subnetId }, context) {
    const { id } = own(world, context, 'subnets', subnetId);
    const user =
      itemsOf(world, 'interfaces').find((item) => item.subnetId === id) ??
      itemsOf(world, 'loadBalancers').find(({ subnetIds }) => subnetIds.includes(id));
    if (user) throw inUse(`${id} still has ${user.id}`);
    return { world: remove(world, 'subnets', id), result: undefined };
  },
};

function tableOf(world: World, context: Context, vpcId: string, routeTableId: string): RouteTable {
  const table = own(world, context, 'routeTables', routeTableId);
  if (table.vpcId !== vpcId) throw accessDenied(`${routeTableId} belongs to another VPC`);
  return table;
}
