// A vendor's API that has no word for «not yet» answers a change when its load balancer serves, and not before.
import { expect, it } from 'vitest';
import type { Driver, DriverContext, LoadBalancer } from '#cloud';
import { nodeOf, providerOf, webService } from './vendor-conformance.ts';
import { cluster, vendorWorld } from './vendor-world.ts';

/** Load balancers stay as they were made until `activate`. */
async function slowWorld() {
  let context: DriverContext | undefined;
  const slow = (given: DriverContext): Driver => {
    context = given;
    return { name: 'slow load balancers', realise: () => Promise.resolve(), close: () => Promise.resolve() };
  };
  const world = await vendorWorld('linode', undefined, undefined, slow);
  await world.addInstance('a');
  const cloud = await providerOf(world);
  const nodes = [await nodeOf(cloud, 'a')];
  return {
    world,
    ensure: (name: string, signal?: AbortSignal) => {
      const service = webService();
      Object.assign(service.metadata, { name, uid: name });
      return cloud.loadBalancer?.ensureLoadBalancer(cluster, service, nodes, signal);
    },
    activate: (balancer: LoadBalancer | undefined): void =>
      context?.observe({ kind: 'load-balancer-state', loadBalancerId: balancer?.id ?? '', state: 'active' }),
  };
}

it('answers when the load balancer serves', async () => {
  const { world, ensure, activate } = await slowWorld();
  try {
    let isAnswered = false;
    const made = ensure('web')?.finally(() => (isAnswered = true));
    await expect.poll(world.balancers).toMatchObject([{ state: 'provisioning' }]);
    // Many times as long as an answer takes.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(isAnswered).toBe(false);
    const [balancer] = await world.balancers();
    activate(balancer);
    expect(await made).toMatchObject({ ingress: [{ ip: balancer?.address }] });
  } finally {
    await world.close();
  }
});

it('waits for those that a change concerns, and for no other', { timeout: 30_000 }, async () => {
  const { world, ensure, activate } = await slowWorld();
  try {
    const caller = new AbortController();
    const given = ensure('never', caller.signal)?.catch(String);
    await expect.poll(world.balancers).toHaveLength(1);
    caller.abort(new Error('gone'));
    await given;
    const made = ensure('web');
    // The change that nobody waits for any more ends after five seconds.
    await expect.poll(world.balancers, { timeout: 15_000 }).toHaveLength(2);
    const own = (await world.balancers())[1];
    const sinceMs = performance.now();
    activate(own);
    expect(await made).toMatchObject({ ingress: [{ ip: own?.address }] });
    // None of its changes has waited for the other one.
    expect(performance.now() - sinceMs).toBeLessThan(5_000);
    expect((await world.balancers()).map(({ state }) => state)).toEqual(['provisioning', 'active']);
  } finally {
    await world.close();
  }
});
