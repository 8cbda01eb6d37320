// What every provider needs (k8s.io/cloud-provider cloud.go, service/helpers, api/well_known_*.go). Pure.
import type { Node, Service } from '#api/core/v1';

/** Put on a Node by its kubelet with `--cloud-provider=external`: nothing schedules before the node controller took it away. */
export const uninitializedTaint = 'node.cloudprovider.kubernetes.io/uninitialized';
/** The taint of Nodes whose machine is powered off. */
export const shutdownTaint = 'node.cloudprovider.kubernetes.io/shutdown';
/** What the kubelet was told by `--node-ip`: one address or two, comma separated. */
export const providedNodeIpAnnotation = 'alpha.kubernetes.io/provided-node-ip';
/** Keeps a Service until its load balancer is gone. */
export const loadBalancerCleanupFinalizer = 'service.kubernetes.io/load-balancer-cleanup';
/** The label of Nodes that are given to no load balancer. */
export const excludeBalancersLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';
export const sourceRangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges';

/** The provider ID of an instance: `<provider>://<instance id>`. */
export const providerIdOf = (provider: string, instanceId: string): string => `${provider}://${instanceId}`;

/** The instance id in a provider ID of this provider; undefined: it is another's, or none. */
export function instanceIdOf(provider: string, providerId: string | undefined): string | undefined {
  const prefix = `${provider}://`;
  return providerId?.startsWith(prefix) && providerId.length > prefix.length ? providerId.slice(prefix.length) : undefined;
}

/** The Nodes without those whose provider ID names another cloud: clusters may have machines in several places. */
export const withoutForeignNodes = (provider: string, nodes: readonly Node[]): Node[] =>
  nodes.filter(({ spec }) => {
    const scheme = /^([^:]+):\/\//.exec(spec?.providerID ?? '')?.[1];
    return scheme === undefined || scheme === provider;
  });

/** `a` and the Service's UID without dashes, 32 characters in all: what upstream's providers name load balancers. */
export const defaultLoadBalancerName = (service: Service): string =>
  `a${service.metadata.uid ?? ''}`.replaceAll('-', '').slice(0, 32);

const anywhere = ['0.0.0.0/0'];

/**
 * The clients that may reach the load balancer, as CIDRs: the Service's field, else its annotation, else everybody (IPv4). Throws for an unusable
 * CIDR.
 */
export function sourceRangesOf({ metadata, spec }: Service): string[] {
  const annotated = metadata.annotations?.[sourceRangesAnnotation]?.trim();
  const ranges = spec?.loadBalancerSourceRanges?.length ? spec.loadBalancerSourceRanges : annotated?.split(',');
  const trimmed = (ranges ?? []).map((range) => range.trim()).filter((range) => range !== '');
  for (const range of trimmed)
    if (!/^[\d.]+\/\d{1,2}$|^[\da-fA-F:.]+\/\d{1,3}$/.test(range))
      throw new Error(`not a source range: ${JSON.stringify(range)}`);
  return trimmed.length > 0 ? trimmed : anywhere;
}

/** Where to ask whether a node has endpoints of a Service with `externalTrafficPolicy: Local`; undefined for every other Service. */
export function healthCheckOf({ spec }: Service): { path: string; port: number } | undefined {
  const local = spec?.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
  return local && spec.healthCheckNodePort ? { path: '/healthz', port: spec.healthCheckNodePort } : undefined;
}
