import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type OperationId, operations, parseInput, Refusal } from '../api/index.ts';
import { emptyWorld, type Observation, type World } from '../model/index.ts';
import { type Account, apply, type Command, forget, observe, problemsOf, quotas, type Settings } from './index.ts';

const settings: Settings = {
  region: 'r',
  zones: [{ name: 'a', region: 'r' }],
  instanceTypes: [{ name: 'small', cpus: 1, memoryMiB: 512 }],
  publicCidr: '198.18.0.0/28',
  quotas,
  terminatedKeepMs: 0,
};
const accounts: Account[] = [
  { id: 'owner', role: 'customer' },
  { id: 'other', role: 'customer' },
  { id: 'service', role: 'service' },
];

type Step =
  | { operation: OperationId; picks: number[]; account: number }
  | { see: 'running' | 'stopped' | 'terminated'; pick: number };

/** An input for an operation; `pick` chooses among what there is. */
type Make = (world: World, pick: <T>(items: Iterable<T>) => T | undefined) => Record<string, unknown>;
const idOf = (item: { id: string } | undefined): string => item?.id ?? 'none-0';
const makers: Partial<Record<OperationId, Make>> = {
  createVpc: (_, pick) => ({ cidr: pick(['10.0.0.0/24', '10.1.0.0/24']) }),
  createSubnet: (world, pick) => {
    const vpc = pick(world.vpcs.values());
    const base = vpc?.cidr.slice(0, 5) ?? '10.9.';
    return { vpcId: idOf(vpc), zone: 'a', cidr: pick([`${base}0.0/28`, `${base}0.16/28`, `${base}0.0/27`]) };
  },
  createRouteTable: (world, pick) => ({ vpcId: idOf(pick(world.vpcs.values())) }),
  putRoute: (world, pick) => ({
    routeTableId: idOf(pick(world.routeTables.values())),
    destination: pick(['10.244.0.0/24', '0.0.0.0/0']),
    target: pick([
      { kind: 'internet-gateway' },
      { kind: 'instance', id: idOf(pick(world.instances.values())) },
      { kind: 'interface', id: idOf(pick(world.interfaces.values())) },
    ]),
  }),
  createSecurityGroup: (world, pick) => ({ vpcId: idOf(pick(world.vpcs.values())), name: pick(['x', 'y']) }),
  authorizeSecurityGroupIngress: (world, pick) => ({
    securityGroupId: idOf(pick(world.securityGroups.values())),
    rules: [{ protocol: 'all', groupId: idOf(pick(world.securityGroups.values())) }],
  }),
  createInterface: (world, pick) => ({
    subnetId: idOf(pick(world.subnets.values())),
    privateAddress: pick([undefined, '10.0.0.5']),
    securityGroupIds: pick([undefined, [idOf(pick(world.securityGroups.values()))]]),
  }),
  attachInterface: (world, pick) => ({
    interfaceId: idOf(pick(world.interfaces.values())),
    instanceId: idOf(pick(world.instances.values())),
  }),
  detachInterface: (world, pick) => ({ interfaceId: idOf(pick(world.interfaces.values())) }),
  deleteInterface: (world, pick) => ({ interfaceId: idOf(pick(world.interfaces.values())) }),
  runInstance: (world, pick) => ({
    name: 'n',
    subnetId: idOf(pick(world.subnets.values())),
    assignPublicAddress: pick([true, false]),
  }),
  stopInstance: (world, pick) => ({ instanceId: idOf(pick(world.instances.values())) }),
  startInstance: (world, pick) => ({ instanceId: idOf(pick(world.instances.values())) }),
  terminateInstance: (world, pick) => ({ instanceId: idOf(pick(world.instances.values())) }),
  allocateAddress: (_, pick) => ({ publicAddress: pick([undefined, '198.18.0.5']) }),
  associateAddress: (world, pick) => ({
    addressId: idOf(pick(world.addresses.values())),
    interfaceId: idOf(pick(world.interfaces.values())),
  }),
  disassociateAddress: (world, pick) => ({ addressId: idOf(pick(world.addresses.values())) }),
  releaseAddress: (world, pick) => ({ addressId: idOf(pick(world.addresses.values())) }),
  createLoadBalancer: (world, pick) => ({
    name: pick(['p', 'q', 'r']),
    scheme: pick(['internal', 'internet-facing']),
    subnetIds: [idOf(pick(world.subnets.values()))],
    address: pick([undefined, undefined, pick(world.addresses.values())?.publicAddress]),
    targets: pick([[], [{ instanceId: idOf(pick(world.instances.values())) }]]),
  }),
  putTargets: (world, pick) => ({
    loadBalancerId: idOf(pick(world.loadBalancers.values())),
    targets: [{ instanceId: idOf(pick(world.instances.values())) }],
  }),
  deleteLoadBalancer: (world, pick) => ({ loadBalancerId: idOf(pick(world.loadBalancers.values())) }),
  createDnsZone: (world, pick) => ({ name: pick(['a.test', 'b.test']), vpcIds: [idOf(pick(world.vpcs.values()))] }),
  deleteSubnet: (world, pick) => ({ subnetId: idOf(pick(world.subnets.values())) }),
  deleteRouteTable: (world, pick) => ({ routeTableId: idOf(pick(world.routeTables.values())) }),
  deleteSecurityGroup: (world, pick) => ({ securityGroupId: idOf(pick(world.securityGroups.values())) }),
  deleteVpc: (world, pick) => ({ vpcId: idOf(pick(world.vpcs.values())) }),
  modifySubnet: (world, pick) => ({
    subnetId: idOf(pick(world.subnets.values())),
    routeTableId: idOf(pick(world.routeTables.values())),
  }),
};

/** What others need. */
const often: OperationId[] = [
  'createInterface',
  'runInstance',
  'createLoadBalancer',
  'allocateAddress',
  'associateAddress',
  'attachInterface',
];

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      operation: fc.constantFrom(...often, ...often, ...(Object.keys(makers) as OperationId[])),
      picks: fc.array(fc.nat(), { minLength: 6, maxLength: 6 }),
      account: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1, 2),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ see: fc.constantFrom('running' as const, 'stopped' as const, 'terminated' as const), pick: fc.nat() }),
  },
);

let ids = 0;
const context = (account: Account) => ({
  ids: (prefix: string) => `${prefix}-${(++ids).toString(16).padStart(8, '0')}`,
  now: 1000,
  account,
  settings,
});
function change(world: World, operation: OperationId, input: Record<string, unknown>, account: Account): World[] {
  const { path } = operations[operation];
  const entries = Object.entries(input).filter(([, value]) => value !== undefined);
  const inPath = Object.fromEntries(entries.filter(([key]) => path.includes(`{${key}}`))) as Record<string, string>;
  const body = Object.fromEntries(entries.filter(([key]) => !(key in inPath)));
  const command = { operation, input: parseInput(operations[operation], inPath, {}, body) } as Command;
  const outcome = apply(world, command, context(account));
  if (outcome instanceof Refusal) return [];
  return [outcome.world, ...(outcome.halfway ? [outcome.halfway] : [])];
}
function take(world: World, one: Step): World[] {
  if ('see' in one) {
    const all = [...world.instances.keys()];
    const instanceId = all[one.pick % Math.max(1, all.length)] ?? '';
    const seen: Observation = { kind: 'instance-state', instanceId, state: one.see };
    return [observe(world, seen, context(accounts[0] as Account))];
  }
  let next = 0;
  const pick = <T>(items: Iterable<T>): T | undefined => {
    const all = [...items];
    return all[(one.picks[next++ % one.picks.length] ?? 0) % Math.max(1, all.length)];
  };
  return change(world, one.operation, makers[one.operation]?.(world, pick) ?? {}, accounts[one.account] as Account);
}

/** Deletes all there is, as each owner, or who manages it for the owner, would. */
function emptied(start: World): World {
  let world = start;
  const as = (
    operation: OperationId,
    key: string,
    ids: Iterable<{ id: string; ownerId: string; requesterId?: string | undefined }>,
  ) => {
    for (const { id, ownerId, requesterId = ownerId } of ids) {
      const account = accounts.find((one) => one.id === requesterId) as Account;
      world = change(world, operation, { [key]: id }, account)[0] ?? world;
    }
  };
  as('deleteLoadBalancer', 'loadBalancerId', world.loadBalancers.values());
  as('terminateInstance', 'instanceId', world.instances.values());
  for (const instanceId of world.instances.keys())
    world = observe(world, { kind: 'instance-state', instanceId, state: 'terminated' }, context(accounts[0] as Account));
  world = forget(world, { now: 2000, settings });
  as('disassociateAddress', 'addressId', world.addresses.values());
  as('releaseAddress', 'addressId', world.addresses.values());
  as('deleteInterface', 'interfaceId', world.interfaces.values());
  as('deleteDnsZone', 'dnsZoneId', world.dnsZones.values());
  as('deleteSubnet', 'subnetId', world.subnets.values());
  as('deleteRouteTable', 'routeTableId', world.routeTables.values());
  for (const { id, ingress, ownerId } of world.securityGroups.values()) {
    const account = accounts.find((one) => one.id === ownerId) as Account;
    if (ingress.length > 0)
      world = change(world, 'revokeSecurityGroupIngress', { securityGroupId: id, rules: ingress }, account)[0] ?? world;
  }
  as('deleteSecurityGroup', 'securityGroupId', world.securityGroups.values());
  as('deleteVpc', 'vpcId', world.vpcs.values());
  return world;
}

describe('any sequence of changes', () => {
  it('leaves a world in order, also when one stops in its middle, and one that can be emptied', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 40, maxLength: 120, size: 'max' }), fc.context(), (steps, log) => {
        let world = change(emptyWorld, 'createVpc', { cidr: '10.0.0.0/24' }, accounts[0] as Account)[0] as World;
        const { id } = [...world.vpcs.values()][0] as { id: string };
        world = change(world, 'createSubnet', { vpcId: id, zone: 'a', cidr: '10.0.0.0/28' }, accounts[0] as Account)[0] as World;
        for (const one of steps) {
          const [after, halfway] = take(world, one);
          for (const result of [after, halfway]) if (result) expect(problemsOf(result)).toEqual([]);
          if (after) log.log(JSON.stringify(one));
          world = ('picks' in one && (one.picks[0] ?? 0) % 8 === 0 ? halfway : undefined) ?? after ?? world;
        }
        const left = emptied(world);
        expect(Object.entries(left).map(([name, items]) => [name, [...items.keys()]])).toEqual(
          Object.keys(emptyWorld).map((name) => [name, []]),
        );
      }),
      { numRuns: 40 },
    );
  }, 60_000);
});
