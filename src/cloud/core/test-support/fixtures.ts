// A world that tests of the core act on, step by step.
import { type OperationId, operations, parseInput, Refusal } from '../../api/index.ts';
import {
  emptyWorld,
  type Instance,
  type LoadBalancer,
  type Observation,
  type RouteTable,
  type World,
} from '../../model/index.ts';
import { type Account, apply, type Command, forget, observe, problemsOf, quotas, read, type Settings } from '../index.ts';

export const settings: Settings = {
  region: 'local-1',
  zones: [
    { name: 'local-1a', region: 'local-1' },
    { name: 'local-1b', region: 'local-1' },
  ],
  instanceTypes: [
    { name: 'small', cpus: 1, memoryMiB: 512 },
    { name: 'large', cpus: 4, memoryMiB: 4096 },
  ],
  publicCidr: '198.18.5.0/24',
  quotas: { ...quotas, vpcs: 2 },
  terminatedKeepMs: 1000,
};
export const owner: Account = { id: 'owner', role: 'customer' };
export const other: Account = { id: 'other', role: 'customer' };
export const service: Account = { id: 'service', role: 'service' };

function checked(world: World): void {
  const problems = problemsOf(world);
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

/** A world that is acted on; every step is checked. */
export function cloud(more: Partial<Settings> = {}) {
  let world: World = emptyWorld;
  let count = 0;
  const context = (account: Account) => ({
    ids: (prefix: string) => `${prefix}-${(++count).toString(16).padStart(8, '0')}`,
    now: 1_000_000,
    account,
    settings: { ...settings, ...more },
  });
  const command = (operation: OperationId, input: Record<string, unknown>): Command => {
    const path = Object.fromEntries(Object.entries(input).filter(([key]) => operations[operation].path.includes(`{${key}}`)));
    const body = Object.fromEntries(Object.entries(input).filter(([key]) => !(key in path)));
    return { operation: operation as Command['operation'], input: parseInput(operations[operation], path as never, {}, body) };
  };
  const attempt = (operation: OperationId, input: Record<string, unknown>, account = owner) =>
    apply(world, command(operation, input), context(account));
  return {
    get world() {
      return world;
    },
    do<T = { id: string }>(operation: OperationId, input: Record<string, unknown> = {}, account = owner): T {
      const outcome = attempt(operation, input, account);
      if (outcome instanceof Refusal) throw outcome;
      world = outcome.world;
      checked(world);
      return outcome.result as T;
    },
    refusal(operation: OperationId, input: Record<string, unknown>, account = owner): string {
      const outcome = attempt(operation, input, account);
      return outcome instanceof Refusal ? `${outcome.status} ${outcome.code}${outcome.field ? ` ${outcome.field}` : ''}` : 'done';
    },
    halfway(operation: OperationId, input: Record<string, unknown>): World | undefined {
      const outcome = attempt(operation, input);
      return outcome instanceof Refusal ? undefined : outcome.halfway;
    },
    see(observation: Observation) {
      world = observe(world, observation, context(owner));
      checked(world);
    },
    read: <T>(operation: OperationId, input: Record<string, unknown>, account = owner): T =>
      read(world, operation, { limit: 100, ...input }, { account, settings }) as T,
    forget(now: number) {
      world = forget(world, { now, settings });
    },
  };
}

/** A cloud with a VPC and a subnet. */
export function network() {
  const it = cloud();
  const vpc = it.do('createVpc', { cidr: '10.77.0.0/16' });
  const subnet = it.do('createSubnet', { vpcId: vpc.id, zone: 'local-1a', cidr: '10.77.0.0/24' });
  const table = [...it.world.routeTables.values()][0] as RouteTable;
  return Object.assign(it, {
    vpc,
    subnet,
    table,
    run: (name: string, input: Record<string, unknown> = {}) =>
      it.do<Instance>('runInstance', { name, subnetId: subnet.id, ...input }),
    balancer: (name: string, input: Record<string, unknown> = {}) =>
      it.do<LoadBalancer>('createLoadBalancer', { name, subnetIds: [subnet.id], ...input }),
  });
}
