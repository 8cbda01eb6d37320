import type { Routes } from 'sagong/cloud-provider';
import { expect, it, onTestFinished } from 'vitest';
import { location } from '../test-server/index.ts';
import { partsOf } from './emulator/resource.ts';
import { cluster, type OpenOptions, openWorld } from '../test-server/world.ts';

async function opened(options: OpenOptions = {}) {
  const world = await openWorld();
  onTestFinished(() => world.server.close());
  const routes = (await world.open(options)).routes as Routes;
  const { subscription } = world.server;
  const table = () => subscription.of('Microsoft.Network/routeTables')[0];
  const create = (targetNode: string, destinationCidr: string): Promise<void> =>
    routes.createRoute(cluster, 'uid', { name: '', targetNode, destinationCidr, targetNodeAddresses: [] });
  const writes = (): number => world.server.requests.filter(({ method }) => method === 'PUT').length;
  return { ...world, subscription, routes, table, create, writes };
}

it('a route has the name and the next hop that upstream gives it, in a table that is made for it', async () => {
  const { subscription, create, table } = await opened({ config: { tags: 'owner=shop' } });
  subscription.addMachine('node-a', location);
  await create('node-a', '10.244.1.0/24');
  expect(table()).toMatchObject({ name: 'nodes-routes', location, tags: { owner: 'shop' } });
  expect(partsOf(table(), 'routes')).toMatchObject([
    {
      name: 'node-a',
      properties: {
        addressPrefix: '10.244.1.0/24',
        nextHopType: 'VirtualAppliance',
        nextHopIpAddress: expect.stringMatching(/^10\.224\./),
      },
    },
  ]);
});
it('both families of a Node have a route, by names that differ', async () => {
  const { subscription, create, routes } = await opened();
  subscription.addMachine('node-a', location, { ipv6: true });
  await create('node-a', '10.244.1.0/24');
  await create('node-a', 'fd00:10:244:1::/64');
  expect((await routes.listRoutes(cluster)).map(({ name, targetNode }) => [name, targetNode])).toEqual([
    ['node-a', 'node-a'],
    ['node-a____fd0010244164', 'node-a'],
  ]);
});
it('routes that come together are few writes, and one that cannot be made fails alone', async () => {
  const { subscription, create, routes, writes } = await opened();
  const names = Array.from({ length: 30 }, (_, index) => `node-${index}`);
  for (const name of names) subscription.addMachine(name, location);
  const done = await Promise.allSettled([...names, 'nobody'].map((name, index) => create(name, `10.244.${index}.0/24`)));
  expect(done.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  expect(await routes.listRoutes(cluster)).toHaveLength(30);
  expect(writes()).toBeLessThan(20);
});
it('one that is there costs no write, and one of a machine that has another address now is mended', async () => {
  const { subscription, create, table, writes } = await opened();
  subscription.addMachine('node-a', location);
  await create('node-a', '10.244.1.0/24');
  await create('node-a', '10.244.1.0/24');
  expect(writes()).toBe(1);
  subscription.removeMachine('node-a');
  subscription.addMachine('node-a', location);
  await create('node-a', '10.244.1.0/24');
  expect(partsOf(table(), 'routes')).toHaveLength(1);
  expect(writes()).toBe(2);
});
it('of a Node of both families, the one that is deleted goes', async () => {
  const { subscription, create, routes } = await opened();
  subscription.addMachine('node-a', location, { ipv6: true });
  await create('node-a', '10.244.1.0/24');
  await create('node-a', 'fd00:10:244:1::/64');
  const [first] = await routes.listRoutes(cluster);
  await routes.deleteRoute(cluster, first as never);
  expect((await routes.listRoutes(cluster)).map(({ destinationCidr }) => destinationCidr)).toEqual(['fd00:10:244:1::/64']);
});
it('are not written where no table is named', async () => {
  const { create } = await opened({ config: { routeTableName: undefined } });
  await expect(create('node-a', '10.244.1.0/24')).rejects.toThrow('routeTableName is not configured');
});
