// Load balancers of Services: an ordinary BLB, and an EIP in front of it.
import {
  defaultLoadBalancerName,
  type LoadBalancer,
  type LoadBalancerStatus,
  type Node,
  type Service,
} from 'sagong/cloud-provider';
import { during, isAbsent, serviceKey, uidOf } from 'sagong/cloud-provider/kit';
import { annotation, isTrue } from '../annotations.ts';
import type { Balancer } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { holderOf, letGo, withMark } from '../names.ts';
import { ensureBackends, removeBackends } from './backends.ts';
import { createBalancer } from './create.ts';
import { ensureEip, isPrepaid, ownEips, releaseEips, withoutEip } from './eips.ts';
import { findBalancers, type FoundBalancer, ownBalancers } from './find.ts';
import { ensureListeners, removeListeners } from './listeners.ts';
import { type BalancerPlan, balancerPlan } from './plan.ts';
import { deleteOwnGroups, ensureSourceRanges, ownGroups, unbindOwnGroups } from './source-ranges.ts';
import { availableBalancer, deletableBalancer, notSettled } from './settle.ts';

/** Nobody's listeners are taken away with a load balancer that the user gives. */
async function refuseOthersListeners({ api }: Cloud, { ports }: BalancerPlan, { blbId }: Balancer): Promise<void> {
  const wanted = new Set(ports.map(({ kind, listener }) => `${kind} ${listener.listenerPort} to ${listener.backendPort}`));
  const all = await api.allListeners(blbId);
  const there = all.map(({ listenerType, listenerPort, backendPort }) => `${listenerType} ${listenerPort} to ${backendPort}`);
  const others = there.filter((one) => !wanted.has(one));
  if (others.length > 0)
    throw new Error(`BLB ${blbId} has listeners that the service does not ask for: ${others.join(', ')}; remove them first`);
}

/** A load balancer that does not say whose it is gets the mark, so that it is found again, and so that no other Service takes it. */
async function claim(cloud: Cloud, plan: BalancerPlan, { balancer, isMade }: FoundBalancer): Promise<void> {
  const { service, name } = plan;
  const isNew = holderOf(balancer) !== uidOf(service);
  if (isNew && !isMade) await refuseOthersListeners(cloud, plan, balancer);
  const changes = {
    ...(isMade && balancer.name !== name && { name }),
    ...(isNew && { desc: withMark(balancer.desc, service) }),
  };
  if (Object.keys(changes).length > 0) await cloud.api.updateBalancer(balancer.blbId, changes);
}

/** Gone with its Service; one that is the user's, or to be reserved, stays without what the Service put there. */
async function removeBalancer(cloud: Cloud, service: Service, { balancer, isMade }: FoundBalancer): Promise<void> {
  const { api, unsettled } = cloud;
  const { blbId } = balancer;
  if (isMade && !isTrue(service, annotation.reserve)) {
    await deletableBalancer(cloud, blbId);
    await api.deleteBalancer(blbId);
    unsettled.deleted(blbId);
    unsettled.noteLast('BLB', uidOf(service), blbId);
    return;
  }
  try {
    await removeListeners(cloud, blbId);
    await unbindOwnGroups(cloud, service, blbId);
    await removeBackends(cloud, blbId);
    await api.updateBalancer(blbId, { desc: letGo(balancer) });
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

/** What upstream notes on the Service. */
async function noteOn(
  { writer }: Cloud,
  service: Service,
  { balancer, isMade }: FoundBalancer,
  eip: string | undefined,
): Promise<void> {
  const there = service.metadata.annotations ?? {};
  const wanted: Record<string, string> = {
    ...(isMade && { [annotation.id]: balancer.blbId, [annotation.addedId]: balancer.blbId }),
    ...(eip !== undefined && { [annotation.addedEip]: eip }),
  };
  const changed = Object.entries(wanted).filter(([name, value]) => there[name] !== value);
  if (changed.length > 0) await writer.patchService(service, { metadata: { annotations: Object.fromEntries(changed) } });
}

const statusOf = (ip: string | undefined): LoadBalancerStatus => (ip ? { ingress: [{ ip }] } : {});

async function ensure(cloud: Cloud, service: Service, nodes: readonly Node[]): Promise<LoadBalancerStatus> {
  const plan = balancerPlan(cloud.settings.clusterId, service);
  const { current, old } = await findBalancers(cloud, service);
  const found = current ?? { balancer: await createBalancer(cloud, plan, nodes), isMade: true };
  cloud.unsettled.end(`BLB ${uidOf(service)}`);
  const balancer = await availableBalancer(cloud, found.balancer.blbId);
  const { blbId } = balancer;
  await claim(cloud, plan, { ...found, balancer });
  // Before ports: a new one is not open to those who are not let in.
  await ensureSourceRanges(cloud, plan, blbId);
  await ensureListeners(cloud, blbId, plan.ports);
  await ensureBackends(cloud, blbId, plan, nodes);
  const eip = plan.eip && (await ensureEip(cloud, service, plan.eip, { balancer, isMade: found.isMade }));
  if (!plan.eip) await withoutEip(cloud, service, balancer, found.isMade);
  await noteOn(cloud, service, { ...found, balancer }, eip);
  for (const one of old) await removeBalancer(cloud, service, one);
  return statusOf(eip ?? balancer.address);
}

async function update(cloud: Cloud, service: Service, nodes: readonly Node[]): Promise<void> {
  const plan = balancerPlan(cloud.settings.clusterId, service);
  const { current } = await findBalancers(cloud, service);
  if (!current) throw new Error(`failed to reconcileBackendServers: lb not exist for service ${serviceKey(service)}`);
  await ensureBackends(cloud, current.balancer.blbId, plan, nodes);
}

async function remove(cloud: Cloud, service: Service): Promise<void> {
  const { unsettled } = cloud;
  const balancers = await ownBalancers(cloud, service);
  if (balancers.length === 0 && unsettled.has(`BLB ${uidOf(service)}`)) throw notSettled('its BLB');
  for (const { balancer, isMade } of balancers) await withoutEip(cloud, service, balancer, isMade);
  await releaseEips(cloud, service, []);
  for (const one of balancers) await removeBalancer(cloud, service, one);
  await deleteOwnGroups(cloud, service);
  unsettled.end(`BLB ${uidOf(service)}`);
}

/** A load balancer that is reserved, and an EIP that is paid for, do not go with the Service. */
async function get(cloud: Cloud, service: Service): Promise<LoadBalancerStatus | undefined> {
  const [first] = await ownBalancers(cloud, service);
  const isInternal = isTrue(service, annotation.internal);
  const addressOf = ({ address, publicIp }: Balancer): string | undefined => (isInternal ? address : publicIp);
  if (first) return statusOf(addressOf(first.balancer));
  if (cloud.unsettled.has(`BLB ${uidOf(service)}`) || cloud.unsettled.has(`EIP ${uidOf(service)}`)) return {};
  const left = (await ownEips(cloud, service, [])).filter((eip) => !isPrepaid(eip) || eip.instanceId);
  if (left.length > 0 || cloud.unsettled.has(`security group ${uidOf(service)}`)) return {};
  return (await ownGroups(cloud, service)).length > 0 ? {} : undefined;
}

/** `open`: what is worked with in one call, bound to the caller's signal. */
export function createLoadBalancers(open: (signal?: AbortSignal) => Cloud): LoadBalancer {
  const inTurn = <T>(service: Service, signal: AbortSignal | undefined, work: (cloud: Cloud) => Promise<T>): Promise<T> => {
    const cloud = open(signal);
    return cloud.turn(uidOf(service), () => work(cloud), signal).catch(during(`load balancer of ${serviceKey(service)}`));
  };
  return {
    getLoadBalancer: (_cluster, service, signal) => get(open(signal), service),
    getLoadBalancerName: (_cluster, service) => defaultLoadBalancerName(service),
    ensureLoadBalancer: (_cluster, service, nodes, signal) => inTurn(service, signal, (cloud) => ensure(cloud, service, nodes)),
    updateLoadBalancer: (_cluster, service, nodes, signal) => inTurn(service, signal, (cloud) => update(cloud, service, nodes)),
    ensureLoadBalancerDeleted: (_cluster, service, signal) => inTurn(service, signal, (cloud) => remove(cloud, service)),
  };
}
