// Load balancers of Services: load balancers of layer 7, and network load balancers.
import {
  type LoadBalancer,
  type Node,
  notImplemented,
  retryAfter,
  retryAfterOf,
  type Service,
  withoutForeignNodes,
} from 'sagong/cloud-provider';
import { during, failedWith, isConflict, serviceKey, textOf, uidOf } from 'sagong/cloud-provider/kit';
import { annotation, ocidsOf } from '../annotations.ts';
import { isUnknownTarget } from '../api/errors.ts';
import type { Balancer, BalancerKind } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { busyAgainMs } from '../limits.ts';
import { balancerName, providerName } from '../names.ts';
import { bringInLine, checkChangeable, checkSide, updateBackends } from './bring-in-line.ts';
import { createBalancer } from './create.ts';
import { allBalancers, findBalancers, kindOrDefault } from './find.ts';
import { deleteGroup, ensureGroup, ownGroups } from './groups.ts';
import { type BalancerPlan, balancerPlan, compartmentOf, ruleModeOf, type RuleMode } from './plan.ts';
import { allPorts, ensureListRules, type Owner, portsOfBalancer, removeListRules } from './security-lists.ts';
import { statusOf } from './status.ts';
import { subnetsFor } from './subnets.ts';
import { type FullPlan, fullPlan } from './wanted.ts';
import { awaitOthersWork, awaitWork } from './work-requests.ts';

const kinds: readonly BalancerKind[] = ['lb', 'nlb'];
const ownerOf = ({ settings }: Cloud, cluster: string, service: Service): Owner => ({
  uid: uidOf(service),
  names: kinds.map((kind) => balancerName(kind, service, settings.namePrefix)),
  compartment: compartmentOf(service, settings),
  cluster,
});

function portsToClose(service: Service, balancers: readonly Balancer[]): Set<number> {
  const ports = new Set(balancers.flatMap((one) => [...allPorts(portsOfBalancer(one))]));
  for (const { port, nodePort } of service.spec?.ports ?? []) for (const one of [port, nodePort]) if (one) ports.add(one);
  if (service.spec?.healthCheckNodePort) ports.add(service.spec.healthCheckNodePort);
  return ports;
}

/** Whoever keeps its rules elsewhere may have kept them in security lists before, and may have no right to see those now. */
async function dropListRules(cloud: Cloud, cluster: string, service: Service, balancers: readonly Balancer[]): Promise<void> {
  const subnetIds = [...new Set(balancers.flatMap((one) => one.subnetIds))];
  const ports = portsToClose(service, balancers);
  await removeListRules(cloud, ownerOf(cloud, cluster, service), subnetIds, ports).catch((error: unknown) => {
    if (!failedWith(error, 'absent')) throw error;
  });
}

/** `before`: the load balancer as it was, and others that the Service had. */
async function ensureRules(cloud: Cloud, cluster: string, plan: FullPlan, before: readonly Balancer[]): Promise<void> {
  const { mode, service, wanted, subnets } = plan;
  if (mode !== 'All' && mode !== 'Frontend') {
    if (before.length > 0) await dropListRules(cloud, cluster, service, before);
    return;
  }
  await ensureListRules(cloud, {
    owner: ownerOf(cloud, cluster, service),
    mode,
    sourceRanges: plan.sourceRanges,
    preservesSource: plan.preservesSource,
    families: plan.families,
    subnetIds: subnets.map(({ id }) => id),
    nodes: plan.nodes,
    ports: { ...portsOfBalancer(wanted), backends: plan.ports.map(({ nodePort }) => nodePort) },
    before,
  });
}

/** As it is now, once nothing is under way any more. */
async function settled(cloud: Cloud, { id, kind }: Balancer): Promise<Balancer> {
  const api = cloud.balancers(kind);
  let there = await api.get(id);
  if ((await awaitOthersWork(cloud, api, there)) || there.lifecycleState === 'CREATING') there = await api.get(id);
  const usable = there.lifecycleState === 'ACTIVE' || (kind === 'nlb' && there.lifecycleState === 'FAILED');
  if (!usable) throw retryAfter(`load balancer ${there.displayName} is ${there.lifecycleState}`, busyAgainMs);
  return there;
}

/** Deletes a load balancer, and waits for one that is being deleted: a deletion that fails late leaves it as it was. */
async function deleteBalancer(cloud: Cloud, balancer: Balancer): Promise<void> {
  const { id, kind, lifecycleState } = balancer;
  const api = cloud.balancers(kind);
  try {
    const hasWaited = await awaitOthersWork(cloud, api, balancer);
    const now = hasWaited || lifecycleState === 'DELETING' ? await api.get(id) : balancer;
    if (now.lifecycleState === 'DELETING') throw retryAfter(`load balancer ${now.displayName} is DELETING`, busyAgainMs);
    if (now.lifecycleState !== 'DELETED') await awaitWork(cloud, api, await api.delete(id));
  } catch (error) {
    if (!failedWith(error, 'absent')) throw error;
  }
  cloud.unsettled.deleted(id);
}

async function vcnOf(cloud: Cloud, subnetIds: readonly string[]): Promise<string> {
  const { settings, subnets, signal } = cloud;
  if (settings.vcn !== '') return settings.vcn;
  const [first] = subnetIds;
  return first === undefined ? '' : (await subnets.get(first, signal)).vcnId;
}

async function groupsFor(cloud: Cloud, plan: BalancerPlan, subnetIds: readonly string[]): Promise<string[]> {
  if (plan.mode !== 'NSG') return plan.groups;
  const own = await ensureGroup(cloud, plan, await vcnOf(cloud, subnetIds));
  return [...new Set([...plan.groups, own])];
}

/** A group of its own that the Service does not ask for any more. */
async function dropGroups(cloud: Cloud, plan: BalancerPlan, there: Balancer, groups: readonly string[]): Promise<void> {
  if (plan.mode === 'NSG' || there.networkSecurityGroupIds.every((id) => groups.includes(id))) return;
  for (const group of await ownGroups(cloud, plan.service, await vcnOf(cloud, there.subnetIds)))
    await deleteGroup(cloud, plan.service, group, []);
}

/** `former`: load balancers of the Service that are about to go. */
async function create(
  cloud: Cloud,
  cluster: string,
  plan: BalancerPlan,
  nodes: readonly Node[],
  former: readonly Balancer[],
): Promise<Balancer> {
  const full = await fullPlan(cloud, plan, nodes, await subnetsFor(cloud, plan));
  const groups = await groupsFor(
    cloud,
    plan,
    full.subnets.map(({ id }) => id),
  );
  const made = await createBalancer(cloud, full, groups);
  await ensureRules(cloud, cluster, full, former);
  return made;
}

async function change(
  cloud: Cloud,
  cluster: string,
  plan: BalancerPlan,
  nodes: readonly Node[],
  found: Balancer,
  former: readonly Balancer[],
): Promise<Balancer> {
  const there = await settled(cloud, found);
  const full = await fullPlan(cloud, plan, nodes, there.subnetIds);
  checkChangeable(full, there);
  const groups = await groupsFor(cloud, plan, there.subnetIds);
  await ensureRules(cloud, cluster, full, [there, ...former]);
  await bringInLine(cloud, full, there, groups);
  await dropGroups(cloud, plan, there, groups);
  checkSide(full, there);
  return there;
}

/** Does it with these nodes; when the API does not know the instance of one, the others are tried. */
async function withLiveNodes<T>(
  { finder, signal }: Cloud,
  nodes: readonly Node[],
  work: (nodes: readonly Node[]) => Promise<T>,
): Promise<T> {
  try {
    return await work(nodes);
  } catch (error) {
    if (!isUnknownTarget(error)) throw error;
    const live = await finder.live(nodes, signal);
    if (live.length === nodes.length) throw error;
    return work(live);
  }
}

async function ensure(cloud: Cloud, cluster: string, service: Service, nodes: readonly Node[]) {
  if (!cloud.settings.loadBalancer) throw notImplemented();
  const plan = balancerPlan(service, cloud.settings);
  const { current, others } = await findBalancers(cloud, service);
  // One that never came to be is in the way of its successor's retry token and address.
  for (const one of others) if (one.kind === plan.kind && one.lifecycleState === 'FAILED') await deleteBalancer(cloud, one);
  const balancer = await withLiveNodes(cloud, nodes, (live) =>
    current ? change(cloud, cluster, plan, live, current, others) : create(cloud, cluster, plan, live, others),
  );
  if (current) cloud.unsettled.end(uidOf(service));
  for (const one of others) if (one.kind !== plan.kind || one.lifecycleState !== 'FAILED') await deleteBalancer(cloud, one);
  const status = statusOf(balancer, plan);
  if (!status.ingress?.length) throw retryAfter(`no ip addresses found for load balancer "${plan.name}"`, busyAgainMs);
  return status;
}

async function update(cloud: Cloud, cluster: string, service: Service, nodes: readonly Node[]): Promise<void> {
  const plan = balancerPlan(service, cloud.settings);
  const { current } = await findBalancers(cloud, service);
  if (!current) {
    cloud.logger.info('no load balancer to update', { service: serviceKey(service) });
    return;
  }
  await withLiveNodes(cloud, nodes, async (live) => {
    const there = await settled(cloud, current);
    const full = await fullPlan(cloud, plan, live, there.subnetIds);
    await ensureRules(cloud, cluster, full, [there]);
    await updateBackends(cloud, full, there);
  });
}

/** A Service whose annotations cannot be read is deleted as well. */
function modeOrDefault({ settings }: Cloud, service: Service): RuleMode {
  try {
    return ruleModeOf(kindOrDefault(service), service, settings.loadBalancer?.mode ?? 'None');
  } catch {
    return settings.loadBalancer?.mode ?? 'None';
  }
}
function backendGroupsOrNone(service: Service): string[] {
  try {
    return ocidsOf(service, annotation.backendGroups);
  } catch {
    return [];
  }
}

/** Rules first: while the load balancer is there, its ports are known. */
async function remove(cloud: Cloud, cluster: string, service: Service): Promise<void> {
  const { settings, unsettled } = cloud;
  const balancers = await allBalancers(cloud, service);
  const subnetIds = [...new Set(balancers.flatMap((one) => one.subnetIds))];
  const known = subnetIds.length > 0 ? subnetIds : [settings.loadBalancer?.subnet1 ?? ''].filter((id) => id !== '');
  const vcnId = await vcnOf(cloud, known).catch(() => '');
  const groups = await ownGroups(cloud, service, vcnId);
  if (balancers.length + groups.length === 0 && unsettled.has(uidOf(service)))
    throw retryAfter('its load balancer may have been made a moment ago, and is not shown yet', busyAgainMs);
  const mode = modeOrDefault(cloud, service);
  if (mode !== 'All' && mode !== 'Frontend') await dropListRules(cloud, cluster, service, balancers);
  else await removeListRules(cloud, ownerOf(cloud, cluster, service), known, portsToClose(service, balancers));
  for (const one of balancers) await deleteBalancer(cloud, one);
  for (const group of groups) await deleteGroup(cloud, service, group, backendGroupsOrNone(service));
  unsettled.end(uidOf(service));
}

/** What is busy is asked for again soon. */
const again = (error: unknown): never => {
  if (isConflict(error) && retryAfterOf(error) === undefined) throw retryAfter(textOf(error), busyAgainMs, error);
  throw error;
};

/** `open`: what is worked with in one call, bound to the caller's signal. */
export function createLoadBalancers(open: (signal?: AbortSignal) => Cloud): LoadBalancer {
  const inTurn = <T>(service: Service, signal: AbortSignal | undefined, work: (cloud: Cloud) => Promise<T>): Promise<T> => {
    const cloud = open(signal);
    const what = `load balancer of ${serviceKey(service)}`;
    return cloud
      .turn(uidOf(service), () => work(cloud), signal)
      .catch(again)
      .catch(during(what));
  };
  return {
    async getLoadBalancer(_cluster, service, signal) {
      const cloud = open(signal);
      const [first] = await allBalancers(cloud, service);
      if (first) return statusOf(first, { externalOnly: false, ...shownOf(service, cloud) });
      const { subnet1 } = cloud.settings.loadBalancer ?? {};
      const vcnId = await vcnOf(cloud, subnet1 ? [subnet1] : []);
      const isLeft = cloud.unsettled.has(uidOf(service)) || (await ownGroups(cloud, service, vcnId)).length > 0;
      return isLeft ? {} : undefined;
    },
    getLoadBalancerName: (_cluster, service) => balancerName(kindOrDefault(service), service, open().settings.namePrefix),
    ensureLoadBalancer: (cluster, service, nodes, signal) =>
      inTurn(service, signal, (cloud) => ensure(cloud, cluster, service, withoutForeignNodes(providerName, nodes))),
    updateLoadBalancer: (cluster, service, nodes, signal) =>
      inTurn(service, signal, (cloud) => update(cloud, cluster, service, withoutForeignNodes(providerName, nodes))),
    ensureLoadBalancerDeleted: (cluster, service, signal) => inTurn(service, signal, (cloud) => remove(cloud, cluster, service)),
  };
}

/** What its owner wants to see of the addresses; nothing special where that cannot be read. */
function shownOf(service: Service, { settings }: Cloud): Partial<Pick<BalancerPlan, 'ipMode' | 'externalOnly'>> {
  try {
    return balancerPlan(service, settings);
  } catch {
    return {};
  }
}
