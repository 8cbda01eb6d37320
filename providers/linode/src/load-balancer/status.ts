// What a Service shows of its NodeBalancer. Pure.
import type { LoadBalancerStatus, Service } from 'sagong/cloud-provider';
import { annotation, booleanOf } from '../annotations.ts';
import type { NodeBalancer } from '../api/types.ts';
import type { FlagValues } from '../config/flags.ts';
import type { Settings } from '../config/settings.ts';

export function statusOf(
  service: Service,
  { hostname, ipv4, ipv6 }: NodeBalancer,
  { hostnameOnly }: Pick<Settings, 'hostnameOnly'>,
  { ipv6Ingress }: Pick<FlagValues, 'ipv6Ingress'>,
): LoadBalancerStatus {
  if (booleanOf(service, annotation.hostnameOnly) ?? hostnameOnly) return { ingress: [{ hostname }] };
  const withIpv6 = (booleanOf(service, annotation.ipv6Ingress) ?? ipv6Ingress) && ipv6;
  return { ingress: [{ hostname, ip: ipv4 }, ...(withIpv6 ? [{ hostname, ip: ipv6 }] : [])] };
}
