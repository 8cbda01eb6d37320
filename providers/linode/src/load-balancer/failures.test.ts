// What happens to NodeBalancers when calls fail: nothing twice, and nothing left behind.
import { retryAfterOf } from 'sagong/cloud-provider';
import { noRates, rejection } from 'sagong/cloud-provider/test-server';
import { describe, expect, it } from 'vitest';
import { acl, useBalancers } from '../../test-server/balancer-tests.ts';
import { backendsOf, leftoversOf } from '../../test-server/conformance-world.ts';
import { addNodes, serviceWith } from '../../test-server/world.ts';

const { ensure, get, one, remove, update, world } = useBalancers();

describe('when calls fail', () => {
  const service = serviceWith(acl('198.51.100.0/24'));
  it('a lost answer makes no second one', async () => {
    const { faults } = world.server;
    for (const path of ['/v4/nodebalancers', '/v4/networking/firewalls'])
      faults.add({ method: 'POST', path, status: 500, afterwards: true, message: 'lost' });
    faults.rates = { ...noRates, lagMs: 3_000 };
    const status = await ensure(service, addNodes(world, ['node-a']));
    world.clock.skip(3_000);
    expect([one().ipv4, world.server.account.of('firewall').length]).toEqual([status.ingress?.[0]?.ip, 1]);
  });
  it('what may have been made is looked for until it must show', async () => {
    const { faults } = world.server;
    faults.rates = { ...noRates, lagMs: 20_000 };
    faults.add({ method: 'POST', path: '/v4/nodebalancers', status: 500, afterwards: true, times: 9, message: 'lost' });
    const nodes = addNodes(world, ['node-a']);
    world.clock.skip(20_000);
    await rejection(ensure(serviceWith(), nodes));
    expect(await get(serviceWith())).toEqual({});
    expect(retryAfterOf(await rejection(remove(serviceWith())))).toBeGreaterThan(0);
    world.clock.skip(20_000);
    await remove(serviceWith());
    expect(leftoversOf(world.server)).toEqual([]);
    world.clock.skip(60_000);
    expect(await get(serviceWith())).toBeUndefined();
  });
  it('what is left of one half made exists, and goes with the Service', async () => {
    world.server.faults.add({ method: 'POST', path: '/v4/nodebalancers', status: 403, message: 'Unauthorized' });
    expect((await rejection(ensure(service, addNodes(world, ['node-a'])))).message).toContain(
      'CreateNodeBalancer: [403] Unauthorized',
    );
    expect(leftoversOf(world.server)).toHaveLength(1);
    expect(await get(service)).toEqual({});
    await remove(service);
    expect([leftoversOf(world.server), await get(service)]).toEqual([[], undefined]);
  });
  it.each([/nodebalancers\/\d+$/, /firewalls\/\d+$/])('deleting goes on where %s failed', async (path) => {
    await ensure(service, addNodes(world, ['node-a']));
    world.server.faults.add({ method: 'DELETE', path, status: 403, message: 'no' });
    await rejection(remove(service));
    expect(await get(service)).toBeDefined();
    await remove(service);
    expect([leftoversOf(world.server), await get(service)]).toEqual([[], undefined]);
  });
  it('a Linode that goes between two calls is no backend', async () => {
    const nodes = addNodes(world, ['node-a', 'node-b']);
    const { faults, account } = world.server;
    faults.add({ method: 'POST', path: '/v4/nodebalancers', then: () => account.removeLinode('node-b') });
    await ensure(service, nodes);
    expect(backendsOf(world.server, service)).toEqual(['node-a']);
    const later = addNodes(world, ['node-c']);
    faults.add({ method: 'POST', path: /rebuild$/, then: () => account.removeLinode('node-c') });
    await update(service, [...nodes, ...later]);
    expect(backendsOf(world.server, service)).toEqual(['node-a']);
  });
  it('what was deleted does not count, although the API shows it for a while', async () => {
    world.server.faults.rates = { ...noRates, lagMs: 10_000 };
    const nodes = addNodes(world, ['node-a']);
    const before = await ensure(service, nodes);
    world.clock.skip(10_000);
    await remove(service);
    expect(leftoversOf(world.server)).toEqual([]);
    const after = await ensure(service, nodes);
    expect(after).not.toEqual(before);
    expect(one().ipv4).toBe(after.ingress?.[0]?.ip);
  });
  it('throttling becomes a delay of the controller', async () => {
    world.server.faults.add({ status: 429, headers: { 'retry-after': '42' }, path: '/v4/nodebalancers' });
    expect(retryAfterOf(await rejection(ensure(service, [])))).toBe(42_000);
  });
});
