// The load balancer of a Service, found whatever is lost: by the tag or the mark with the Service's UID, by the annotation with its ID, and by the name
// that upstream gives. One that says that it is another's is never taken.
import { defaultLoadBalancerName, type Service } from 'sagong/cloud-provider';
import { uidOf } from 'sagong/cloud-provider/kit';
import { annotation, read } from '../annotations.ts';
import type { Balancer } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { balancerName, holderOf, isReleased, isTagged, makerOf, taggedUid } from '../names.ts';
import { givenId } from './plan.ts';

export interface FoundBalancer {
  balancer: Balancer;
  /** By a manager of this cluster: it goes with the Service. */
  isMade: boolean;
}
export interface FoundBalancers {
  /** The one that serves, or is to serve; undefined: there is none. */
  current?: FoundBalancer;
  /** Others of the Service: one that served before an annotation named another, or none any more. */
  old: FoundBalancer[];
}

/** Of upstream, which marks by name and description. */
function isUpstreams({ settings }: Cloud, service: Service, { blbId, name, desc, tags }: Balancer): boolean {
  if (makerOf({ desc }) !== settings.clusterId || taggedUid({ tags: tags ?? [] }) !== undefined) return false;
  if ([balancerName(settings.clusterId, service), defaultLoadBalancerName(service)].includes(name)) return true;
  // Any Service can ask for a name: it says whose this is only together with the note of its ID.
  return name === read(service).text(annotation.name) && blbId === service.metadata.annotations?.[annotation.addedId];
}

function ofService(cloud: Cloud, service: Service, balancer: Balancer): FoundBalancer | undefined {
  const holder = holderOf(balancer);
  if (holder === undefined) return isUpstreams(cloud, service, balancer) ? { balancer, isMade: true } : undefined;
  if (holder !== uidOf(service)) return undefined;
  const isMade = !isReleased(balancer) && (isTagged(balancer, service) || makerOf(balancer) === cloud.settings.clusterId);
  return { balancer, isMade };
}

/** All that the Service has, without a look at what it asks for. */
export async function ownBalancers(cloud: Cloud, service: Service): Promise<FoundBalancer[]> {
  const all = (await cloud.api.balancers()).filter(({ blbId }) => !cloud.unsettled.isDeleted(blbId));
  return all
    .flatMap((balancer) => ofService(cloud, service, balancer) ?? [])
    .sort((a, b) => (a.balancer.blbId < b.balancer.blbId ? -1 : 1));
}

/** Throws when the annotated one does not exist, or is another's. */
export async function findBalancers(cloud: Cloud, service: Service): Promise<FoundBalancers> {
  const own = await ownBalancers(cloud, service);
  const id = givenId(service);
  if (id === undefined) {
    const current = own.find(({ isMade }) => isMade);
    return { ...(current && { current }), old: own.filter((one) => one !== current) };
  }
  const known = own.find(({ balancer }) => balancer.blbId === id);
  const old = own.filter((one) => one !== known);
  if (known) return { current: known, old };
  const balancer = await cloud.api.balancer(id);
  if (!balancer || cloud.unsettled.isDeleted(id)) throw new Error(`BLB with id ${id} not exist`);
  if (holderOf(balancer) !== undefined || makerOf(balancer) !== undefined)
    throw new Error(`BLB ${id} is the load balancer of another service`);
  return { current: { balancer, isMade: false }, old };
}
