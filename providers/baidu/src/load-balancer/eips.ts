// The public address of a load balancer (cloud-provider-baiducloud load_balancer_eip.go): an EIP that is made, bound, resized and released with its
// Service; or one of the user's, which is only bound and unbound.
import { retryAfterOf, type Service } from 'sagong/cloud-provider';
import { fineIfAbsent, isConflict, uidOf } from 'sagong/cloud-provider/kit';
import { annotation, read } from '../annotations.ts';
import { isRefused, isTokenUsed } from '../api/errors.ts';
import type { Balancer, Eip } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { balancerName, isTagged, tagsOf } from '../names.ts';
import type { EipPlan } from './eip-plan.ts';
import { makeOnce, notSettled, settledEip } from './settle.ts';

/**
 * By its tag, or, of upstream's, by the name that they have in common. The note on the Service is a text that its author can change, so it counts only for
 * one that is bound to a load balancer made for the Service: `balancers`, by ID.
 */
export function isOwn({ settings }: Pick<Cloud, 'settings'>, service: Service, eip: Eip, balancers: readonly string[]): boolean {
  if (isTagged(eip, service)) return true;
  const { metadata, spec } = service;
  if (eip.tags?.some(({ tagKey }) => tagKey.startsWith('cce-')) || eip.eip === spec?.loadBalancerIP) return false;
  if (eip.name === balancerName(settings.clusterId, service)) return true;
  if (!eip.instanceId || !balancers.includes(eip.instanceId)) return false;
  return eip.eip === metadata.annotations?.[annotation.addedEip] && eip.name === read(service).text(annotation.name);
}

const living = ({ unsettled }: Cloud, eips: readonly Eip[]): Eip[] =>
  eips.filter(({ eip }) => !unsettled.isDeleted(eip)).sort((a, b) => (a.eip < b.eip ? -1 : 1));

export const ownEips = async (cloud: Cloud, service: Service, balancers: readonly string[]): Promise<Eip[]> =>
  living(cloud, await cloud.api.eips()).filter((eip) => isOwn(cloud, service, eip, balancers));

/** Paid for until a day to come: it cannot be released before. */
export const isPrepaid = ({ paymentTiming }: Eip): boolean => paymentTiming === 'Prepaid';

export async function unbind(cloud: Cloud, { eip, instanceId, status }: Eip): Promise<void> {
  if (!instanceId && status === 'available') return;
  const settled = await settledEip(cloud, eip, ['available', 'binded']);
  if (settled?.status !== 'binded') return;
  await cloud.api.unbindEip(eip).catch((error: unknown) => {
    // Somebody else unbinds it.
    if (!isConflict(error)) throw error;
  });
  await settledEip(cloud, eip, ['available']);
}

async function release(cloud: Cloud, service: Service, eip: Eip): Promise<void> {
  await unbind(cloud, eip);
  if (isPrepaid(eip)) {
    const message = `EIP ${eip.eip} is prepaid: it is unbound, and stays until it expires`;
    if (eip.instanceId) await cloud.writer.event(service, 'Normal', 'PrepaidEIPKept', message);
    return;
  }
  await cloud.api.deleteEip(eip.eip);
  cloud.unsettled.deleted(eip.eip);
  cloud.unsettled.noteLast('EIP', uidOf(service), eip.eip);
}

/** All that the Service has, but for those `kept`. `balancers`: the IDs of those made for it. */
export async function releaseEips(
  cloud: Cloud,
  service: Service,
  balancers: readonly string[],
  kept: readonly string[] = [],
): Promise<void> {
  const eips = (await ownEips(cloud, service, balancers)).filter(({ eip }) => !kept.includes(eip));
  for (const eip of eips) await release(cloud, service, eip);
  if (eips.length > 0) cloud.unsettled.end(`EIP ${uidOf(service)}`);
  else if (kept.length === 0 && cloud.unsettled.has(`EIP ${uidOf(service)}`)) throw notSettled('its EIP');
}

async function make(cloud: Cloud, service: Service, plan: EipPlan): Promise<Eip> {
  const { api, settings, unsettled } = cloud;
  const request = { ...plan.request, tags: tagsOf(settings.clusterId, service) };
  const eip = await makeOnce<Eip>(cloud, {
    kind: 'EIP',
    service,
    before: service.metadata.annotations?.[annotation.addedEip],
    make: async (token) => (await api.createEip(request, token)).eip,
    find: (address) => api.eip(address),
    findAny: async () => (await ownEips(cloud, service, []))[0],
  }).catch((error: unknown) => {
    if (isRefused(error) && !isTokenUsed(error) && retryAfterOf(error) === undefined) unsettled.end(`EIP ${uidOf(service)}`);
    throw error;
  });
  return eip;
}

async function bind(cloud: Cloud, eip: Eip, balancer: Balancer): Promise<void> {
  const settled = await settledEip(cloud, eip.eip, ['available', 'binded']);
  if (!settled) throw new Error(`EIP ${eip.eip} not Exist`);
  if (settled.instanceId !== balancer.blbId) {
    if (settled.status === 'binded') throw new Error(`EIP ${eip.eip} is bound to ${settled.instanceId}`);
    await cloud.api.bindEip(eip.eip, balancer.blbId);
  }
  // A binding that fails late ends as available, which is also what is shown until it is seen to have begun.
  const bound = await settledEip(cloud, eip.eip, ['binded']);
  if (bound?.instanceId !== balancer.blbId) throw notSettled(`the binding of EIP ${eip.eip}`);
}

const unchangeable =
  'not support change ElasticIP PaymentTiming or ElasticIP BillingMethod, you can delete old and create a new one';

async function bringInLine(cloud: Cloud, eip: Eip, { given }: EipPlan): Promise<void> {
  const { payment, billing, bandwidth } = given;
  if ((payment && payment !== eip.paymentTiming) || (billing && eip.billingMethod && billing !== eip.billingMethod))
    throw new Error(unchangeable);
  if (bandwidth === undefined || bandwidth === eip.bandwidthInMbps) return;
  await cloud.api.resizeEip(eip.eip, bandwidth);
  await settledEip(cloud, eip.eip, ['available', 'binded']);
}

/** The one that is to serve, made where there is none. */
async function targetOf(
  cloud: Cloud,
  service: Service,
  plan: EipPlan,
  all: readonly Eip[],
  bound: Eip | undefined,
): Promise<Eip> {
  if (plan.own === undefined) return bound ?? all.find((eip) => isOwn(cloud, service, eip, [])) ?? make(cloud, service, plan);
  const own = all.find(({ eip }) => eip === plan.own);
  if (!own) throw new Error(`EIP ${plan.own} not Exist`);
  return own;
}

/** Gives the address. Others' that are bound to something else are never unbound. */
export async function ensureEip(
  cloud: Cloud,
  service: Service,
  plan: EipPlan,
  { balancer, isMade }: { balancer: Balancer; isMade: boolean },
): Promise<string> {
  const made = isMade ? [balancer.blbId] : [];
  const all = living(cloud, await cloud.api.eips());
  const bound = all.find(({ instanceId }) => instanceId === balancer.blbId);
  const target = await targetOf(cloud, service, plan, all, bound);
  const isItsOwn = isOwn(cloud, service, target, made);
  if (target.instanceId && target.instanceId !== balancer.blbId) {
    if (!isItsOwn) throw new Error(`EIP ${target.eip} is bound to ${target.instanceId}`);
    await unbind(cloud, target);
  }
  if (bound && bound.eip !== target.eip) await unbind(cloud, bound);
  await bind(cloud, target, balancer);
  cloud.unsettled.end(`EIP ${uidOf(service)}`);
  if (isItsOwn && plan.own === undefined) await bringInLine(cloud, target, plan);
  await releaseEips(cloud, service, made, [target.eip]);
  return target.eip;
}

/** Inside the VPC only: what is bound is unbound, what was made is released. */
export async function withoutEip(cloud: Cloud, service: Service, balancer: Balancer, isMade: boolean): Promise<void> {
  const bound = living(cloud, await cloud.api.eips({ instanceType: 'BLB', instanceId: balancer.blbId })).filter(
    ({ instanceId }) => instanceId === balancer.blbId,
  );
  const made = isMade ? [balancer.blbId] : [];
  for (const eip of bound) if (isMade && !isOwn(cloud, service, eip, made)) await unbind(cloud, eip).catch(fineIfAbsent);
  await releaseEips(cloud, service, made);
}
