import type { Routes } from 'sagong/cloud-provider';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { addNodes, network, openWorld, project, type TestWorld, zones } from '../test-server/world.ts';

let world: TestWorld;
let routes: Routes;
const uid = '5a0c5d2e-1111-4222-8333-944445555666';
const cluster = 'a-cluster-with-a-name-of-more-than-26-characters';
beforeEach(async () => {
  world = await openWorld();
  routes = (await world.open()).routes as Routes;
});
afterEach(() => world.server.close());
const make = (targetNode: string, destinationCidr: string, hint = uid): Promise<void> =>
  routes.createRoute(cluster, hint, { name: '', targetNode, destinationCidr, targetNodeAddresses: [] });

it('a route has the name, description and priority that upstream gives it', async () => {
  addNodes(world, 'node-a');
  await make('node-a', '10.244.0.0/24');
  expect(world.server.projects.of('route')).toMatchObject([
    { name: `a-cluster-with-a-name-of-m-${uid}`, description: 'k8s-node-route', priority: 1000, destRange: '10.244.0.0/24' },
  ]);
});
it('both families of a Node have a route, by names that Google takes', async () => {
  addNodes(world, 'node-a');
  for (let round = 0; round < 2; round++) for (const range of ['10.244.0.0/24', 'fd00:10:244::/64']) await make('node-a', range);
  const all = await routes.listRoutes(cluster);
  expect(all.map(({ destinationCidr, targetNode }) => [destinationCidr, targetNode]).toSorted()).toEqual([
    ['10.244.0.0/24', 'node-a'],
    ['fd00:10:244::/64', 'node-a'],
  ]);
  for (const { name } of all) expect(name).toMatch(/^[a-z][-a-z0-9]{0,62}$/);
});
it('a route to an instance that is gone leads nowhere, and one to its successor takes its place', async () => {
  addNodes(world, 'node-a');
  await make('node-a', '10.244.0.0/24');
  world.server.projects.removeInstance('node-a');
  expect(await routes.listRoutes(cluster)).toMatchObject([{ blackhole: true, targetNode: 'node-a' }]);
  world.server.projects.addInstance(project, zones[2], 'node-a');
  await make('node-a', '10.244.0.0/24');
  expect(await routes.listRoutes(cluster)).toEqual([expect.not.objectContaining({ blackhole: true })]);
  expect(world.server.projects.of('route')[0]?.['nextHopInstance']).toContain(zones[2]);
});
it('routes of other clusters, other networks and other people are not shown', async () => {
  addNodes(world, 'node-a');
  const { projects } = world.server;
  const link = projects.instanceNamed('node-a')?.selfLink;
  const put = (name: string, fields: object): unknown =>
    projects.put(`projects/${project}/global/routes/${name}`, 'route', {
      description: 'k8s-node-route',
      network: `projects/${project}/global/networks/${network}`,
      nextHopInstance: link,
      destRange: '10.1.0.0/24',
      ...fields,
    });
  put('another-cluster-x', {});
  put('a-cluster-with-a-name-of-m-other-network', { network: `projects/${project}/global/networks/other` });
  put('a-cluster-with-a-name-of-m-by-hand', { description: 'mine' });
  expect(await routes.listRoutes(cluster)).toEqual([]);
  put('a-cluster-with-a-name-of-m-ours', {});
  expect(await routes.listRoutes(cluster)).toHaveLength(1);
});
it('lists are read over all their pages', async () => {
  addNodes(world, 'node-a');
  const link = world.server.projects.instanceNamed('node-a')?.selfLink;
  for (let count = 0; count < 1_001; count++)
    world.server.projects.put(`projects/${project}/global/routes/k-${count}`, 'route', {
      description: 'k8s-node-route',
      network: `projects/${project}/global/networks/${network}`,
      nextHopInstance: link,
      destRange: `10.${count >> 8}.${count & 255}.0/24`,
    });
  expect(await routes.listRoutes('k')).toHaveLength(1_001);
  expect(world.server.requests.filter(({ url }) => url.pathname.endsWith('/routes'))).toHaveLength(3);
});
