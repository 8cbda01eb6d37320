// Load balancers. Making one has two steps, as with vendors: the thing itself with its address, then what it does; so has removing one.
import { conflicting, invalid, notFound } from '../api/errors.ts';
import type { HealthCheck, Listener, LoadBalancer, World } from '../model/index.ts';
import { choosePrivate, choosePublic } from './allocate.ts';
import type { Change, Changes } from './command.ts';
import type { Context } from './context.ts';
import { itemsOf, newResource, own, put, remove, withinAccountQuota, withinQuota } from './world.ts';

type Shape = Pick<LoadBalancer, 'kind' | 'listeners' | 'proxyProtocol'>;

/** Throws for what the kind of load balancer cannot do. */
function checkShape({ kind, listeners, proxyProtocol }: Shape): void {
  const seen = new Set<string>();
  for (const [index, { protocol, port, targetPort }] of listeners.entries()) {
    const field = `listeners.${index}`;
    if (seen.has(`${protocol} ${port}`)) throw invalid(field, `${protocol} ${port} is there twice`);
    seen.add(`${protocol} ${port}`);
    if (kind === 'proxy' && targetPort === undefined) throw invalid(`${field}.targetPort`, 'is needed by a proxy load balancer');
    if (kind === 'network' && targetPort !== undefined && targetPort !== port)
      throw invalid(`${field}.targetPort`, 'a network load balancer keeps the port');
  }
  if (proxyProtocol !== 'none' && kind === 'network')
    throw invalid('proxyProtocol', 'a network load balancer does not change what is sent');
}

function checkHealth(check: HealthCheck | undefined): void {
  if (check?.protocol === 'tcp' && check.path !== undefined) throw invalid('healthCheck.path', 'tcp has no path');
  if (check?.path !== undefined && !/^\/[^\s]*$/.test(check.path))
    throw invalid('healthCheck.path', 'must start with / and have no spaces');
}

/** The new list of targets. Targets that stay keep their health. */
function targetsOf(
  world: World,
  context: Context,
  { vpcId, targets }: LoadBalancer,
  wanted: readonly { instanceId: string }[],
): LoadBalancer['targets'] {
  withinQuota(wanted.length - 1, context.settings.quotas.targetsPerLoadBalancer, 'targets of a load balancer');
  const known = new Map(targets.map((target) => [target.instanceId, target]));
  return [...new Set(wanted.map(({ instanceId }) => instanceId))].map((instanceId) => {
    const instance = own(world, context, 'instances', instanceId);
    if (instance.state === 'terminated') throw notFound('Instance', instanceId);
    if (instance.vpcId !== vpcId) throw invalid('targets', `${instanceId} is in another VPC`);
    return known.get(instanceId) ?? { instanceId, health: 'initial' };
  });
}

/** Takes an allocated address that is the account's and free, or any free one. */
function publicAddressFor(world: World, context: Context, wanted: string | undefined): { address: string; allocated?: string } {
  const allocated = itemsOf(world, 'addresses').find(
    ({ publicAddress, ownerId }) => publicAddress === wanted && ownerId === context.account.id,
  );
  if (!allocated) return { address: choosePublic(world, context.settings.publicCidr, wanted, 'address') };
  const user = allocated.interfaceId ?? allocated.loadBalancerId;
  if (user !== undefined) throw conflicting('AddressInUse', `${wanted} is associated with ${user}`);
  return { address: allocated.publicAddress, allocated: allocated.id };
}

const create: Change<'createLoadBalancer'> = (world, input, context) => {
  withinAccountQuota(world, context, 'loadBalancers');
  const { name, kind, scheme, listeners, sourceRanges, healthCheck, proxyProtocol, affinityTimeoutSeconds } = input;
  const twin = itemsOf(world, 'loadBalancers').find((other) => other.name === name && other.ownerId === context.account.id);
  if (twin) throw conflicting('LoadBalancerAlreadyExists', `${twin.id} has the name ${name}`);
  const subnets = input.subnetIds.map((id) => own(world, context, 'subnets', id));
  const [first] = subnets;
  if (!first || subnets.some(({ vpcId }) => vpcId !== first.vpcId))
    throw invalid('subnetIds', 'the subnets are in different VPCs');
  checkShape({ kind, listeners, proxyProtocol });
  checkHealth(healthCheck);
  const { address, allocated } =
    scheme === 'internal'
      ? { address: choosePrivate(world, first, input.address, 'address') }
      : publicAddressFor(world, context, input.address);
  const bare: LoadBalancer = {
    ...newResource(world, 'loadBalancers', context, input.tags),
    name,
    kind,
    scheme,
    vpcId: first.vpcId,
    subnetIds: [...new Set(input.subnetIds)],
    address,
    state: 'provisioning',
    listeners: [],
    sourceRanges: [],
    proxyProtocol,
    targets: [],
  };
  let halfway = put(world, 'loadBalancers', bare);
  const kept = allocated === undefined ? undefined : world.addresses.get(allocated);
  if (kept) halfway = put(halfway, 'addresses', { ...kept, loadBalancerId: bare.id });
  const whole: LoadBalancer = {
    ...bare,
    listeners,
    sourceRanges,
    ...(healthCheck && { healthCheck }),
    ...(affinityTimeoutSeconds !== undefined && { affinityTimeoutSeconds }),
    targets: targetsOf(world, context, bare, input.targets),
  };
  return { world: put(halfway, 'loadBalancers', whole), result: whole, halfway };
};

/** The world with some sides of an existing load balancer changed: the same world when nothing differs. `undefined` takes a side away. */
function changed(world: World, before: LoadBalancer, change: Partial<LoadBalancer>): { world: World; result: LoadBalancer } {
  const after: LoadBalancer = { ...before, ...change };
  if (change.listeners) Object.assign(after, portsLeft(before, change.listeners));
  for (const key of Object.keys(after) as (keyof LoadBalancer)[]) if (after[key] === undefined) delete after[key];
  checkShape(after);
  checkHealth(after.healthCheck);
  return { world: put(world, 'loadBalancers', after), result: after };
}

/** Ports of listeners that are gone are not kept. */
const portsLeft = ({ loopbackPorts }: LoadBalancer, listeners: readonly Listener[]): Partial<LoadBalancer> => {
  if (!loopbackPorts) return {};
  const keys = new Set(listeners.map(({ protocol, port }) => loopbackKey({ protocol, port })));
  return { loopbackPorts: Object.fromEntries(Object.entries(loopbackPorts).filter(([key]) => keys.has(key))) };
};
/** The key by which `loopbackPorts` knows a listener. */
export const loopbackKey = ({ protocol, port }: Pick<Listener, 'protocol' | 'port'>): string => `${protocol}/${port}`;

export const loadBalancerChanges: Changes<
  | 'createLoadBalancer'
  | 'modifyLoadBalancer'
  | 'putListeners'
  | 'putHealthCheck'
  | 'putSourceRanges'
  | 'putAffinity'
  | 'putProxyProtocol'
  | 'putTargets'
  | 'deleteLoadBalancer'
> = {
  createLoadBalancer: create,
  modifyLoadBalancer(world, { loadBalancerId, targets, healthCheck, affinityTimeoutSeconds, ...sides }, context) {
    const before = own(world, context, 'loadBalancers', loadBalancerId);
    return changed(world, before, {
      ...Object.fromEntries(Object.entries(sides).filter(([, side]) => side !== undefined)),
      ...(healthCheck !== undefined && { healthCheck: healthCheck ?? undefined }),
      ...(affinityTimeoutSeconds !== undefined && { affinityTimeoutSeconds: affinityTimeoutSeconds ?? undefined }),
      ...(targets && { targets: targetsOf(world, context, before, targets) }),
    });
  },
  putListeners: (world, { loadBalancerId, listeners }, context) =>
    changed(world, own(world, context, 'loadBalancers', loadBalancerId), { listeners }),
  putHealthCheck: (world, { loadBalancerId, healthCheck }, context) =>
    changed(world, own(world, context, 'loadBalancers', loadBalancerId), { healthCheck }),
  putSourceRanges: (world, { loadBalancerId, sourceRanges }, context) =>
    changed(world, own(world, context, 'loadBalancers', loadBalancerId), { sourceRanges }),
  putAffinity: (world, { loadBalancerId, affinityTimeoutSeconds }, context) =>
    changed(world, own(world, context, 'loadBalancers', loadBalancerId), { affinityTimeoutSeconds }),
  putProxyProtocol: (world, { loadBalancerId, proxyProtocol }, context) =>
    changed(world, own(world, context, 'loadBalancers', loadBalancerId), { proxyProtocol }),
  putTargets(world, { loadBalancerId, targets }, context) {
    const before = own(world, context, 'loadBalancers', loadBalancerId);
    return changed(world, before, { targets: targetsOf(world, context, before, targets) });
  },
  deleteLoadBalancer(world, { loadBalancerId }, context) {
    const before = own(world, context, 'loadBalancers', loadBalancerId);
    let gone = remove(world, 'loadBalancers', before.id);
    for (const address of world.addresses.values())
      if (address.loadBalancerId === before.id) {
        const { loadBalancerId: _, ...free } = address;
        gone = put(gone, 'addresses', free);
      }
    const emptied = put(world, 'loadBalancers', { ...before, listeners: [], targets: [] });
    return { world: gone, result: undefined, halfway: emptied };
  },
};
