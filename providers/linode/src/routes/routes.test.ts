import type { CloudInformers, Node, Routes } from 'sagong/cloud-provider';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorld, region, type TestWorld } from '../../test-server/world.ts';

let world: TestWorld;
let subnet: number;
beforeEach(async () => {
  world = await openWorld();
  const { account } = world.server;
  subnet = account.addSubnet(account.addVpc('k8s', region).id, 'default', '10.0.0.0/16', '2600:3c06:2::/48').id;
});
afterEach(() => world.server.close());

/** `nodes`: those of the cluster; without them there are no informers. */
async function open(nodes?: readonly Node[]): Promise<Routes & { gone(name: string): void }> {
  const cloud = await world.open({ flags: { vpcNames: ['k8s'], routeController: true } });
  const there = new Map(nodes?.map((node) => [node.metadata.name, node]));
  if (nodes)
    cloud.setInformers?.({
      informer: () => ({
        lister: { get: (_namespace: string, name: string) => there.get(name), list: () => [...there.values()] },
        addHandler(handler: { onAdd?(object: Node): void }) {
          for (const node of there.values()) handler.onAdd?.(node);
          return () => {};
        },
      }),
    } as unknown as CloudInformers);
  if (!cloud.routes) throw new Error('the provider has routes');
  return { ...cloud.routes, gone: (name) => void there.delete(name) };
}
const route = (targetNode: string, destinationCidr: string) => ({
  name: '',
  targetNode,
  targetNodeAddresses: [],
  destinationCidr,
});
const shown = async (routes: Routes) =>
  (await routes.listRoutes('kubernetes')).map(({ name, targetNode, destinationCidr }) =>
    [name, targetNode, destinationCidr].join(' '),
  );
const rangesOf = (linode: number) => world.server.account.of('interface').find((one) => one.linode === linode);
const nodeOf = (name: string, linode: number, podCIDRs: string[] = []): Node => ({
  metadata: { name },
  spec: { providerID: `linode://${linode}`, podCIDRs },
});

describe.each(['legacy_config', 'linode'] as const)('a route to a Linode with interfaces of generation %s', (generation) => {
  it('is a range of its interface, of either family', async () => {
    const { id } = world.server.account.addLinode('node-a', region, { subnet, generation });
    const routes = await open();
    await routes.createRoute('kubernetes', 'uid', route('node-a', '10.244.1.0/24'));
    await routes.createRoute('kubernetes', 'uid', route('node-a', '2600:3c06:2:1::/64'));
    expect(rangesOf(id)).toMatchObject({ ranges: ['10.244.1.0/24'], ipv6Ranges: ['2600:3c06:2:1::/64'] });
    expect(await shown(routes)).toEqual([
      `${id}/10.244.1.0/24 node-a 10.244.1.0/24`,
      `${id}/2600:3c06:2:1::/64 node-a 2600:3c06:2:1::/64`,
    ]);
    const [first] = await routes.listRoutes('kubernetes');
    if (first) await routes.deleteRoute('kubernetes', first);
    expect(rangesOf(id)).toMatchObject({ ranges: [], ipv6Ranges: ['2600:3c06:2:1::/64'] });
  });
  it('that is there costs no write', async () => {
    world.server.account.addLinode('node-a', region, { subnet, generation });
    const routes = await open();
    await routes.createRoute('kubernetes', 'uid', route('node-a', '10.244.1.0/24'));
    world.server.requests.length = 0;
    await routes.createRoute('kubernetes', 'uid', route('node-a', '10.244.1.0/24'));
    expect(world.server.requests.filter(({ method }) => method === 'PUT')).toEqual([]);
  });
});

it('routes that come together lose nothing of each other', async () => {
  const { id } = world.server.account.addLinode('node-a', region, { subnet });
  const routes = await open();
  const cidrs = Array.from({ length: 8 }, (_, number) => `10.244.${number}.0/24`);
  await Promise.all(cidrs.map((cidr) => routes.createRoute('kubernetes', 'uid', route('node-a', cidr))));
  expect(rangesOf(id)?.ranges.toSorted()).toEqual(cidrs);
});

it('ranges that somebody added by hand stay', async () => {
  const { id } = world.server.account.addLinode('node-a', region, { subnet });
  const there = rangesOf(id);
  if (there) world.server.account.put('interface', { ...there, ranges: ['192.168.7.0/24'] });
  const routes = await open();
  await routes.createRoute('kubernetes', 'uid', route('node-a', '10.244.1.0/24'));
  await routes.deleteRoute('kubernetes', { ...route('node-a', '10.244.1.0/24'), name: `${id}/10.244.1.0/24` });
  expect(rangesOf(id)?.ranges).toEqual(['192.168.7.0/24']);
});

it('a part of the range that a Linode has anyway is a route that needs nothing', async () => {
  const { id } = world.server.account.addLinode('node-a', region, { subnet });
  const there = rangesOf(id);
  if (there) world.server.account.put('interface', { ...there, ipv6Ranges: ['2600:3c06:2:5::/64'] });
  const routes = await open([nodeOf('node-a', id, ['10.244.1.0/24', '2600:3c06:2:5:1::/112'])]);
  world.server.requests.length = 0;
  await routes.createRoute('kubernetes', 'uid', route('node-a', '2600:3c06:2:5:1::/112'));
  const all = await routes.listRoutes('kubernetes');
  expect(all.map(({ destinationCidr }) => destinationCidr)).toEqual(['2600:3c06:2:5:1::/112']);
  for (const one of all) await routes.deleteRoute('kubernetes', one);
  expect(world.server.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
});

it('Linodes of other clusters in the VPC are left out, and Nodes that are gone are not', async () => {
  const ours = world.server.account.addLinode('lin-1', region, { subnet });
  const theirs = world.server.account.addLinode('lin-2', region, { subnet });
  for (const [index, { id }] of [ours, theirs].entries()) {
    const there = rangesOf(id);
    if (there) world.server.account.put('interface', { ...there, ranges: [`10.244.${index}.0/24`] });
  }
  const routes = await open([nodeOf('node-a', ours.id)]);
  expect(await shown(routes)).toEqual([`${ours.id}/10.244.0.0/24 node-a 10.244.0.0/24`]);
  routes.gone('node-a');
  expect(await shown(routes)).toEqual([`${ours.id}/10.244.0.0/24 node-a 10.244.0.0/24`]);
});

it('goes with its Linode', async () => {
  const { id } = world.server.account.addLinode('node-a', region, { subnet });
  const routes = await open();
  await routes.createRoute('kubernetes', 'uid', route('node-a', '10.244.1.0/24'));
  const [made] = await routes.listRoutes('kubernetes');
  world.server.account.removeLinode('node-a');
  if (made) await routes.deleteRoute('kubernetes', made);
  world.clock.skip(60_000);
  expect([await shown(routes), rangesOf(id)]).toEqual([[], undefined]);
});

it('waits for a Linode with a job under way', async () => {
  const { id } = world.server.account.addLinode('node-a', region, { subnet });
  world.server.faults.add({ method: 'PUT', status: 400, message: 'Linode busy.', times: 2 });
  await (await open()).createRoute('kubernetes', 'uid', route('node-a', '10.244.1.0/24'));
  expect(rangesOf(id)?.ranges).toEqual(['10.244.1.0/24']);
});

it('is refused in words for a Linode without an interface in the VPC, and for none', async () => {
  world.server.account.addLinode('node-a', region);
  const routes = await open();
  for (const name of ['node-a', 'nobody'])
    await expect(routes.createRoute('kubernetes', 'uid', route(name, '10.244.1.0/24'))).rejects.toThrow(
      `unable to add route 10.244.1.0/24 for node ${name}. no valid interface found`,
    );
});

it('is offered only with --enable-route-controller', async () => {
  expect((await world.open({ flags: { vpcNames: ['k8s'] } })).routes).toBeUndefined();
});
