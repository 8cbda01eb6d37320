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
import type { LoadBalancer } from '../model/index.ts';
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

/** Those of a Service, the oldest first; more than one only after a race. */
export const balancersOf = async (context: ProviderContext, service: Service, signal: Signal): Promise<LoadBalancer[]> =>
  (await context.api.listLoadBalancers({ tags: tagsOf(context, service) }, { signal })).items;

interface Targets {
  /** Instances that are surely there. */
  known: string[];
  /** Of Nodes whose instance the cloud does not show: gone, or too new. */
  unseen: string[];
}

async function targetsOf(context: ProviderContext, nodes: readonly Node[], signal: Signal): Promise<Targets> {
  if (nodes.length === 0) return { known: [], unseen: [] };
  const instances = await instancesOfNetwork(context, signal);
  const byId = new Map(instances.map((instance) => [instance.id, instance]));
  const alive = instances.filter(({ state }) => state !== 'terminated' && state !== 'shutting-down');
  const byName = new Map(alive.map((instance) => [instance.name, instance]));
  const aliveIds = new Set(alive.map(({ id }) => id));
  const known = new Set<string>();
  const unseen: string[] = [];
  for (const node of nodes) {
    const id = instanceIdOfNode(node) ?? byName.get(node.metadata.name ?? '')?.id;
    if (id === undefined) context.logger.warn('a Node without an instance gets no traffic', { node: node.metadata.name });
    else if (aliveIds.has(id)) known.add(id);
    else if (!byId.has(id)) unseen.push(id);
  }
  return { known: [...known], unseen };
}

const asTargets = (ids: readonly string[]): { instanceId: string }[] => ids.map((instanceId) => ({ instanceId }));

type Change = Omit<Input<'modifyLoadBalancer'>, 'loadBalancerId' | 'targets'>;

/**
 * Sets exactly these targets, and more. An instance that the cloud does not know is left out. Never compared first with what the cloud
 * shows: that may be how it was a moment ago.
 */
async function modify(
  { api }: ProviderContext,
  { id: loadBalancerId }: LoadBalancer,
  { known, unseen }: Targets,
  change: Change,
  signal: Signal,
): Promise<LoadBalancer> {
  const put = (ids: readonly string[]) =>
    api.modifyLoadBalancer({ ...change, loadBalancerId, targets: asTargets(ids) }, { signal });
  try {
    return await put([...known, ...unseen]);
  } catch (error) {
    if (unseen.length === 0 || !hasCode(error, 'InstanceNotFound')) throw error;
    return put(known);
  }
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
  targets: Targets,
  signal: Signal,
): Promise<LoadBalancer> {
  const { namespace = '', name = '' } = service.metadata;
  const input = {
    ...wanted,
    name: defaultLoadBalancerName(service),
    subnetIds: await subnetIdsOf(context, signal),
    targets: asTargets(targets.known),
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

/** As `create`; when it is there already (another manager, or the cloud shows it late), that one. */
async function createOrFind(
  context: ProviderContext,
  service: Service,
  wanted: WantedBalancer,
  targets: Targets,
  signal: Signal,
): Promise<LoadBalancer> {
  try {
    return await create(context, service, wanted, targets, signal);
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
  const targets = await targetsOf(context, nodes, signal);
  let existing = found;
  if (existing && mustReplace(existing, wanted)) {
    await removeAll(context, [existing], signal);
    if (existing.scheme === wanted.scheme) wanted.previousAddress = existing.address;
    existing = undefined;
  }
  const balancer = existing ?? (await createOrFind(context, service, wanted, targets, signal));
  return untilActive(context, await modify(context, balancer, targets, sidesOf(wanted), signal), signal);
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
      await modify(context, found, await targetsOf(context, nodes, signal), {}, signal);
    }),
  ensureLoadBalancerDeleted: (_cluster, service, signal) => told(() => removeUntilGone(context, service, signal)),
});
