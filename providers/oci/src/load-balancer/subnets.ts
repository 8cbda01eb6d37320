// The subnets in which a load balancer is made. One that is there keeps those that it has.
import type { Service } from 'sagong/cloud-provider';
import { annotation, read } from '../annotations.ts';
import type { Cloud } from '../cloud.ts';
import { ipv4BlocksOf, ipv6BlocksOf } from '../subnets.ts';
import type { Subnet } from '../api/types.ts';
import type { BalancerPlan } from './plan.ts';
import type { Family } from './ports.ts';

/** A regional subnet serves alone; of subnets in single availability domains a public load balancer has two. */
async function classicSubnets({ settings, subnets, signal }: Cloud, { service, internal }: BalancerPlan): Promise<string[]> {
  const { subnet1 = '', subnet2 = '' } = settings.loadBalancer ?? {};
  const isRegional = async (id: string): Promise<boolean> => !(await subnets.get(id, signal)).availabilityDomain;
  const [first, second] = [read(service).text(annotation.subnet1), read(service).text(annotation.subnet2)];
  if (first && (await isRegional(first))) return [first];
  if (second && (await isRegional(second))) return [second];
  const chosen = [first ?? subnet1, second ?? subnet2];
  if (!chosen[0]) throw new Error('a subnet must be specified for creating a load balancer');
  return internal ? [chosen[0]] : chosen.filter((id) => id !== '');
}

function networkSubnets({ settings }: Cloud, service: Service): string[] {
  const subnet = read(service).text(annotation.subnet) ?? settings.loadBalancer?.subnet1;
  if (!subnet) throw new Error('a subnet must be specified for a network load balancer');
  return [subnet];
}

export const subnetsFor = async (cloud: Cloud, plan: BalancerPlan): Promise<string[]> =>
  plan.kind === 'nlb' ? networkSubnets(cloud, plan.service) : classicSubnets(cloud, plan);

/** The families that a load balancer in these subnets serves. Throws when the Service insists on others. */
export function familiesIn({ kind, service }: BalancerPlan, subnets: readonly Subnet[]): Family[] {
  const { ipFamilies = [], ipFamilyPolicy = 'SingleStack' } = service.spec ?? {};
  const asked: Family[] = ipFamilies.length > 0 ? (ipFamilies as Family[]) : ['IPv4'];
  const has = (family: Family): boolean =>
    subnets.some((one) => (family === 'IPv6' ? ipv6BlocksOf(one) : ipv4BlocksOf(one)).length > 0);
  const served = asked.filter(has);
  if (served.length === 0 || (ipFamilyPolicy !== 'PreferDualStack' && served.length < asked.length))
    throw new Error(`subnet does not have ${asked.find((family) => !has(family))} CIDR blocks`);
  if (kind === 'lb' && !served.includes('IPv4')) throw new Error('SingleStack IPv6 is not supported for OCI LBaaS');
  return served;
}

/** Address families in the words of the API for network load balancers. */
export const ipVersionOf = (families: readonly Family[]): string =>
  families.length > 1 ? 'IPV4_AND_IPV6' : families[0] === 'IPv6' ? 'IPV6' : 'IPV4';
