// Load balancers of Services: found by their tags, made in one call and completed by others, so that a failure at any point is mended by the next
// call.
import {
  defaultLoadBalancerName,
  type LoadBalancer as LoadBalancers,
  type Node,
  retryAfter,
  type Service,
} from '#cloud-provider';
import type { Input } from '../api/index.ts';
import { listAll } from '../client/index.ts';
import type { Instance, LoadBalancer } from '../model/index.ts';
import type { ProviderContext } from './account.ts';
import { clusterTag, serviceNameTag, serviceUidTag } from './annotations.ts';
import { hasCode, orMissing, told } from './errors.ts';
import { instanceIdOfNode, instancesOfNetwork } from './instances.ts';
import { activePollMs, activeTimeoutMs, tryAgainMs } from './limits.ts';
import { isComplete, statusOf } from './status.ts';
import { type WantedBalancer, wantedBalancer } from './wanted.ts';

type Signal = AbortSignal | undefined;

const tagsOf = ({ config }: ProviderContext, { metadata }: Service): Record<string, string> => ({
  [clusterTag(config.clusterId)]: 'owned',
  [serviceUidTag]: metadata.uid ?? '',
});

/** The load balancers of a Service, the oldest first. There is more than one only after a race. */
const balancersOf = async (context: ProviderContext, service: Service, signal: Signal): Promise<LoadBalancer[]> =>
  (await context.api.listLoadBalancers({ tags: tagsOf(context, service) }, { signal })).items;

type Change = Omit<Input<'modifyLoadBalancer'>, 'loadBalancerId' | 'targets'>;

const isAlive = ({ state }: Instance): boolean => state !== 'terminated' && state !== 'shutting-down';

/** The instances of these Nodes that the cloud shows. */
async function shownInstances(context: ProviderContext, nodes: readonly Node[], signal: Signal): Promise<string[]> {
  const alive = (await instancesOfNetwork(context, signal)).filter(isAlive);
  const ids = new Set(alive.map(({ id }) => id));
  const byName = new Map(alive.map(({ name, id }) => [name, id]));
  return nodes.flatMap((node) => {
    const id = instanceIdOfNode(node) ?? byName.get(node.metadata.name ?? '');
    if (id !== undefined && ids.has(id)) return [id];
    context.logger.warn('a Node without an instance gets no traffic', { node: node.metadata.name });
    return [];
  });
}

/**
 * Sets exactly the instances of these Nodes as targets, and more. Never compared first with what the cloud shows: that may be how it was a
 * moment ago. For the same reason, and because it is quicker, instances are looked for only when a Node does not name its own, or
 * when one is gone.
 */
async function modify(
  context: ProviderContext,
  { id: loadBalancerId }: LoadBalancer,
  nodes: readonly Node[],
  change: Change,
  signal: Signal,
): Promise<LoadBalancer> {
  const put = (ids: readonly string[]): Promise<LoadBalancer> => {
    const targets = [...new Set(ids)].map((instanceId) => ({ instanceId }));
    return context.api.modifyLoadBalancer({ ...change, loadBalancerId, targets }, { signal });
  };
  const named = nodes.map(instanceIdOfNode);
  if (named.every((id) => id !== undefined)) {
    try {
      return await put(named);
    } catch (error) {
      if (!hasCode(error, 'InstanceNotFound')) throw error;
    }
  }
  return put(await shownInstances(context, nodes, signal));
}

async function subnetIdsOf({ api, config }: ProviderContext, signal: Signal): Promise<string[]> {
  if (config.subnetIds) return config.subnetIds;
  const subnets = await listAll((page) => api.listSubnets({ vpcId: config.vpcId, ...page }, { signal }));
  if (subnets.length === 0) throw new Error(`the network ${config.vpcId} has no subnets for a load balancer`);
  return subnets.map(({ id }) => id);
}

const isTakenAddress = (error: unknown): boolean => hasCode(error, 'AddressInUse') || hasCode(error, 'InvalidParameterValue');

async function create(
  context: ProviderContext,
  service: Service,
  { address, previousAddress, ...wanted }: WantedBalancer,
  signal: Signal,
): Promise<LoadBalancer> {
  const { namespace = '', name = '' } = service.metadata;
  const input = {
    ...wanted,
    name: defaultLoadBalancerName(service),
    subnetIds: await subnetIdsOf(context, signal),
    tags: { ...tagsOf(context, service), [serviceNameTag]: `${namespace}/${name}`.slice(0, 256) },
  };
  if (address !== undefined) return context.api.createLoadBalancer({ ...input, address }, { signal });
  if (previousAddress === undefined) return context.api.createLoadBalancer(input, { signal });
  try {
    return await context.api.createLoadBalancer({ ...input, address: previousAddress }, { signal });
  } catch (error) {
    if (!isTakenAddress(error)) throw error;
    return context.api.createLoadBalancer(input, { signal });
  }
}

/** Creates the load balancer. Where it exists already, because another manager made it or the cloud shows it late, that one is given. */
async function createOrFind(
  context: ProviderContext,
  service: Service,
  wanted: WantedBalancer,
  signal: Signal,
): Promise<LoadBalancer> {
  try {
    return await create(context, service, wanted, signal);
  } catch (error) {
    if (!hasCode(error, 'LoadBalancerAlreadyExists')) throw error;
    const [found] = await balancersOf(context, service, signal);
    if (found) return found;
    throw retryAfter('the cloud has the load balancer, but does not show it yet', tryAgainMs, error);
  }
}

/** All that can be changed, for one call. */
const sidesOf = (wanted: WantedBalancer): Change => ({
  listeners: wanted.listeners,
  sourceRanges: wanted.sourceRanges,
  healthCheck: wanted.healthCheck,
  proxyProtocol: wanted.proxyProtocol,
  affinityTimeoutSeconds: wanted.affinityTimeoutSeconds ?? null,
});

/** Waits until the cloud shows it, and shows it active, with this as its newest shape. */
async function untilActive({ api, clock }: ProviderContext, balancer: LoadBalancer, signal: Signal): Promise<LoadBalancer> {
  const deadline = clock.monotonic() + activeTimeoutMs;
  for (;;) {
    const shown = await orMissing(api.getLoadBalancer({ loadBalancerId: balancer.id }, { signal }));
    const now = shown && { ...shown, listeners: balancer.listeners, proxyProtocol: balancer.proxyProtocol };
    if (now && isComplete(now)) return now;
    if (now?.state === 'failed')
      throw new Error(`the load balancer ${balancer.id} failed: ${now.stateReason ?? 'no reason given'}`);
    if (clock.monotonic() >= deadline) throw retryAfter(`the load balancer ${balancer.id} is not active yet`, tryAgainMs);
    await clock.sleep(activePollMs, signal);
  }
}

const removeAll = async ({ api }: ProviderContext, balancers: readonly LoadBalancer[], signal: Signal): Promise<void> => {
  for (const { id } of balancers) await orMissing(api.deleteLoadBalancer({ loadBalancerId: id }, { signal }));
};

/** Removes until the cloud shows none any more: what it still shows would be taken for existing. */
async function removeUntilGone(context: ProviderContext, service: Service, signal: Signal): Promise<void> {
  const { clock } = context;
  const deadline = clock.monotonic() + activeTimeoutMs;
  for (;;) {
    const left = await balancersOf(context, service, signal);
    if (left.length === 0) return;
    if (clock.monotonic() >= deadline) throw retryAfter(`the load balancer ${left[0]?.id} is not gone yet`, tryAgainMs);
    await removeAll(context, left, signal);
    await clock.sleep(activePollMs, signal);
  }
}

/** What cannot be changed: another one takes its place, with the same address where that is possible. */
const mustReplace = (balancer: LoadBalancer, { kind, scheme, address }: WantedBalancer): boolean =>
  balancer.kind !== kind || balancer.scheme !== scheme || (address !== undefined && balancer.address !== address);

async function ensure(context: ProviderContext, service: Service, nodes: readonly Node[], signal: Signal): Promise<LoadBalancer> {
  const wanted = wantedBalancer(service, context.config.defaultLoadBalancerKind);
  const [found, ...surplus] = await balancersOf(context, service, signal);
  await removeAll(context, surplus, signal);
  let existing = found;
  if (existing && mustReplace(existing, wanted)) {
    await removeAll(context, [existing], signal);
    if (existing.scheme === wanted.scheme) wanted.previousAddress = existing.address;
    existing = undefined;
  }
  const balancer = existing ?? (await createOrFind(context, service, wanted, signal));
  return untilActive(context, await modify(context, balancer, nodes, sidesOf(wanted), signal), signal);
}

export const localLoadBalancers = (context: ProviderContext): LoadBalancers => ({
  getLoadBalancer: (_cluster, service, signal) =>
    told(async () => {
      const [found] = await balancersOf(context, service, signal);
      return found && statusOf(found);
    }),
  getLoadBalancerName: (_cluster, service) => defaultLoadBalancerName(service),
  ensureLoadBalancer: (_cluster, service, nodes, signal) =>
    told(async () => statusOf(await ensure(context, service, nodes, signal))),
  updateLoadBalancer: (_cluster, service, nodes, signal) =>
    told(async () => {
      const [found] = await balancersOf(context, service, signal);
      if (!found) throw new Error(`the load balancer ${defaultLoadBalancerName(service)} does not exist`);
      await modify(context, found, nodes, {}, signal);
    }),
  ensureLoadBalancerDeleted: (_cluster, service, signal) => told(() => removeUntilGone(context, service, signal)),
});
