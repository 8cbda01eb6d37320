// A classic load balancer as AWS shows it.
import { DescribeLoadBalancersCommand, type LoadBalancerDescription } from '@aws-sdk/client-elastic-load-balancing';
import type { LoadBalancerStatus } from 'sagong/cloud-provider';
import { pages } from '../../clients.ts';
import type { Cloud } from '../../cloud.ts';
import { absentFor } from '../../errors.ts';
import { pagesMax } from '../../limits.ts';

const absentCodes = ['LoadBalancerNotFound', 'AccessPointNotFound', 'AccessPointNotFoundException'];

export async function describeClassic({ api }: Cloud, name: string): Promise<LoadBalancerDescription | undefined> {
  const found = await api.elb(new DescribeLoadBalancersCommand({ LoadBalancerNames: [name] })).catch(absentFor(...absentCodes));
  if (found && !found.LoadBalancerDescriptions)
    throw new Error(`the answer does not say whether there is a load balancer ${name}`);
  return found?.LoadBalancerDescriptions?.[0];
}

/** Whether another classic load balancer has this security group. */
export async function isGroupUsedByOthers({ api }: Cloud, group: string, name: string): Promise<boolean> {
  const all = await pages(
    (Marker) => api.elb(new DescribeLoadBalancersCommand(Marker === undefined ? {} : { Marker })),
    ({ LoadBalancerDescriptions }) => LoadBalancerDescriptions,
    ({ NextMarker }) => NextMarker,
    pagesMax,
  );
  return all.some(({ LoadBalancerName, SecurityGroups }) => LoadBalancerName !== name && SecurityGroups?.includes(group));
}

export const classicStatus = ({ DNSName }: LoadBalancerDescription): LoadBalancerStatus =>
  DNSName ? { ingress: [{ hostname: DNSName }] } : {};
