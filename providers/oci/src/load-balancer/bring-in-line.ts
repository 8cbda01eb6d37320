// Changes a load balancer that is there, piece by piece, each change with a work request of its own.
import { sameSet } from 'sagong/cloud-provider/kit';
import { nameFor } from '../annotations.ts';
import type { Balancer } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { changesOf } from './changes.ts';
import { shapeDiffers, shapeOf } from './shape.ts';
import { ipVersionOf } from './subnets.ts';
import type { FullPlan } from './wanted.ts';
import { awaitWork } from './work-requests.ts';

/** An address is fixed once the load balancer is made. */
function checkReserved({ reservedAddress }: FullPlan, { ipAddresses }: Balancer): void {
  const there = ipAddresses.find(({ reservedIp, isPublic }) => reservedIp?.id && isPublic)?.ipAddress;
  if ((reservedAddress ?? there) !== there || (reservedAddress === undefined && there !== undefined))
    throw new Error('The Load Balancer service reserved IP cannot be updated after the Load Balancer is created.');
}

/** Throws for one on the other side than asked for: whoever asks for one inside must not take it for that. */
export function checkSide({ internal, kind }: FullPlan, { isPrivate, displayName }: Balancer): void {
  if (internal === isPrivate) return;
  const [asked, is] = internal ? ['a private', 'public'] : ['a public', 'private'];
  throw new Error(
    `annotation ${nameFor(kind, 'internal')} asks for ${asked} load balancer, and ${displayName} is ${is}, which OCI does not change: delete the Service and make it again`,
  );
}

/** Throws for what cannot be changed, before anything is. */
export function checkChangeable(plan: FullPlan, there: Balancer): void {
  checkReserved(plan, there);
  if (plan.kind === 'lb') shapeOf(plan.service, there);
}

async function ensureVersion(cloud: Cloud, plan: FullPlan, there: Balancer, when: 'before' | 'after'): Promise<void> {
  if (plan.kind !== 'nlb' || there.nlbIpVersion === undefined) return;
  const version = ipVersionOf(plan.families);
  if (version === there.nlbIpVersion || (version === 'IPV4_AND_IPV6') !== (when === 'before')) return;
  const api = cloud.balancers('nlb');
  await awaitWork(cloud, api, await api.setIpVersion(there.id, version));
}

/** A second family is there before the listeners that use it, and goes after them. */
export async function bringInLine(cloud: Cloud, plan: FullPlan, there: Balancer, groups: string[]): Promise<void> {
  const api = cloud.balancers(there.kind);
  await ensureVersion(cloud, plan, there, 'before');
  for (const change of changesOf(there, plan.wanted)) await awaitWork(cloud, api, await api.change(there.id, change));
  if (!sameSet(there.networkSecurityGroupIds, groups)) await awaitWork(cloud, api, await api.setGroups(there.id, groups));
  if (there.kind === 'lb') {
    const shape = shapeOf(plan.service, there);
    if (shapeDiffers(there, shape))
      await awaitWork(cloud, api, await api.setShape(there.id, shape.shapeName, shape.shapeDetails));
  }
  await ensureVersion(cloud, plan, there, 'after');
}

/** The backends of backend sets that stay; all else is left to the next ensure. */
export async function updateBackends(cloud: Cloud, plan: FullPlan, there: Balancer): Promise<void> {
  const api = cloud.balancers(there.kind);
  const all = changesOf(there, plan.wanted);
  for (const change of all.filter(({ piece, verb }) => piece === 'backendSet' && verb === 'update'))
    await awaitWork(cloud, api, await api.change(there.id, change));
}
