// A vendor's API that has no word for «not yet» answers a change when its load balancer serves, and not before.
import { expect, it } from 'vitest';
import type { Driver, DriverContext } from '#cloud';
import { nodeOf, providerOf, webService } from './vendor-conformance.ts';
import { cluster, vendorWorld } from './vendor-world.ts';

it('answers when the load balancer serves', async () => {
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
    const [balancer] = await world.balancers();
    context?.observe({ kind: 'load-balancer-state', loadBalancerId: balancer?.id ?? '', state: 'active' });
    expect(await made).toMatchObject({ ingress: [{ ip: balancer?.address }] });
  } finally {
    await world.close();
  }
});
