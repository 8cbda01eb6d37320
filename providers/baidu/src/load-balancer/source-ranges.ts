// Who may reach a load balancer: a security group of its own, where the Service names ranges. Without one everybody may.
import { retryAfterOf, type Service } from 'sagong/cloud-provider';
import { differenceOf, uidOf } from 'sagong/cloud-provider/kit';
import { isRefused, isThere } from '../api/errors.ts';
import type { GroupRule, SecurityGroup } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { balancerName, clusterMark, isTagged, tagsOf } from '../names.ts';
import type { BalancerPlan } from './plan.ts';
import { makeOnce, notSettled } from './settle.ts';

const everybody = '0.0.0.0/0';

const rulesOf = ({ ports, sourceRanges }: BalancerPlan): GroupRule[] =>
  ports.flatMap(({ kind, listener }) =>
    sourceRanges.map((sourceIp) => ({
      direction: 'ingress' as const,
      ethertype: sourceIp.includes(':') ? ('IPv6' as const) : ('IPv4' as const),
      protocol: kind.toLowerCase(),
      portRange: String(listener.listenerPort),
      sourceIp,
    })),
  );
const keyOf = ({ ethertype, protocol, portRange, sourceIp }: GroupRule): string =>
  [ethertype, protocol, portRange, sourceIp].join(' ');

/** All that the Service has. */
export async function ownGroups({ api, finder, unsettled, signal }: Cloud, service: Service): Promise<SecurityGroup[]> {
  const all = await api.groups(await finder.vpcId(signal));
  return all.filter((group) => isTagged(group, service) && !unsettled.isDeleted(group.id)).sort((a, b) => (a.id < b.id ? -1 : 1));
}

async function make(cloud: Cloud, plan: BalancerPlan): Promise<SecurityGroup> {
  const { api, settings, finder, unsettled, signal } = cloud;
  const { service } = plan;
  const request = {
    name: balancerName(settings.clusterId, service),
    desc: clusterMark(settings.clusterId),
    vpcId: await finder.vpcId(signal),
    rules: rulesOf(plan),
    tags: tagsOf(settings.clusterId, service),
  };
  return makeOnce<SecurityGroup>(cloud, {
    kind: 'security group',
    service,
    before: undefined,
    make: async (token) => (await api.createGroup(request, token)).securityGroupId,
    find: async (id) => (await ownGroups(cloud, service)).find((group) => group.id === id),
    findAny: async () => (await ownGroups(cloud, service))[0],
  }).catch((error: unknown) => {
    if (isRefused(error) && retryAfterOf(error) === undefined) unsettled.end(`security group ${uidOf(service)}`);
    throw error;
  });
}

/** Who is let in comes first, so that nobody is shut out for a moment who is to stay. */
async function bringInLine({ api }: Cloud, group: SecurityGroup, plan: BalancerPlan): Promise<void> {
  const there = group.rules.filter(({ direction }) => direction === 'ingress');
  const { missing, surplus } = differenceOf(there, rulesOf(plan), keyOf, keyOf);
  for (const rule of missing)
    await api.authorizeRule(group.id, rule).catch((error: unknown) => {
      if (!isThere(error)) throw error;
    });
  for (const rule of surplus) await api.revokeRule(group.id, rule);
}

async function deleteGroups(cloud: Cloud, service: Service, groups: readonly SecurityGroup[]): Promise<void> {
  for (const { id } of groups) {
    await cloud.api.deleteGroup(id);
    cloud.unsettled.deleted(id);
    cloud.unsettled.noteLast('security group', uidOf(service), id);
  }
}

/** Of a load balancer that has one, or is to have one. */
export async function ensureSourceRanges(cloud: Cloud, plan: BalancerPlan, balancer: string): Promise<void> {
  const { api } = cloud;
  const { service, sourceRanges } = plan;
  const own = await ownGroups(cloud, service);
  const isOpen = sourceRanges.includes(everybody);
  if (isOpen && own.length === 0) return;
  const bound = new Set((await api.groupsOf(balancer)).map(({ securityGroupId }) => securityGroupId));
  if (isOpen) {
    const ids = own.flatMap(({ id }) => (bound.has(id) ? [id] : []));
    if (ids.length > 0) await api.unbindGroups(balancer, ids);
    await deleteGroups(cloud, service, own);
    return;
  }
  const [known, ...others] = own;
  const group = known ?? (await make(cloud, plan));
  cloud.unsettled.end(`security group ${uidOf(service)}`);
  await bringInLine(cloud, group, plan);
  if (!bound.has(group.id)) await api.bindGroups(balancer, [group.id]);
  const surplus = others.flatMap(({ id }) => (bound.has(id) ? [id] : []));
  if (surplus.length > 0) await api.unbindGroups(balancer, surplus);
  await deleteGroups(cloud, service, others);
}

/** Takes the Service's own groups off a load balancer that is given back and stays. */
export async function unbindOwnGroups(cloud: Cloud, service: Service, balancer: string): Promise<void> {
  const own = new Set((await ownGroups(cloud, service)).map(({ id }) => id));
  const ids = (await cloud.api.groupsOf(balancer)).flatMap(({ securityGroupId: id }) => (own.has(id) ? [id] : []));
  if (ids.length > 0) await cloud.api.unbindGroups(balancer, ids);
}

/** Deletes the Service's own groups, once no load balancer has them any more. */
export async function deleteOwnGroups(cloud: Cloud, service: Service): Promise<void> {
  const what = `security group ${uidOf(service)}`;
  const own = await ownGroups(cloud, service);
  if (own.length === 0 && cloud.unsettled.has(what)) throw notSettled('its security group');
  await deleteGroups(cloud, service, own);
  cloud.unsettled.end(what);
}
