// What must be true of a cluster and its cloud once nothing fails any more. Every difference is a sentence.
import type { Node, Service } from '#api/core/v1';
import { keyOf } from '#apimachinery/meta';
import { loadBalancerCleanupFinalizer, shutdownTaint, uninitializedTaint } from '#cloud-provider';
import type { CloudChaos } from './cloud-chaos.ts';

const excludeLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';

function compare(what: string, found: readonly unknown[], wanted: readonly unknown[]): string[] {
  const [a, b] = [found, wanted].map((values) => values.map((value) => JSON.stringify(value)).sort());
  const [has, should] = [new Set(a), new Set(b)];
  return [
    ...[...has].filter((one) => !should.has(one)).map((one) => `${what} too many: ${one}`),
    ...[...should].filter((one) => !has.has(one)).map((one) => `${what} missing: ${one}`),
    ...(a?.length === b?.length ? [] : [`${a?.length} of ${what}, not ${b?.length}`]),
  ];
}

const isOurs = ({ spec }: Service): boolean => spec?.type === 'LoadBalancer' && spec.loadBalancerClass === undefined;

function balancers({ cloud }: CloudChaos, services: readonly Service[], nodes: readonly Node[]): string[] {
  const hosts = nodes
    .filter(({ metadata }) => !metadata.labels?.[excludeLabel])
    .map(({ metadata }) => metadata.name ?? '')
    .sort();
  const wanted = services.filter(isOurs).map(({ metadata, spec, status }) => ({
    service: `${keyOf(metadata)} ${metadata.uid}`,
    ports: (spec?.ports ?? []).map(({ protocol, port, nodePort }) => `${protocol}:${port}:${nodePort ?? 0}`),
    ranges: spec?.loadBalancerSourceRanges ?? ['0.0.0.0/0'],
    affinity: spec?.sessionAffinity,
    healthCheck: spec?.healthCheckNodePort ?? 0,
    address: status?.loadBalancer?.ingress?.[0]?.ip,
    hosts,
  }));
  const found = [...cloud.balancers.values()].map((one) => ({
    service: `${one.service} ${one.serviceUid}`,
    ports: one.listeners,
    ranges: one.sourceRanges,
    affinity: one.affinity,
    healthCheck: one.healthCheckNodePort,
    address: one.address,
    hosts: one.backends,
  }));
  return compare('load balancers', found, wanted);
}

/** What Services say of themselves. */
const serviceStates = (services: readonly Service[]): string[] =>
  services.flatMap((service) => {
    const { metadata, status } = service;
    const marked = (metadata.finalizers ?? []).includes(loadBalancerCleanupFinalizer);
    const told = status?.loadBalancer?.ingress !== undefined;
    return [
      ...(metadata.deletionTimestamp ? [`${metadata.name} is still being deleted`] : []),
      ...(marked === isOurs(service) ? [] : [`${metadata.name}: finalizer ${marked}`]),
      ...(told === isOurs(service) ? [] : [`${metadata.name}: address in its status ${told}`]),
    ];
  });

function routes({ cloud }: CloudChaos, nodes: readonly Node[]): string[] {
  const found = [...cloud.routes.values()].map((one) => `${one.targetNode} ${one.destinationCidr} ${one.blackhole}`);
  const wanted = nodes.flatMap(({ metadata, spec }) => (spec?.podCIDRs ?? []).map((cidr) => `${metadata.name} ${cidr} false`));
  return compare('routes', found, wanted);
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
  const wanted = [...cloud.instances.values()].map((one) => ({
    name: one.name,
    id: `fake://${one.id}`,
    type: one.type,
    zone: one.zone,
    addresses: one.addresses.map(({ address }) => address),
    initialized: true,
    shutdown: one.state === 'stopped',
    network: 'False',
  }));
  return compare('nodes', found, wanted);
}

/** How cluster and cloud differ from what users asked for; empty once all has settled. */
export async function differences(chaos: CloudChaos): Promise<string[]> {
  const [services, nodes] = [await chaos.services(), await chaos.nodes()];
  return [...balancers(chaos, services, nodes), ...serviceStates(services), ...routes(chaos, nodes), ...machines(chaos, nodes)];
}
