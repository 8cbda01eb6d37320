// The provider for AWS through the suite that every provider passes, once with classic and once with network load balancers.
import { afterAll, describe, it } from 'vitest';
import type { CloudProvider, LoadBalancer, Service } from '#cloud-provider';
import { conformance, conformanceCases, type ConformanceTarget, type OtherCluster } from '#cloud-provider/conformance';
import { type Moto, pythonWithMoto, startMoto } from './aws-moto.ts';
import { type AwsWorld, awsWorld } from './aws-world.ts';

const python = await pythonWithMoto();
const title = 'AWS, on moto (skipped without python3 and PyPI)';

let moto: Promise<Moto> | undefined;
const open = async (): Promise<AwsWorld> => awsWorld(await (moto ??= startMoto(python ?? '')));
afterAll(async () => (await moto)?.stop());

/** Every Service wants a network load balancer. */
function asNetwork(cloud: CloudProvider): CloudProvider {
  const { loadBalancer: inner } = cloud;
  if (!inner) return cloud;
  const type = 'service.beta.kubernetes.io/aws-load-balancer-type';
  const network = (service: Service): Service => ({
    ...service,
    metadata: { ...service.metadata, annotations: { ...service.metadata.annotations, [type]: 'nlb' } },
  });
  const loadBalancer: LoadBalancer = {
    getLoadBalancer: (cluster, service) => inner.getLoadBalancer(cluster, network(service)),
    getLoadBalancerName: (cluster, service) => inner.getLoadBalancerName(cluster, network(service)),
    ensureLoadBalancer: (cluster, service, nodes) => inner.ensureLoadBalancer(cluster, network(service), nodes),
    updateLoadBalancer: (cluster, service, nodes) => inner.updateLoadBalancer(cluster, network(service), nodes),
    ensureLoadBalancerDeleted: (cluster, service) => inner.ensureLoadBalancerDeleted(cluster, network(service)),
  };
  return { ...cloud, loadBalancer };
}

const network: ConformanceTarget = {
  async open() {
    const world = await open();
    const failing = await (moto as Promise<Moto>);
    return {
      ...world,
      cloud: asNetwork(world.cloud),
      failInTheMiddle: () => failing.failNext('CreateListener', 'TooManyListeners'),
      secondProvider: async () => asNetwork(await world.provider()),
      async otherCluster() {
        const other = (await world.otherCluster?.()) as OtherCluster;
        return { ...other, cloud: asNetwork(other.cloud) };
      },
    };
  },
};

describe.skipIf(python === undefined)(title, () => {
  describe('classic load balancers, instances, routes', () => conformance({ open, instancesMany: 60 }, { describe, it }));
  describe('network load balancers', () => {
    for (const { name, run } of conformanceCases(network)) if (name.startsWith('load balancers')) it(name, run);
  });
});
