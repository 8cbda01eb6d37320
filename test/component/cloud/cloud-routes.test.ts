// Routes and what Nodes are told of them (facts of upstream's route controller).
import { afterEach, describe, expect, it } from 'vitest';
import { conflict } from '#apimachinery/errors';
import type { CloudProvider, Route, Routes } from '#cloud-provider';
import { parseClusterCidrs } from '#cloud-controller-manager';
import { type CloudWorld, type CloudWorldOptions, startCloudWorld } from './world.ts';

let world: CloudWorld;
const start = async (options: CloudWorldOptions = {}): Promise<void> => {
  world = await startCloudWorld({ controllers: ['route'], ...options });
  closed = false;
};
let closed = true;
afterEach(async () => {
  if (!closed) await world.close();
  closed = true;
});

const routed = () => [...world.cloud.routes.values()].map((one) => `${one.targetNode} ${one.destinationCidr}`).sort();
const network = async (name: string) => {
  const found = (await world.node(name)).status?.conditions?.find(({ type }) => type === 'NetworkUnavailable');
  return found && [found.status, found.reason, found.message];
};
const cidr = (podCIDR: string) => ({ spec: { podCIDR, podCIDRs: [podCIDR] } });
const routeCalls = (): string[] =>
  world.cloud.gate.calls.map(({ operation }) => operation).filter((operation) => operation !== 'listRoutes');
/** A cloud whose routes are these functions. */
const withRoutes =
  (routes: Partial<Routes>) =>
  (provider: CloudProvider): CloudProvider => ({
    ...provider,
    ...(provider.routes && { routes: { ...provider.routes, ...routes } }),
  });
const foreign = { name: 'vpn', cluster: 'kubernetes', targetNode: '', targetNodeAddresses: [], createdMs: 0 };

describe('routes', () => {
  it('are made for nodes with a CIDR, who then say so', async () => {
    await start();
    await world.addNode('a', cidr('10.244.1.0/24'));
    await world.addNode('b');
    await world.clock.advance(11_000);
    expect(routed()).toEqual(['a 10.244.1.0/24']);
    expect(await network('a')).toEqual(['False', 'RouteCreated', 'RouteController created a route']);
    expect(await network('b')).toBeUndefined();
  });
  it('of others stay; those to nowhere and of no node go', async () => {
    await start();
    world.cloud.routes.set('vpn', { ...foreign, destinationCidr: '192.168.0.0/16' });
    world.cloud.routes.set('old', { ...foreign, name: 'old', targetNode: 'gone', destinationCidr: '10.244.9.0/24' });
    await world.addNode('a', cidr('10.244.1.0/24'));
    await world.clock.advance(11_000);
    expect(routed()).toEqual([' 192.168.0.0/16', 'a 10.244.1.0/24']);
    for (const route of world.cloud.routes.values()) if (route.targetNode === 'a') route.blackhole = true;
    await world.clock.advance(21_000);
    expect([...world.cloud.routes.values()].filter(({ blackhole }) => blackhole)).toEqual([]);
    expect(routed()).toEqual([' 192.168.0.0/16', 'a 10.244.1.0/24']);
  });
  it('that cannot be made are told, and the node says so until they are', async () => {
    await start();
    world.cloud.gate.failNext('createRoute', new Error('table is full'));
    const { metadata } = await world.addNode('a', cidr('10.244.1.0/24'));
    await world.clock.advance(11_000);
    expect(await network('a')).toEqual(['True', 'NoRouteCreated', 'RouteController failed to create a route']);
    expect(await world.events('a')).toEqual([
      `FailedToCreateRoute: Could not create route ${metadata.uid} 10.244.1.0/24 for node a after 0s: table is full`,
    ]);
    await world.clock.advance(10_000);
    expect((await network('a'))?.[1]).toBe('RouteCreated');
  });
  it('follow the addresses of nodes where the cloud asks for it', async () => {
    await start({ provider: { routesFollowAddresses: true } });
    await world.addNode('a', { ...cidr('10.244.1.0/24'), status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] } });
    await world.clock.advance(11_000);
    await world.patchNode('a', { status: { addresses: [{ type: 'InternalIP', address: '10.0.0.2' }] } }, 'status');
    await world.clock.advance(21_000);
    expect([...world.cloud.routes.values()]).toMatchObject([{ targetNodeAddresses: [{ address: '10.0.0.2' }] }]);
  });
  it('are looked at when nodes change, with the feature gate', async () => {
    await start({ config: { watchBasedRoutes: true } });
    await world.clock.advance(30_000);
    const before = world.cloud.gate.calls.length;
    await world.addNode('a', cidr('10.244.1.0/24'));
    await world.clock.advance(100);
    expect(routed()).toEqual(['a 10.244.1.0/24']);
    await world.clock.advance(600_000);
    expect(world.cloud.gate.calls.length - before).toBeLessThanOrEqual(4);
  });
  it('of the first node do not wait for a look that found nothing to do, and those of the next one for one that did', async () => {
    await start({ config: { watchBasedRoutes: true } });
    await world.clock.advance(100);
    await world.addNode('a', cidr('10.244.1.0/24'));
    await world.clock.advance(100);
    expect(routed()).toEqual(['a 10.244.1.0/24']);
    await world.addNode('b', cidr('10.244.2.0/24'));
    await world.clock.advance(100);
    expect(routed()).toEqual(['a 10.244.1.0/24']);
    await world.clock.advance(10_000);
    expect(routed()).toEqual(['a 10.244.1.0/24', 'b 10.244.2.0/24']);
  });
  it('that are there are kept, without a call', async () => {
    await start();
    await world.addNode('a', cidr('10.244.1.0/24'));
    await world.clock.advance(11_000);
    const before = routeCalls().length;
    const { resourceVersion } = (await world.node('a')).metadata;
    await world.clock.advance(60_000);
    expect(routeCalls()).toHaveLength(before);
    expect((await world.node('a')).metadata.resourceVersion).toBe(resourceVersion);
  });
  it('are two for a node of two families', async () => {
    await start({ clusterCidrs: ['10.244.0.0/16', 'fd00:10::/48'] });
    const podCIDRs = ['10.244.1.0/24', 'fd00:10:0:1::/64'];
    await world.addNode('a', { spec: { podCIDR: podCIDRs[0], podCIDRs } });
    await world.clock.advance(11_000);
    expect(routed()).toEqual(['a 10.244.1.0/24', 'a fd00:10:0:1::/64']);
    expect((await network('a'))?.[1]).toBe('RouteCreated');
    world.cloud.gate.failNext('createRoute', new Error('no IPv6'));
    await world.addNode('b', { spec: { podCIDR: '10.244.2.0/24', podCIDRs: ['10.244.2.0/24', 'fd00:10:0:2::/64'] } });
    await world.clock.advance(10_000);
    expect((await network('b'))?.[1]).toBe('NoRouteCreated');
    expect((await network('a'))?.[1]).toBe('RouteCreated');
  });
  it('of a node that lost its CIDR go, and it says so', async () => {
    await start();
    world.cloud.routes.set('old', { ...foreign, name: 'old', targetNode: 'a', destinationCidr: '10.244.9.0/24' });
    await world.addNode('a');
    await world.clock.advance(11_000);
    expect(routed()).toEqual([]);
    expect((await network('a'))?.[1]).toBe('NoRouteCreated');
  });
  it('are made with the UID and addresses of the node', async () => {
    const made: [string, Route][] = [];
    const createRoute: Routes['createRoute'] = (_cluster, hint, route) => Promise.resolve(void made.push([hint, route]));
    await start({ cloud: withRoutes({ createRoute }) });
    const addresses = [{ type: 'InternalIP', address: '10.0.0.9' }];
    const { metadata } = await world.addNode('a', { ...cidr('10.244.1.0/24'), status: { addresses } });
    await world.clock.advance(11_000);
    const route = { targetNode: 'a', targetNodeAddresses: addresses, destinationCidr: '10.244.1.0/24' };
    expect(made[0]).toEqual([metadata.uid, { name: '', ...route }]);
  });
  it('are made with at most 200 calls at a time', async () => {
    let [inFlight, most, made] = [0, 0, 0];
    const createRoute: Routes['createRoute'] = async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await world.clock.sleep(100);
      inFlight -= 1;
      made += 1;
    };
    await start({ cloud: withRoutes({ createRoute }) });
    const count = 450;
    for (let index = 0; index < count; index++)
      await world.addNode(`n${index}`, cidr(`10.244.${index >> 1}.${(index & 1) * 128}/25`));
    await world.clock.until(() => made >= count, 30_000);
    expect(most).toBe(200);
  });
  it('that meet a conflict are tried five times, each told', async () => {
    const full = conflict({ group: '', resource: 'routes' }, 'a', 'locked');
    await start();
    world.cloud.gate.failNext('createRoute', full, full, full, full);
    await world.addNode('a', cidr('10.244.1.0/24'));
    await world.clock.advance(10_900);
    expect(routeCalls()).toHaveLength(5);
    expect((await network('a'))?.[1]).toBe('RouteCreated');
    expect((await world.events('a')).every((text) => text.startsWith('FailedToCreateRoute'))).toBe(true);
    world.cloud.gate.failNext('createRoute', full, full, full, full, full);
    await world.addNode('b', cidr('10.244.2.0/24'));
    await world.clock.advance(10_000);
    expect((await network('b'))?.[1]).toBe('NoRouteCreated');
  });
  it.each([true, false])(
    'are removed before others are made only where they follow addresses (%s)',
    async (routesFollowAddresses) => {
      await start({ provider: { routesFollowAddresses } });
      const addresses = (address: string) => ({ status: { addresses: [{ type: 'InternalIP', address }] } });
      await world.addNode('a', { ...cidr('10.244.1.0/24'), ...addresses('10.0.0.1') });
      await world.clock.advance(11_000);
      const stale = { ...foreign, name: 'stale', targetNode: 'x', destinationCidr: '10.244.9.0/24' };
      world.cloud.routes.set('stale', stale);
      const before = world.cloud.gate.calls.length;
      world.cloud.gate.faults.latencyMs = 500;
      await world.patchNode('a', addresses('10.0.0.2'), 'status');
      await world.addNode('b', cidr('10.244.2.0/24'));
      await world.clock.advance(15_000);
      const times = (operation: string): number[] =>
        world.cloud.gate.calls.slice(before).flatMap((call) => (call.operation === operation ? [call.atMs] : []));
      const [lastRemoval, firstMade] = [Math.max(...times('deleteRoute')), Math.min(...times('createRoute'))];
      expect(firstMade - lastRemoval).toBe(routesFollowAddresses ? 500 : 0);
      const found = [...world.cloud.routes.values()].find(({ targetNode }) => targetNode === 'a');
      expect(found?.targetNodeAddresses[0]?.address).toBe(routesFollowAddresses ? '10.0.0.2' : '10.0.0.1');
    },
  );
  it('that cannot be removed or listed are tried again', async () => {
    await start();
    world.cloud.routes.set('old', { ...foreign, name: 'old', targetNode: 'gone', destinationCidr: '10.244.9.0/24' });
    world.cloud.gate.failNext('listRoutes', new Error('no'));
    world.cloud.gate.failNext('deleteRoute', new Error('no'));
    await world.clock.advance(35_000);
    expect(routed()).toEqual([]);
  });
  it('of a CIDR that cannot be read stay', async () => {
    await start();
    world.cloud.routes.set('odd', { ...foreign, name: 'odd', destinationCidr: 'default' });
    await world.clock.advance(25_000);
    expect(routed()).toEqual([' default']);
  });
});

describe('cluster CIDRs', () => {
  it.each([
    [['10.244.0.0/16', '10.245.0.0/16'], 'not configured as dual stack'],
    [['10.244.0.0/16', 'fd00::/48', '10.245.0.0/16'], 'more than max allowed of 2'],
    [['10.244.0.0'], 'failed to parse cidr'],
  ])('%j end the start', (cidrs, message) => {
    expect(() => parseClusterCidrs(cidrs)).toThrow(message);
  });
});
