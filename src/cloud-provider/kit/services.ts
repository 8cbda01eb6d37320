// What providers say and ask of Services.
import type { Service, ServicePort } from '#api/core/v1';
import type { CloudClient } from '../types.ts';

/** A Service as tags and descriptions in clouds name it: `namespace/name`. */
export const serviceKey = ({ metadata }: Service): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
export const uidOf = ({ metadata }: Service): string => metadata.uid ?? '';

/** Throws for a Service of IPv6 alone, which nodes do not serve at their IPv4 addresses: for providers whose load balancers reach nodes at those. */
export function refuseIpv6Only({ spec }: Service): void {
  const { ipFamilies = [] } = spec ?? {};
  if (ipFamilies.length > 0 && !ipFamilies.includes('IPv4'))
    throw new Error('the load balancer reaches nodes by IPv4, and the Service has IPv6 addresses only');
}

/** Throws where a port has none: for providers whose load balancers reach nodes there. */
export function nodePortOf({ port, nodePort }: Pick<ServicePort, 'port' | 'nodePort'>): number {
  if (!nodePort) throw new Error(`port ${port} has no node port, which a load balancer needs`);
  return nodePort;
}

/** All Services of the cluster that have a load balancer. Without a client, as before `initialize`, there are none. */
export async function loadBalancerServices(client: CloudClient | undefined): Promise<Service[]> {
  if (!client) return [];
  const { items } = await client.resource<Service>({ group: '', version: 'v1', resource: 'services' }).list();
  return items.filter(({ spec }) => spec?.type === 'LoadBalancer');
}
