// A vendor's API that has no word for «not yet» answers a change when its load balancer serves, and not before.
import { expect, it } from 'vitest';
import type { Driver, DriverContext, LoadBalancer } from '#cloud';
import { nodeOf, providerOf, webService } from './vendor-conformance.ts';
import { cluster, vendorWorld } from './vendor-world.ts';

it('answers when the load balancer serves, whatever becomes of others', async () => {
  let context: DriverContext | undefined;
  // Load balancers stay as they were made until somebody says otherwise.
  const slow = (given: DriverContext): Driver => {
    context = given;
    return { name: 'slow load balancers', realise: () => Promise.resolve(), close: () => Promise.resolve() };
  };
  const world = await vendorWorld('linode', undefined, undefined, slow);
  try {
    await world.addInstance('a');
    const cloud = await providerOf(world);
    const nodes = [await nodeOf(cloud, 'a')];
    let isAnswered = false;
    const made = cloud.loadBalancer?.ensureLoadBalancer(cluster, webService(), nodes).finally(() => (isAnswered = true));
    await expect.poll(world.balancers).toMatchObject([{ state: 'provisioning' }]);
    // Many times as long as an answer takes.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(isAnswered).toBe(false);
    const becomes = (balancer: LoadBalancer | undefined, state: LoadBalancer['state']): void =>
      context?.observe({ kind: 'load-balancer-state', loadBalancerId: balancer?.id ?? '', state });
    const [balancer] = await world.balancers();
    becomes(balancer, 'active');
    expect(await made).toMatchObject({ ingress: [{ ip: balancer?.address }] });
    becomes(balancer, 'provisioning');
    const another = webService();
    Object.assign(another.metadata, { name: 'another', uid: 'another' });
    const sinceMs = performance.now();
    const madeToo = cloud.loadBalancer?.ensureLoadBalancer(cluster, another, nodes);
    await expect.poll(world.balancers).toHaveLength(2);
    const second = (await world.balancers()).find(({ id }) => id !== balancer?.id);
    becomes(second, 'active');
    expect(await madeToo).toMatchObject({ ingress: [{ ip: second?.address }] });
    // Nobody has waited for the first one, which takes five seconds at most.
    expect(performance.now() - sinceMs).toBeLessThan(5_000);
    expect((await world.balancers()).map(({ state }) => state).sort()).toEqual(['active', 'provisioning']);
  } finally {
    await world.close();
  }
});
