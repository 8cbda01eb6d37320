// Our provider for AWS on the emulated AWS, through the suite that every provider passes: once with classic and once with network load balancers.
import { describe, it } from 'vitest';
import type { CloudProvider, LoadBalancer, Service } from '#cloud-provider';
import {
  conformance,
  conformanceCases,
  type ConformanceTarget,
  type ConformanceWorld,
  type OtherCluster,
  persistent,
} from '#cloud-provider/conformance';
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
      // Its health checks come from its subnets, and are let in beside its clients.
      sources: async (service) => ((await world.sources?.(service)) ?? []).filter((range) => !range.startsWith('10.1.')),
      async otherCluster() {
        const other = (await world.otherCluster?.()) as OtherCluster;
        return { ...other, cloud: networkOnly(other.cloud) };
      },
      secondProvider: async () => networkOnly((await world.secondProvider?.()) as CloudProvider),
    };
  },
};

const skips = { 'routes: two families of one node are two routes': 'the local cloud has IPv4 only' };

async function openFlaky(): Promise<ConformanceWorld> {
  const { failInTheMiddle: _, ...world } = await emulatedAws({ flaky: true });
  return {
    ...world,
    cloud: persistent(world.cloud),
    async otherCluster() {
      const other = (await world.otherCluster?.()) as OtherCluster;
      return { ...other, cloud: persistent(other.cloud) };
    },
    secondProvider: async () => persistent((await world.secondProvider?.()) as CloudProvider),
  };
}
const onRequest = 'everything fails in the middle now and then';

describe('the provider for AWS on the emulated AWS', () => {
  describe('classic load balancers, instances, routes', () =>
    conformance({ open: () => emulatedAws(), instancesMany: 60, skips }, { describe, it }));
  describe('network load balancers', () => {
    for (const { name, run } of conformanceCases(network)) if (name.startsWith('load balancers')) it(name, run);
  });
  describe('with every fifth call failing: classic load balancers, instances, routes', () =>
    conformance(
      {
        open: openFlaky,
        instancesMany: 20,
        skips: {
          ...skips,
          'load balancers: after a failure in the middle the next call completes it': onRequest,
          'load balancers: what is left of one half made exists, and is deleted': onRequest,
        },
      },
      { describe, it },
    ));
});
