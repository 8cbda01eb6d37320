// The NodeBalancer of a Service, found whatever is lost: by the annotation with its ID, by the tag or the label that follow from the Service's UID,
// and at last by the address or name in the status, as upstream's are, whose labels are made of the time.
import type { Service } from 'sagong/cloud-provider';
import { serviceKey } from 'sagong/cloud-provider/kit';
import { annotation, idOf, read } from '../annotations.ts';
import type { NodeBalancer } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { balancerLabel, isServiceTag, serviceTag } from '../names.ts';

export interface FoundBalancers {
  /** The one that serves, or is to serve; undefined: there is none. */
  current?: NodeBalancer;
  /** Others of the Service: one that served before an annotation named another. */
  old: NodeBalancer[];
}

const isOf = (service: Service, prefix: string) => {
  const [tag, label] = [serviceTag(service), balancerLabel(prefix, service)];
  return (one: Pick<NodeBalancer, 'tags' | 'label'>): boolean => one.tags.includes(tag) || one.label === label;
};

/** Whether it says that it is another Service's. */
const isOthers = ({ tags }: NodeBalancer, service: Service): boolean =>
  tags.some(isServiceTag) && !tags.includes(serviceTag(service));

async function byIdentity({ api, flags, unsettled }: Cloud, service: Service): Promise<NodeBalancer[]> {
  const filter = { '+or': [{ tags: serviceTag(service) }, { label: balancerLabel(flags.prefix, service) }] };
  const found = (await api.balancers(filter)).filter(isOf(service, flags.prefix));
  return found.filter(({ id }) => !unsettled.isDeleted(`balancer ${id}`)).sort((a, b) => a.id - b.id);
}

/** Upstream's, from before its cluster changed managers. */
async function byStatus({ api, unsettled }: Cloud, service: Service): Promise<NodeBalancer | undefined> {
  const ingress = service.status?.loadBalancer?.ingress ?? [];
  const subnet = read(service).text(annotation.frontendSubnetId);
  const fits = (one: NodeBalancer): boolean =>
    ingress.some(({ ip, hostname }) => (ip ? one.ipv4 === ip || one.ipv6 === ip : one.hostname === hostname)) &&
    !isOthers(one, service) &&
    !unsettled.isDeleted(`balancer ${one.id}`) &&
    (one.frontend_address_type !== 'vpc' || subnet === undefined || String(one.frontend_vpc_subnet_id) === subnet);
  const address = ingress.find(({ ip }) => ip)?.ip;
  if (ingress.length === 0) return undefined;
  const filter = address === undefined ? undefined : { [address.includes(':') ? 'ipv6' : 'ipv4']: address };
  return (await api.balancers(filter)).find(fits);
}

/** Throws when the annotated one does not exist, or is another Service's. */
export async function findBalancers(cloud: Cloud, service: Service): Promise<FoundBalancers> {
  const own = await byIdentity(cloud, service);
  const id = idOf(service, annotation.balancerId);
  if (id === undefined) {
    const [current = await byStatus(cloud, service), ...old] = own;
    return { ...(current && { current }), old };
  }
  const named = own.find((one) => one.id === id) ?? (await cloud.api.balancer(id));
  if (!named) throw new Error(`LoadBalancer (${id}) not found for service (${serviceKey(service)})`);
  if (isOthers(named, service)) throw new Error(`NodeBalancer (${id}) is the load balancer of another service`);
  const before = own.length > 0 ? own : [await byStatus(cloud, service)].filter((one) => one !== undefined);
  return { current: named, old: before.filter((one) => one.id !== id) };
}

/** The annotated ID. Undefined where the annotation is missing, and where its text is no ID: such a text has never led to a NodeBalancer. */
function namedId(service: Service): number | undefined {
  try {
    return idOf(service, annotation.balancerId);
  } catch {
    return undefined;
  }
}

/** All NodeBalancers that are deleted with the Service. An annotated one that does not exist is left out. */
export async function allBalancers(cloud: Cloud, service: Service): Promise<NodeBalancer[]> {
  const own = await byIdentity(cloud, service);
  const id = namedId(service);
  const named = id === undefined || own.some((one) => one.id === id) ? undefined : await cloud.api.balancer(id);
  const all = named && !isOthers(named, service) ? [...own, named] : own;
  if (all.length > 0) return all;
  return [await byStatus(cloud, service)].filter((one) => one !== undefined);
}
