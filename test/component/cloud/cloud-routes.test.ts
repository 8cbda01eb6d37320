// Routes and what Nodes are told of them (facts of upstream's route controller).
import { afterEach, describe, expect, it } from 'vitest';
import { type CloudWorld, type CloudWorldOptions, startCloudWorld } from './world.ts';

let world: CloudWorld;
const start = async (options: CloudWorldOptions = {}): Promise<void> => {
  world = await startCloudWorld({ controllers: ['route'], ...options });
};
afterEach(() => world.close());

const routed = () => [...world.cloud.routes.values()].map((one) => `${one.targetNode} ${one.destinationCidr}`).sort();
const network = async (name: string) => {
  const found = (await world.node(name)).status?.conditions?.find(({ type }) => type === 'NetworkUnavailable');
  return found && [found.status, found.reason, found.message];
};
const cidr = (podCIDR: string) => ({ spec: { podCIDR, podCIDRs: [podCIDR] } });
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
});
