// Our provider for AWS on the emulated AWS, through the suite that every provider passes: once with classic and once with network load balancers.
import { describe, it } from 'vitest';
import type { CloudProvider, LoadBalancer, Service } from '#cloud-provider';
import { conformance, conformanceCases, type ConformanceTarget } from '#cloud-provider/conformance';
import { annotated, emulatedAws } from './aws-world.ts';

const asNetwork = (service: Service): Service => annotated(service, { type: 'nlb' });

/** Every Service wants a network load balancer. */
function networkOnly(cloud: CloudProvider): CloudProvider {
  const inner = cloud.loadBalancer as LoadBalancer;
  const loadBalancer: LoadBalancer = {
    getLoadBalancer: (cluster, service) => inner.getLoadBalancer(cluster, asNetwork(service)),
    getLoadBalancerName: (cluster, service) => inner.getLoadBalancerName(cluster, asNetwork(service)),
    ensureLoadBalancer: (cluster, service, nodes) => inner.ensureLoadBalancer(cluster, asNetwork(service), nodes),
    updateLoadBalancer: (cluster, service, nodes) => inner.updateLoadBalancer(cluster, asNetwork(service), nodes),
    ensureLoadBalancerDeleted: (cluster, service) => inner.ensureLoadBalancerDeleted(cluster, asNetwork(service)),
  };
  return { ...cloud, loadBalancer };
}

const network: ConformanceTarget = {
  async open() {
    const world = await emulatedAws();
    return {
      ...world,
      cloud: networkOnly(world.cloud),
      secondProvider: async () => networkOnly((await world.secondProvider?.()) as CloudProvider),
    };
  },
};

const gone = 'load balancers: a machine that is gone keeps no other out';
const skips = {
  'routes: two families of one node are two routes': 'the local cloud has IPv4 only',
  [gone]: 'as in upstream, what is known of instances counts for ten minutes, and a Node without one is deleted before',
};

describe('the provider for AWS on the emulated AWS', () => {
  describe('classic load balancers, instances, routes', () =>
    conformance({ open: emulatedAws, instancesMany: 60, skips }, { describe, it }));
  describe('network load balancers', () => {
    for (const { name, run } of conformanceCases(network)) if (name.startsWith('load balancers') && name !== gone) it(name, run);
  });
});
