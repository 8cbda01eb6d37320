// Load balancers of many Services at once on the emulated AWS: the rules of nodes are for all of them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LoadBalancer } from '#cloud-provider';
import { serviceNamed } from '../../../src/cloud/provider/test-support/fixtures.ts';
import { annotated, cluster, type EmulatedAws, emulatedAws } from './aws-world.ts';

let world: EmulatedAws;
beforeAll(async () => {
  world = await emulatedAws();
  await world.addInstance('a');
});
afterAll(() => world?.close());

describe('network load balancers that come and go together', () => {
  it('leave nothing in the groups of nodes', async () => {
    const balancers = world.cloud.loadBalancer as LoadBalancer;
    const services = Array.from({ length: 6 }, (_, index) => annotated(serviceNamed(`web-${index}`, index + 1), { type: 'nlb' }));
    await Promise.all(services.map((service) => balancers.ensureLoadBalancer(cluster, service, [world.node('a')])));
    const group = () => world.memory.client().getSecurityGroup({ securityGroupId: world.nodeGroupId });
    const descriptions = (await group()).ingress.map(({ description = '' }) => description);
    expect(descriptions.filter((text) => text.includes('nlb/client'))).toHaveLength(6);
    expect(descriptions.filter((text) => text.includes('nlb/mtu'))).toEqual(['[icmp 3/4] kubernetes.io/rule/nlb/mtu']);
    // Long enough for all of them to have read the group before the first one changes it.
    world.memory.setFaults({ latencyMs: 60, operations: ['revokeSecurityGroupIngress'] });
    await Promise.all(services.map((service) => balancers.ensureLoadBalancerDeleted(cluster, service)));
    expect((await group()).ingress).toEqual([]);
    expect(await world.leftovers?.()).toEqual([]);
  });
});
