// Which Services have a load balancer of ours, when it is to be made anew, and which Nodes it sends traffic to (k8s.io/cloud-provider
// controllers/service; KEP-1959, KEP-3458). Pure.
import type { Node, Service, ServicePort } from '#api/core/v1';
import { excludeBalancersLabel, loadBalancerCleanupFinalizer } from '#cloud-provider';
import { deepEqual } from '#utils';

const autoscalerTaint = 'ToBeDeletedByClusterAutoscaler';

export const wantsLoadBalancer = ({ spec }: Service): boolean =>
  spec?.type === 'LoadBalancer' && spec.loadBalancerClass === undefined;

export const hasFinalizer = ({ metadata }: Service): boolean =>
  (metadata.finalizers ?? []).includes(loadBalancerCleanupFinalizer);

/**
 * Whether the load balancer of a Service is to be deleted: the Service carries our finalizer, and is being deleted or is no longer of type
 * LoadBalancer. As upstream, this holds for a Service of another class, too, if it has the finalizer.
 */
export const needsCleanup = (service: Service): boolean =>
  hasFinalizer(service) && (service.metadata.deletionTimestamp !== undefined || service.spec?.type !== 'LoadBalancer');

const portForBalancer = ({ name, protocol, port, nodePort, targetPort, appProtocol }: ServicePort): unknown => [
  name ?? '',
  protocol ?? 'TCP',
  port,
  nodePort ?? 0,
  targetPort,
  appProtocol,
];

/** Everything a load balancer depends on. Labels, selector, status and internal policies are not among it. */
const shape = ({ metadata, spec = {} }: Service): unknown => [
  metadata.uid,
  metadata.annotations ?? {},
  spec.type === 'LoadBalancer' && spec.loadBalancerClass === undefined,
  spec.loadBalancerSourceRanges ?? [],
  (spec.ports ?? []).map(portForBalancer),
  spec.sessionAffinity,
  spec.sessionAffinityConfig,
  spec.loadBalancerIP ?? '',
  spec.externalIPs ?? [],
  spec.externalTrafficPolicy,
  spec.healthCheckNodePort ?? 0,
  (spec.ipFamilies ?? []).length,
];

export const needsUpdate = (old: Service, service: Service): boolean =>
  (wantsLoadBalancer(old) || wantsLoadBalancer(service)) && !deepEqual(shape(old), shape(service));

const falseWords = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

/** Excluded by label: any value but a Boolean that says no. */
const isExcluded = ({ metadata }: Node): boolean => {
  const value = metadata.labels?.[excludeBalancersLabel];
  return value !== undefined && !falseWords.includes(value);
};

/** Whether load balancers send traffic to it. Readiness is not asked for: their health checks see to that. */
export const isHost = (node: Node): boolean =>
  node.metadata.deletionTimestamp === undefined &&
  !isExcluded(node) &&
  !(node.spec?.taints ?? []).some(({ key }) => key === autoscalerTaint);

/** Where a load balancer that goes by addresses reaches it. */
const reachedAt = ({ status }: Node): string =>
  (status?.addresses ?? [])
    .filter(({ type }) => type === 'InternalIP' || type === 'ExternalIP')
    .map(({ type, address }) => `${type} ${address}`)
    .sort()
    .join(' ');

/**
 * Whether load balancers must hear of a change of a Node at once. Addresses are written after the provider ID: a load balancer that was updated in
 * between would never get the Node.
 */
export const hostsChanged = (node: Node, old: Node): boolean =>
  isExcluded(node) !== isExcluded(old) || node.spec?.providerID !== old.spec?.providerID || reachedAt(node) !== reachedAt(old);

/** What tells two lists of hosts apart: names, provider IDs and addresses. */
export const hostsKey = (hosts: readonly Node[]): string =>
  hosts
    .map((node) => `${node.metadata.name} ${node.spec?.providerID ?? ''} ${reachedAt(node)}`)
    .sort()
    .join('\n');
