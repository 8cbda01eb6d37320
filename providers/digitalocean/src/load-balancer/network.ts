// Which kind of load balancer in which network, and which nodes can stand behind it: an external network load balancer reaches nodes only at
// their public addresses, every other kind also at their private ones.
import { isIPv6 } from 'node:net';
import type { Node, Service } from 'sagong/cloud-provider';
import { annotationOf, annotations } from '../annotations.ts';
import type { LoadBalancerNetwork, LoadBalancerType, NetworkStack } from '../api/types.ts';
import { namesShown } from '../limits.ts';

/** A configuration that only a person can put right; an event reports it, too. */
export class ConfigurationError extends Error {}

export const loadBalancerTypes: readonly LoadBalancerType[] = ['REGIONAL', 'REGIONAL_NETWORK'];

export const isLoadBalancerType = (text: string): text is LoadBalancerType =>
  (loadBalancerTypes as readonly string[]).includes(text);

/** Throws for another value than the two. */
export function typeOf(service: Service, otherwise: LoadBalancerType): LoadBalancerType {
  const value = annotationOf(service, annotations.type) || otherwise;
  if (!isLoadBalancerType(value)) throw new Error('only LB types supported are (REGIONAL, REGIONAL_NETWORK)');
  return value;
}

/** Throws for another value than the two. */
export function networkOf(service: Service): LoadBalancerNetwork {
  const value = annotationOf(service, annotations.network) || 'EXTERNAL';
  if (value !== 'EXTERNAL' && value !== 'INTERNAL') throw new Error('only LB networks supported are (EXTERNAL, INTERNAL)');
  return value;
}

/** Nodes by what they can do behind a load balancer. */
export interface Backends {
  eligible: Node[];
  /** Those eligible nodes that have addresses of one family, and of both; empty for internal load balancers, where it does not matter. */
  singleStack: Node[];
  dualStack: Node[];
  /** Left out: no address that could be reached (yet). */
  unreachable: Node[];
  /** Left out: IPv6 only. */
  ipv6Only: Node[];
}

function familiesOf(node: Node, orPrivate: boolean): { ipv4: boolean; ipv6: boolean } {
  const addresses = node.status?.addresses ?? [];
  const external = addresses.filter(({ type }) => type === 'ExternalIP').map(({ address }) => isIPv6(address));
  if (external.length > 0) return { ipv4: external.includes(false), ipv6: external.includes(true) };
  const internal = addresses.some(({ type, address }) => type === 'InternalIP' && !isIPv6(address));
  return { ipv4: orPrivate && internal, ipv6: false };
}

/** Sorts the nodes given for a load balancer of this kind. */
export function backendsOf(nodes: readonly Node[], type: LoadBalancerType, network: LoadBalancerNetwork): Backends {
  const backends: Backends = { eligible: [], singleStack: [], dualStack: [], unreachable: [], ipv6Only: [] };
  if (network === 'INTERNAL') return { ...backends, eligible: [...nodes] };
  for (const node of nodes) {
    const { ipv4, ipv6 } = familiesOf(node, type === 'REGIONAL');
    if (ipv4) backends.eligible.push(node);
    if (ipv4 && ipv6) backends.dualStack.push(node);
    else if (ipv4) backends.singleStack.push(node);
    else if (ipv6) backends.ipv6Only.push(node);
    else backends.unreachable.push(node);
  }
  return backends;
}

const noBackends =
  'no eligible load balancer backends: REGIONAL_NETWORK EXTERNAL load balancers require at least one node with a public IPv4 address; ' +
  'no eligible backends found. For private-only nodes, set service.beta.kubernetes.io/do-loadbalancer-type to "REGIONAL" or ' +
  'service.beta.kubernetes.io/do-loadbalancer-network to "INTERNAL".';

/**
 * Nodes were given and none of them can be used: throws. None given at all is no error, for a cluster may be empty for a while; upstream
 * refuses that too, and so leaves machines that are gone behind the load balancer.
 */
export function checkBackends(
  given: readonly Node[],
  { eligible, unreachable }: Backends,
  type: LoadBalancerType,
  network: LoadBalancerNetwork,
): void {
  if (given.length === 0 || eligible.length > 0) return;
  if (unreachable.length > 0 && type === 'REGIONAL_NETWORK' && network === 'EXTERNAL') throw new ConfigurationError(noBackends);
  throw new Error('no ready nodes available for load balancer');
}

/** Names in order, at most three of them. */
export function shownNames(names: readonly string[]): string {
  const sorted = [...names].sort();
  const more = sorted.length - namesShown;
  return sorted.slice(0, namesShown).join(', ') + (more > 0 ? ` [+${more} more]` : '');
}

/** Addresses the load balancer itself gets. `current` is the stack of one that exists: it decides where no node and no annotation does. */
export function networkStackOf(
  service: Service,
  type: LoadBalancerType,
  network: LoadBalancerNetwork,
  { eligible, singleStack, dualStack }: Backends,
  current?: string,
): NetworkStack {
  const annotated = annotationOf(service, annotations.networkStack);
  const passThrough: NetworkStack = dualStack.length > 0 && singleStack.length === 0 ? 'DUALSTACK' : 'IPV4';
  const usual: NetworkStack = network === 'INTERNAL' ? 'IPV4' : type === 'REGIONAL' ? 'DUALSTACK' : passThrough;
  const value = annotated || (eligible.length === 0 && current) || usual;
  if (value !== 'IPV4' && value !== 'DUALSTACK') throw new Error('only LB network stacks supported are (IPV4, DUALSTACK)');
  if (value === 'IPV4') return value;
  if (network === 'INTERNAL')
    throw new ConfigurationError(
      'network stack configuration error: dual stack networking is not supported for internal load balancer',
    );
  if (type === 'REGIONAL_NETWORK' && singleStack.length > 0)
    throw new ConfigurationError(
      `network stack configuration error: dual-stack networking requested but ${singleStack.length} nodes lack IPv6 addresses: ` +
        `${shownNames(singleStack.map(({ metadata }) => metadata.name ?? ''))}. ` +
        'REGIONAL_NETWORK load balancers require all nodes to have IPv6 for dual-stack mode',
    );
  return value;
}
