// Makes the load balancer of a Service, once.
import type { Node } from 'sagong/cloud-provider';
import { annotation } from '../annotations.ts';
import { isRefused, isTokenUsed } from '../api/errors.ts';
import { retryAfterOf } from 'sagong/cloud-provider';
import { uidOf } from 'sagong/cloud-provider/kit';
import type { Balancer, Subnet } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { clusterMark, tagsOf } from '../names.ts';
import { findBalancers } from './find.ts';
import type { BalancerPlan } from './plan.ts';
import { makeOnce } from './settle.ts';

/** Subnets in which a load balancer may be, by upstream's choice: those that the system, or CCE, made for this. */
const reservedSubnets = ['系统预定义子网', 'CCE-Reserve'];
const isForInstances = ({ subnetType }: Subnet): boolean => subnetType === 'BCC';

/** The one that is asked for, else a node's, else one that is kept for this. */
async function subnetFor(cloud: Cloud, plan: BalancerPlan, nodes: readonly Node[], vpcId: string): Promise<string> {
  const { api, settings, finder, signal } = cloud;
  if (plan.subnetId !== undefined) {
    const subnet = await api.subnet(plan.subnetId);
    if (!subnet) throw new Error(`annotation ${annotation.subnetId}: there is no subnet ${plan.subnetId}`);
    if (!isForInstances(subnet)) throw new Error(`SubnetId ${plan.subnetId} in annotation is not type BCC`);
    return plan.subnetId;
  }
  if (settings.subnetId !== undefined) return settings.subnetId;
  const all = (await api.subnets(vpcId)).sort((a, b) => (a.subnetId < b.subnetId ? -1 : 1));
  for (const node of nodes) {
    const instance = await finder.ofNode(node, signal).catch(() => undefined);
    const found = all.find(({ subnetId }) => subnetId === instance?.subnetId);
    if (found && isForInstances(found)) return found.subnetId;
  }
  const reserved = all.find(({ name }) => reservedSubnets.includes(name)) ?? all.find(isForInstances);
  if (!reserved) throw new Error('no suitable subnet found for BLB');
  return reserved.subnetId;
}

export async function createBalancer(cloud: Cloud, plan: BalancerPlan, nodes: readonly Node[]): Promise<Balancer> {
  const { api, settings, unsettled, finder, signal } = cloud;
  const { service, name, allocateVip } = plan;
  const vpcId = await finder.vpcId(signal);
  const request = {
    name,
    desc: clusterMark(settings.clusterId),
    vpcId,
    subnetId: await subnetFor(cloud, plan, nodes, vpcId),
    tags: tagsOf(settings.clusterId, service),
    ...(allocateVip && { allocateVip }),
  };
  const made = await makeOnce<Balancer>(cloud, {
    kind: 'BLB',
    service,
    before: service.metadata.annotations?.[annotation.addedId],
    make: async (token) => (await api.createBalancer(request, token)).blbId,
    find: (id) => api.balancer(id),
    findAny: async () => (await findBalancers(cloud, service)).current?.balancer,
  }).catch((error: unknown) => {
    // The API refused, so nothing was made.
    if (isRefused(error) && !isTokenUsed(error) && retryAfterOf(error) === undefined) unsettled.end(`BLB ${uidOf(service)}`);
    throw error;
  });
  return made;
}
