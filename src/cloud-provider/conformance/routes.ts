// Contracts of routes: what is made is listed, twice is once, two families have two names.
import assert from 'node:assert/strict';
import type { Route, Routes } from '../types.ts';
import type { Checks } from './suite.ts';
import type { ConformanceWorld } from './target.ts';

const routes = ({ cloud }: ConformanceWorld): Routes => {
  assert.ok(cloud.routes, 'the provider offers routes');
  return cloud.routes;
};
const wanted = (targetNode: string, destinationCidr: string): Route => ({
  name: '',
  targetNode,
  destinationCidr,
  targetNodeAddresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
});
const listed = async (world: ConformanceWorld): Promise<string[]> =>
  (await routes(world).listRoutes(world.cluster))
    .map(({ targetNode, destinationCidr }) => `${targetNode} ${destinationCidr}`)
    .sort();

export const routeChecks: Checks = {
  'routes: none at first': async (world) => assert.deepEqual(await listed(world), []),
  'routes: made, listed, deleted': async (world) => {
    await world.addInstance('node-a');
    await routes(world).createRoute(world.cluster, 'uid-a', wanted('node-a', '10.244.1.0/24'));
    const all = await routes(world).listRoutes(world.cluster);
    assert.deepEqual(await listed(world), ['node-a 10.244.1.0/24']);
    assert.ok(all[0]);
    assert.notEqual(all[0].name, '');
    await routes(world).deleteRoute(world.cluster, all[0]);
    await routes(world).deleteRoute(world.cluster, all[0]);
    assert.deepEqual(await listed(world), []);
  },
  'routes: making one again changes nothing': async (world) => {
    await world.addInstance('node-a');
    for (let round = 0; round < 2; round++)
      await routes(world).createRoute(world.cluster, 'uid-a', wanted('node-a', '10.244.1.0/24'));
    assert.deepEqual(await listed(world), ['node-a 10.244.1.0/24']);
  },
  'routes: of two of one node, the one that is deleted goes': async (world) => {
    await world.addInstance('node-a');
    for (const cidr of ['10.244.1.0/24', '10.244.2.0/24'])
      await routes(world).createRoute(world.cluster, 'uid-a', wanted('node-a', cidr));
    const first = (await routes(world).listRoutes(world.cluster)).find(
      ({ destinationCidr }) => destinationCidr === '10.244.1.0/24',
    );
    assert.ok(first);
    await routes(world).deleteRoute(world.cluster, first);
    assert.deepEqual(await listed(world), ['node-a 10.244.2.0/24']);
  },
  'routes: that of a terminated machine can be removed': async (world) => {
    await world.addInstance('node-a');
    await routes(world).createRoute(world.cluster, 'uid-a', wanted('node-a', '10.244.1.0/24'));
    await world.terminateInstance('node-a');
    for (const route of await routes(world).listRoutes(world.cluster)) {
      assert.equal(route.destinationCidr, '10.244.1.0/24');
      await routes(world).deleteRoute(world.cluster, route);
    }
    assert.deepEqual(await routes(world).listRoutes(world.cluster), []);
  },
  'routes: that of a stopped machine stays': async (world) => {
    await world.addInstance('node-a');
    await routes(world).createRoute(world.cluster, 'uid-a', wanted('node-a', '10.244.1.0/24'));
    assert.ok(world.stopInstance, 'the target can stop a machine');
    await world.stopInstance('node-a');
    await routes(world).createRoute(world.cluster, 'uid-a', wanted('node-a', '10.244.1.0/24'));
    const [route] = await routes(world).listRoutes(world.cluster);
    assert.deepEqual({ to: route?.targetNode, blackhole: route?.blackhole ?? false }, { to: 'node-a', blackhole: false });
  },
  'routes: two families of one node are two routes': async (world) => {
    await world.addInstance('node-a');
    await routes(world).createRoute(world.cluster, 'uid-a', wanted('node-a', '10.244.1.0/24'));
    await routes(world).createRoute(world.cluster, 'uid-a', wanted('node-a', 'fd00:10:244:1::/64'));
    const all = await routes(world).listRoutes(world.cluster);
    assert.equal(all.length, 2);
    assert.notEqual(all[0]?.name, all[1]?.name);
  },
};
