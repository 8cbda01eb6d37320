// What holds of every world, whatever was done to it: each sentence returned is one broken promise. For tests, and for a world read from disk.
import type { World } from '../model/index.ts';
import { addressNumber, contains, holds, overlaps, rangeOf } from './cidr.ts';
import { reservedInSubnet } from './limits.ts';
import { routeState } from './route-tables.ts';

function* addressProblems(world: World): Generator<string> {
  const seen = new Map<string, string>();
  const claim = function* (address: string, id: string): Generator<string> {
    const other = seen.get(address);
    if (other !== undefined) yield `${address} is given to ${other} and to ${id}`;
    seen.set(address, id);
  };
  for (const { id, vpcId, subnetId, privateAddress } of world.interfaces.values()) {
    yield* claim(`${vpcId} ${privateAddress}`, id);
    const subnet = world.subnets.get(subnetId);
    if (!subnet) yield `${id} is in no subnet`;
    else if (!holds(rangeOf(subnet.cidr), privateAddress)) yield `${id} has an address outside of its subnet`;
    else if (addressNumber(privateAddress) < rangeOf(subnet.cidr).first + reservedInSubnet) yield `${id} has a reserved address`;
  }
  for (const { id, vpcId, scheme, address } of world.loadBalancers.values())
    if (scheme === 'internal') yield* claim(`${vpcId} ${address}`, id);
  const allocated = new Map([...world.addresses.values()].map((address) => [address.publicAddress, address]));
  for (const { id, publicAddress } of world.addresses.values()) yield* claim(publicAddress, id);
  for (const { id, publicAddress } of world.interfaces.values()) {
    if (publicAddress === undefined) continue;
    if (allocated.get(publicAddress)?.interfaceId !== id) yield* claim(publicAddress, id);
  }
  for (const { id, scheme, address } of world.loadBalancers.values())
    if (scheme === 'internet-facing' && allocated.get(address)?.loadBalancerId !== id) yield* claim(address, id);
}

function* referenceProblems(world: World): Generator<string> {
  const must = function* (there: boolean, id: string, what: string): Generator<string> {
    if (!there) yield `${id} refers to ${what}, which is not there`;
  };
  for (const { id, vpcId, routeTableId } of world.subnets.values()) {
    yield* must(world.vpcs.has(vpcId), id, vpcId);
    yield* must(world.routeTables.get(routeTableId)?.vpcId === vpcId, id, routeTableId);
  }
  for (const { id, vpcId } of [...world.routeTables.values(), ...world.securityGroups.values(), ...world.interfaces.values()])
    yield* must(world.vpcs.has(vpcId), id, vpcId);
  for (const { id, ingress, egress, vpcId } of world.securityGroups.values())
    for (const { groupId } of [...ingress, ...egress])
      if (groupId !== undefined) yield* must(world.securityGroups.get(groupId)?.vpcId === vpcId, id, groupId);
  for (const { id, vpcId, securityGroupIds, attachment } of world.interfaces.values()) {
    for (const group of securityGroupIds) yield* must(world.securityGroups.get(group)?.vpcId === vpcId, id, group);
    if (attachment)
      yield* must(world.instances.get(attachment.instanceId)?.interfaceIds.includes(id) === true, id, attachment.instanceId);
  }
  for (const { id, interfaceIds } of world.instances.values())
    for (const item of interfaceIds) yield* must(world.interfaces.get(item)?.attachment?.instanceId === id, id, item);
  for (const { id, interfaceId, loadBalancerId } of world.addresses.values()) {
    if (interfaceId !== undefined) yield* must(world.interfaces.has(interfaceId), id, interfaceId);
    if (loadBalancerId !== undefined) yield* must(world.loadBalancers.has(loadBalancerId), id, loadBalancerId);
  }
  for (const { id, subnetIds, targets } of world.loadBalancers.values()) {
    for (const subnet of subnetIds) yield* must(world.subnets.has(subnet), id, subnet);
    for (const { instanceId } of targets) yield* must(world.instances.has(instanceId), id, instanceId);
  }
  for (const { id, vpcIds } of world.dnsZones.values()) for (const vpcId of vpcIds) yield* must(world.vpcs.has(vpcId), id, vpcId);
}

function* networkProblems(world: World): Generator<string> {
  for (const vpc of world.vpcs.values()) {
    const tables = [...world.routeTables.values()].filter(({ vpcId, main }) => vpcId === vpc.id && main);
    if (tables.length !== 1) yield `${vpc.id} has ${tables.length} main route tables`;
    const subnets = [...world.subnets.values()].filter(({ vpcId }) => vpcId === vpc.id);
    for (const [index, subnet] of subnets.entries()) {
      if (!contains(rangeOf(vpc.cidr), rangeOf(subnet.cidr))) yield `${subnet.id} is outside of its VPC`;
      for (const other of subnets.slice(index + 1))
        if (overlaps(rangeOf(subnet.cidr), rangeOf(other.cidr))) yield `${subnet.id} overlaps with ${other.id}`;
    }
  }
  for (const { id, routes } of world.routeTables.values()) {
    if (routes[0]?.target.kind !== 'local') yield `${id} has no local route`;
    for (const route of routes)
      if (route.state !== routeState(world, route)) yield `the route of ${id} to ${route.destination} is not ${route.state}`;
  }
}

/** What is wrong with a world; empty where it is in order. */
export const problemsOf = (world: World): string[] => [
  ...addressProblems(world),
  ...referenceProblems(world),
  ...networkProblems(world),
];
