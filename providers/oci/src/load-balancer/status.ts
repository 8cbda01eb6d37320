// What a Service shows of its load balancer. Pure.
import type { LoadBalancerStatus } from 'sagong/cloud-provider';
import type { Balancer } from '../api/types.ts';
import type { BalancerPlan } from './plan.ts';

export function statusOf(
  balancer: Balancer,
  { ipMode, externalOnly }: Pick<BalancerPlan, 'ipMode' | 'externalOnly'>,
): LoadBalancerStatus {
  const shown = balancer.ipAddresses.filter(({ ipAddress, isPublic }) => ipAddress && (isPublic || !externalOnly));
  return { ingress: shown.map(({ ipAddress = '' }) => ({ ip: ipAddress, ...(ipMode && { ipMode }) })) };
}
