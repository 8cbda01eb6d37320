// What happens to load balancers when the APIs fail: nothing twice, nothing left behind, and words that a user can act on.
import { retryAfterOf } from 'sagong/cloud-provider';
import { noRates, rejection } from 'sagong/cloud-provider/test-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { leftoversOf } from '../../test-server/conformance-world.ts';
import { addNodes, serviceWith } from '../../test-server/world.ts';
import { type BalancerWorld, openBalancers } from '../../test-server/balancer-world.ts';

let world: BalancerWorld;
beforeEach(async () => void (world = await openBalancers()));
afterEach(() => world.server.close());

describe('a lost answer', () => {
  it.each(['/v1/blb', '/v1/eip', '/v2/securityGroup'])('of POST %s makes no second one', async (path) => {
    const service = serviceWith({}, { loadBalancerSourceRanges: ['10.0.0.0/8'] });
    world.server.faults.add({ method: 'POST', path, drop: true, afterwards: true, times: 4 });
    await rejection(world.ensure(service));
    await world.ensure(service);
    const { account } = world.server;
    expect([world.balancers(), world.eips(), account.of('group')].map(({ length }) => length)).toEqual([1, 1, 1]);
  });
  it('makes no second one for another manager either, while what was made is not shown', async () => {
    world.clock.skip(60_000);
    world.server.faults.rates = { ...noRates, lagMs: 20_000 };
    world.server.faults.add({ method: 'POST', path: '/v1/blb', drop: true, afterwards: true, times: 4 });
    await rejection(world.ensure(serviceWith()));
    const other = (await world.open()).loadBalancer;
    await other?.ensureLoadBalancer('kubernetes', serviceWith(), []);
    expect([world.balancers().length, world.eips().length]).toEqual([1, 1]);
  });
  it('leaves nothing behind when the Service goes before it is shown', async () => {
    world.clock.skip(60_000);
    world.server.faults.rates = { ...noRates, lagMs: 10_000 };
    world.server.faults.add({ method: 'POST', path: '/v1/blb', drop: true, afterwards: true, times: 4 });
    await rejection(world.ensure(serviceWith()));
    expect(await world.get(serviceWith())).toEqual({});
    const waiting = await rejection(world.remove(serviceWith()));
    expect([retryAfterOf(waiting), waiting.message]).toEqual([5_000, expect.stringContaining('is not shown yet')]);
    world.clock.skip(10_000);
    await world.remove(serviceWith());
    expect(leftoversOf(world.server)).toEqual([]);
  });
});

describe('one that somebody deleted by hand', () => {
  it('is made again', async () => {
    const service = serviceWith({ 'cce-load-balancer-internal-vpc': 'true' });
    await world.ensure(service);
    const [gone] = world.balancers();
    world.server.account.delete('balancer', gone?.blbId ?? '');
    for (const one of world.server.account.of('listener')) world.server.account.delete('listener', one.id);
    const first = await rejection(world.ensure(service));
    expect([retryAfterOf(first), first.message]).toEqual([
      5_000,
      expect.stringContaining('that was made for the service has gone'),
    ]);
    await world.ensure(service);
    expect(world.balancers().map(({ blbId }) => blbId)).not.toContain(gone?.blbId);
  });
  it('is made again at once by a manager that finds the note of it', async () => {
    const service = serviceWith({ 'cce-load-balancer-internal-vpc': 'true' });
    await world.ensure(service);
    const id = world.balancers()[0]?.blbId ?? '';
    world.server.account.delete('balancer', id);
    const notes = { 'cce-load-balancer-id': id, 'cce-load-balancer-cce-add-id': id };
    await world.ensure(serviceWith({ 'cce-load-balancer-internal-vpc': 'true', ...notes }));
    expect(world.balancers()).toHaveLength(1);
  });
  it('does not keep the same token with other parameters from making one', async () => {
    await world.ensure(serviceWith());
    const { blbId, name } = world.balancers()[0] ?? { blbId: '', name: '' };
    for (const { eip } of world.eips()) world.server.account.delete('eip', eip);
    world.server.account.delete('balancer', blbId);
    const renamed = serviceWith({ 'cce-load-balancer-lb-name': 'another', 'cce-load-balancer-internal-vpc': 'true' });
    for (let tries = 0; tries < 3 && world.balancers().length === 0; tries++) await world.ensure(renamed).catch(() => {});
    expect(world.balancers().map((one) => one.name)).toEqual(['another']);
    expect(name).not.toBe('another');
  });
});

describe('one that is half made', () => {
  it('exists, is completed by the next call, and goes with the Service', async () => {
    world.server.faults.add({ method: 'PUT', path: /\/v1\/eip/, status: 403, code: 'AccessDenied', message: 'Access denied.' });
    const error = await rejection(world.ensure(serviceWith(), addNodes(world, ['node-a'])));
    expect(error.message).toMatch(
      /^load balancer of shop\/web: BindEip: \[403 AccessDenied\] Access denied\. \(request request-\d+\)$/,
    );
    expect(await world.get(serviceWith())).toEqual({});
    await world.remove(serviceWith());
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('exists while only its EIP is left', async () => {
    await world.ensure(serviceWith());
    world.server.faults.add({ method: 'DELETE', path: /\/v1\/eip/, status: 500, times: 4 });
    await rejection(world.remove(serviceWith()));
    world.server.account.delete('balancer', world.balancers()[0]?.blbId ?? '');
    for (const one of world.server.account.of('listener')) world.server.account.delete('listener', one.id);
    expect(await world.get(serviceWith())).toEqual({});
    await world.remove(serviceWith());
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('is found again by another manager whatever the status says', async () => {
    await world.ensure(serviceWith());
    const other = (await world.open()).loadBalancer;
    await other?.ensureLoadBalancerDeleted('kubernetes', serviceWith());
    expect(leftoversOf(world.server)).toEqual([]);
  });
});

it('throttling becomes a delay of the controller', async () => {
  world.server.faults.add({ status: 429, code: 'RequestRateLimitExceeded', headers: { 'retry-after': '40' }, times: 9 });
  expect(retryAfterOf(await rejection(world.ensure(serviceWith())))).toBe(40_000);
});
it('one that is being changed is waited for, and one that is paused is told of', async () => {
  world.server.faults.rates = { ...noRates, operationMs: 4_000 };
  await world.ensure(serviceWith({ 'cce-load-balancer-internal-vpc': 'true' }));
  const [balancer] = world.balancers();
  if (balancer) world.server.account.put('balancer', { ...balancer, status: 'paused' });
  const error = await rejection(world.ensure(serviceWith({ 'cce-load-balancer-internal-vpc': 'true' })));
  expect(error.message).toBe(`load balancer of shop/web: BLB ${balancer?.blbId} is paused`);
});
it('a listener that somebody adds meanwhile is no failure when it is as it is wanted', async () => {
  world.server.faults.add({ method: 'POST', path: /TCPlistener/, drop: true, afterwards: true });
  await world.ensure(serviceWith());
  expect(world.server.account.of('listener')).toHaveLength(1);
});
