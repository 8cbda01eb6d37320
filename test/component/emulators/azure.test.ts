// The provider for Azure on the emulated Azure Resource Manager: the suite that every provider passes, and what only this vendor has. What is looked at past the
// provider is the local cloud's.
import { describe, expect, it } from 'vitest';
import { conformance } from '#cloud-provider/conformance';
import {
  anotherLife,
  azurePlace,
  forgotten,
  nodeOf,
  openVendor,
  ownerOnly,
  providerOf,
  webService,
} from './vendor-conformance.ts';
import { cluster, vendorWorld, type VendorWorld } from './vendor-world.ts';

describe('the provider for Azure on the emulated Azure', () =>
  conformance(
    {
      open: () => openVendor('azure', { place: azurePlace }),
      instancesMany: 30,
      skips: { 'routes: two families of one node are two routes': 'the local cloud has IPv4 only' },
    },
    { describe, it },
  ));

describe('the emulated Azure', () => {
  const withWorld = async (work: (world: VendorWorld) => Promise<void>): Promise<void> => {
    const world = await vendorWorld('azure', azurePlace);
    try {
      await work(world);
    } finally {
      await world.close();
    }
  };
  const prefix = 'service.beta.kubernetes.io/azure-';

  it('knows its load balancers in another life, and keeps nothing of those that are deleted', () =>
    anotherLife('azure', { place: azurePlace }));

  it('gives tokens to who has the secret of its managed identity, and answers nobody without one', () =>
    withWorld(async (world) => {
      await ownerOnly(world, ['cloud-config']);
      const { IDENTITY_ENDPOINT: endpoint = '', IDENTITY_HEADER: secret = '' } = world.setup.env;
      const token = async (header: string): Promise<number> =>
        (await fetch(`${endpoint}?resource=x&api-version=2019-08-01`, { headers: { 'x-identity-header': header } })).status;
      expect([await token(''), await token('x'), await token(secret)]).toEqual([401, 401, 200]);
      for (const authorization of ['', 'Bearer x', `Bearer ${secret}`, `Bearer ${'x'.repeat(5_000)}`]) {
        const answer = await fetch(`${world.server.url}/subscriptions?api-version=2024-01-01`, { headers: { authorization } });
        expect([answer.status, await answer.json()]).toMatchObject([401, { error: { code: 'InvalidAuthenticationToken' } }]);
      }
    }));

  it('makes a load balancer of a frontend and its rules, for those whom the security group lets in', () =>
    withWorld(async (world) => {
      await world.addInstance('a');
      const cloud = await providerOf(world);
      const nodes = [await nodeOf(cloud, 'a')];
      const id = '/resourceGroups/local-cloud/providers/Microsoft.Compute/virtualMachines/a';
      expect(nodes[0]?.spec?.providerID).toMatch(/^azure:\/\/\/subscriptions\/[0-9a-f-]{36}\//);
      expect(nodes[0]?.spec?.providerID).toContain(id);
      const service = webService({ loadBalancerSourceRanges: ['192.0.2.0/24'] });
      const status = await cloud.loadBalancer?.ensureLoadBalancer(cluster, service, nodes);
      const [made, ...others] = await world.balancers();
      expect(others).toEqual([]);
      expect(made).toMatchObject({
        kind: 'network',
        scheme: 'internet-facing',
        listeners: [{ protocol: 'tcp', port: 80 }],
        sourceRanges: ['192.0.2.0/24'],
      });
      expect(status?.ingress?.[0]?.ip).toBe(made?.address);
      expect(world.namesOf(made)).toEqual(['a']);
      await forgotten(world);
    }));

  it.each([
    ['inside', { 'load-balancer-internal': 'true' }, { kind: 'network', scheme: 'internal' }],
    [
      'without floating addresses',
      { 'disable-load-balancer-floating-ip': 'true' },
      { kind: 'proxy', listeners: [{ protocol: 'tcp', port: 80, targetPort: 30_080 }], sourceRanges: ['0.0.0.0/0'] },
    ],
  ])('makes one %s', (_, annotations, wanted) =>
    withWorld(async (world) => {
      await world.addInstance('a');
      const cloud = await providerOf(world);
      const named = Object.fromEntries(Object.entries(annotations).map(([name, value]) => [prefix + name, value]));
      const service = webService({}, named);
      const status = await cloud.loadBalancer?.ensureLoadBalancer(cluster, service, [await nodeOf(cloud, 'a')]);
      expect(await world.balancers()).toMatchObject([{ ...wanted, address: status?.ingress?.[0]?.ip }]);
      await cloud.loadBalancer?.ensureLoadBalancerDeleted(cluster, service);
      expect(await world.balancers()).toEqual([]);
    }),
  );
});
