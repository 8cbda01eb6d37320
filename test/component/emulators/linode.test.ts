// The provider for Linode on the emulated Linode: the suite that every provider passes, and what only this vendor has. What is looked at past the provider is the
// local cloud's.
import { describe, expect, it } from 'vitest';
import { conformance } from '#cloud-provider/conformance';
import { anotherLife, forgotten, nodeOf, openVendor, ownerOnly, providerOf, webService } from './vendor-conformance.ts';
import { cluster, vendorWorld, type VendorWorld } from './vendor-world.ts';

describe('the provider for Linode on the emulated Linode', () =>
  conformance(
    {
      open: () => openVendor('linode'),
      instancesMany: 30,
      skips: { 'routes: two families of one node are two routes': 'the local cloud has IPv4 only' },
    },
    { describe, it },
  ));

describe('the emulated Linode', () => {
  const withWorld = async (work: (world: VendorWorld, ask: typeof fetch) => Promise<void>): Promise<void> => {
    const world = await vendorWorld('linode');
    const headers = { authorization: `Bearer ${world.setup.env['LINODE_API_TOKEN']}`, 'content-type': 'application/json' };
    try {
      await work(world, (path, init) => fetch(`${world.server.url}/v4${String(path)}`, { headers, ...init }));
    } finally {
      await world.close();
    }
  };
  const prefix = 'service.beta.kubernetes.io/linode-loadbalancer-';

  it('knows its NodeBalancers in another life, and keeps nothing of those that are deleted', () => anotherLife('linode'));

  it('shows instances as Linodes, and answers nobody without its token', () =>
    withWorld(async (world, ask) => {
      await world.addInstance('a');
      const { data } = (await (await ask('/linode/instances')).json()) as { data: { id: number; label: string }[] };
      expect(data.map(({ id, label }) => [label, id.toString(16).padStart(8, '0')])).toEqual([
        ['a', world.instances.get('a')?.slice(2)],
      ]);
      for (const authorization of ['', 'Bearer x', `Bearer ${'x'.repeat(5_000)}`]) {
        const answer = await ask('/linode/instances', { headers: { authorization } });
        expect([answer.status, await answer.json()]).toEqual([401, { errors: [{ reason: 'Invalid Token' }] }]);
      }
      await ownerOnly(world, ['flags']);
    }));

  it('routes pods to their Linode, and shows the route as a range of its interface', () =>
    withWorld(async (world, ask) => {
      await world.addInstance('a');
      const { routes } = await providerOf(world);
      const route = { name: '', targetNode: 'a', destinationCidr: '10.244.1.0/24', targetNodeAddresses: [] };
      await routes?.createRoute(cluster, 'a', route);
      const inCloud = async () =>
        (await world.memory.client().getRouteTable({ routeTableId: world.routeTableId })).routes.filter(
          ({ destination }) => destination === route.destinationCidr,
        );
      expect(await inCloud()).toMatchObject([{ target: { kind: 'instance', id: world.instances.get('a') } }]);
      await world.again();
      const { data } = (await (await ask('/vpcs/1/ips')).json()) as { data: { address_range: string | null }[] };
      expect(data.map(({ address_range: range }) => range)).toEqual([null, '10.244.1.0/24']);
      await world.terminateInstance('a');
      expect(await (await ask('/vpcs/1/ips')).json()).toMatchObject({ data: [] });
      expect(await inCloud()).toEqual([]);
    }));

  it('lets in whom the firewall of a NodeBalancer lets in, and gives a private address to one in the VPC', () =>
    withWorld(async (world) => {
      await world.addInstance('a');
      const cloud = await providerOf(world);
      const nodes = [await nodeOf(cloud, 'a')];
      const ranges = { loadBalancerSourceRanges: ['192.0.2.0/24'] };
      await cloud.loadBalancer?.ensureLoadBalancer(cluster, webService(ranges), nodes);
      expect(await world.balancers()).toMatchObject([
        {
          kind: 'proxy',
          listeners: [{ protocol: 'tcp', port: 80, targetPort: 30_080 }],
          sourceRanges: ['192.0.2.0/24'],
          healthCheck: { protocol: 'tcp', port: 30_080 },
        },
      ]);
      await cloud.loadBalancer?.ensureLoadBalancerDeleted(cluster, webService());
      const inside = webService({}, { [`${prefix}frontend-subnet-id`]: '1' });
      const status = await cloud.loadBalancer?.ensureLoadBalancer(cluster, inside, nodes);
      expect(await world.balancers()).toMatchObject([{ scheme: 'internal', address: status?.ingress?.[0]?.ip }]);
      await forgotten(world);
    }));

  it.each([
    [{ 'default-protocol': 'tcp', 'check-type': 'http_body', 'check-body': 'ok' }, 'health checks that read answers'],
    [{ 'firewall-acl': '{"denyList":{"ipv4":["192.0.2.0/24"]}}' }, 'rules that drop'],
    [{ 'reserved-ipv4': '203.0.113.9' }, 'Must be a reserved address'],
  ])('refuses what the local cloud has not, and keeps nothing of it: %j', (annotations, words) =>
    withWorld(async (world, ask) => {
      await world.addInstance('a');
      const cloud = await providerOf(world);
      const named = Object.fromEntries(Object.entries(annotations).map(([name, value]) => [prefix + name, value]));
      const nodes = [await nodeOf(cloud, 'a')];
      await expect(cloud.loadBalancer?.ensureLoadBalancer(cluster, webService({}, named), nodes)).rejects.toThrow(words);
      expect(await (await ask('/nodebalancers')).json()).toMatchObject({ data: [] });
      expect(await world.balancers()).toEqual([]);
    }),
  );
});
