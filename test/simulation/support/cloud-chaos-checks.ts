// What must be true of a cluster and its cloud once nothing fails any more. Every difference is a sentence.
import type { Node, Service } from '#api/core/v1';
import { loadBalancerCleanupFinalizer, shutdownTaint, uninitializedTaint } from '#cloud-provider';
import { compare, hostsOf } from './chaos-cloud.ts';
import type { CloudChaos } from './cloud-chaos.ts';

const excludeLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';

const isOurs = ({ spec }: Service): boolean => spec?.type === 'LoadBalancer' && spec.loadBalancerClass === undefined;

/** What Services say of themselves. */
const serviceStates = ({ cloud }: CloudChaos, services: readonly Service[]): string[] =>
  services.flatMap((service) => {
    const { metadata, status } = service;
    const marked = (metadata.finalizers ?? []).includes(loadBalancerCleanupFinalizer);
    const told = status?.loadBalancer?.ingress !== undefined;
    const kept = (metadata.finalizers ?? []).filter((one) => cloud.finalizers?.includes(one) && !isOurs(service));
    return [
      ...(metadata.deletionTimestamp ? [`${metadata.name} is still being deleted`] : []),
      ...(marked === isOurs(service) ? [] : [`${metadata.name}: finalizer ${marked}`]),
      ...kept.map((finalizer) => `${metadata.name} still has ${finalizer}`),
      ...(told === isOurs(service) ? [] : [`${metadata.name}: address in its status ${told}`]),
    ];
  });

function routes({ cloud }: CloudChaos, nodes: readonly Node[]): string[] {
  const routed = cloud.lacks?.includes('routes') ? [] : nodes;
  const wanted = routed.flatMap(({ metadata, spec }) => (spec?.podCIDRs ?? []).map((cidr) => `${metadata.name} ${cidr} false`));
  return compare('routes', cloud.routes(), wanted);
}

function machines({ cloud }: CloudChaos, nodes: readonly Node[]): string[] {
  const found = nodes.map(({ metadata, spec, status }) => ({
    name: metadata.name,
    id: spec?.providerID,
    type: metadata.labels?.['node.kubernetes.io/instance-type'],
    zone: metadata.labels?.['topology.kubernetes.io/zone'],
    addresses: status?.addresses?.map(({ address }) => address),
    initialized: !spec?.taints?.some(({ key }) => key === uninitializedTaint),
    shutdown: spec?.taints?.some(({ key }) => key === shutdownTaint) ?? false,
    network: status?.conditions?.find(({ type }) => type === 'NetworkUnavailable')?.status,
  }));
  const wanted = cloud.machines().map((one) => ({
    name: one.name,
    id: one.id,
    type: one.type,
    zone: one.zone,
    addresses: one.addresses,
    initialized: true,
    shutdown: !one.running,
    // Without routes nobody says that a Node has its network.
    network: cloud.lacks?.includes('routes') ? undefined : 'False',
  }));
  return compare('nodes', found, wanted);
}

/** How cluster and cloud differ from what users asked for; empty once all has settled. */
export async function differences(chaos: CloudChaos): Promise<string[]> {
  const [services, nodes] = [await chaos.services(), await chaos.nodes()];
  const balancers = chaos.cloud.balancerDifferences(services.filter(isOurs), hostsOf(nodes, excludeLabel));
  return [...balancers, ...serviceStates(chaos, services), ...routes(chaos, nodes), ...machines(chaos, nodes)];
}
