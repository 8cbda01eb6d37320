// Load balancers of many Services at once on the emulated AWS, whose rules of nodes are for all of them; and of one that changes its kind, or
// the side that it is on.
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

describe('a Service without a status whose kind was changed', () => {
  const web = serviceNamed('web', 7);
  const [classic, network] = [web, annotated(web, { type: 'nlb' })];
  it.each([
    ['classic', classic, network],
    ['network', network, classic],
  ])('leaves nothing of its %s load balancer', async (_kind, before, after) => {
    const balancers = world.cloud.loadBalancer as LoadBalancer;
    const nodes = [world.node('a')];
    await balancers.ensureLoadBalancer(cluster, before, nodes);
    await balancers.ensureLoadBalancer(cluster, after, nodes);
    expect((await world.memory.client().listLoadBalancers({})).items).toHaveLength(1);
    await balancers.ensureLoadBalancerDeleted(cluster, after);
    expect(await world.leftovers?.()).toEqual([]);
    await balancers.ensureLoadBalancer(cluster, before, nodes);
    expect(await balancers.getLoadBalancer(cluster, after)).toBeDefined();
    await balancers.ensureLoadBalancerDeleted(cluster, after);
    expect(await world.leftovers?.()).toEqual([]);
  });
});

it.each([
  ['classic', {}],
  ['network', { type: 'nlb' }],
])('a %s load balancer is not taken for one inside because its Service asks for that later', async (_kind, notes) => {
  const balancers = world.cloud.loadBalancer as LoadBalancer;
  const web = serviceNamed('web', 8);
  const nodes = [world.node('a')];
  await balancers.ensureLoadBalancer(cluster, annotated(web, notes), nodes);
  const inside = annotated(web, { ...notes, internal: 'true' });
  await expect(balancers.ensureLoadBalancer(cluster, inside, [])).rejects.toThrow(
    /asks for internal, and load balancer \S+ is internet-facing/,
  );
  expect(await world.backends?.(inside)).toEqual([]);
  await balancers.ensureLoadBalancerDeleted(cluster, inside);
  expect(await world.leftovers?.()).toEqual([]);
});
