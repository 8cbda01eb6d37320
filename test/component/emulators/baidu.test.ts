// The provider for Baidu AI Cloud on the emulated APIs: the suite that every provider passes, and what only this vendor has. What is looked at past the provider
// is the local cloud's.
import { describe, expect, it } from 'vitest';
import { conformance } from '#cloud-provider/conformance';
import { anotherLife, forgotten, nodeOf, openVendor, ownerOnly, providerOf, webService } from './vendor-conformance.ts';
import { cluster, vendorWorld, type VendorWorld } from './vendor-world.ts';

describe('the provider for Baidu AI Cloud on the emulated one', () =>
  conformance(
    {
      open: () => openVendor('baidu'),
      instancesMany: 30,
      skips: {
        'routes: two families of one node are two routes': 'the local cloud has IPv4 only',
        'load balancers: of many Nodes all serve': '50 of them do, unless cce-load-balancer-rs-max-num says otherwise',
      },
    },
    { describe, it },
  ));

describe('the emulated Baidu AI Cloud', () => {
  const withWorld = async (work: (world: VendorWorld) => Promise<void>): Promise<void> => {
    const world = await vendorWorld('baidu');
    try {
      await work(world);
    } finally {
      await world.close();
    }
  };

  it('knows its load balancers in another life, and keeps nothing of those that are deleted', () => anotherLife('baidu'));

  it('answers nobody without a signature made with its keys', () =>
    withWorld(async (world) => {
      await ownerOnly(world, ['credentials.json', 'cloud-config']);
      const ask = async (authorization: string) => {
        const answer = await fetch(`${world.server.url}/v1/blb`, { headers: { authorization } });
        return [answer.status, ((await answer.json()) as { code: string }).code];
      };
      const forged = `bce-auth-v1/somebody/2026-01-01T00:00:00Z/1800/host/${'0'.repeat(64)}`;
      expect(await ask('')).toEqual([400, 'InvalidHTTPAuthHeader']);
      expect(await ask(`bce-auth-v1/${'x'.repeat(5_000)}`)).toEqual([400, 'InvalidHTTPAuthHeader']);
      expect(await ask(forged)).toEqual([403, 'InvalidAccessKeyId']);
    }));

  it('makes a load balancer of a BLB and its EIP, for those whom its security groups let in', () =>
    withWorld(async (world) => {
      await world.addInstance('a');
      const cloud = await providerOf(world);
      const nodes = [await nodeOf(cloud, 'a')];
      expect(nodes[0]?.spec?.providerID).toBe(`cce://${world.instances.get('a')}`);
      const status = await cloud.loadBalancer?.ensureLoadBalancer(
        cluster,
        webService({ loadBalancerSourceRanges: ['192.0.2.0/24'] }),
        nodes,
      );
      const [made, ...others] = await world.balancers();
      expect(others).toEqual([]);
      expect(made).toMatchObject({
        kind: 'proxy',
        scheme: 'internet-facing',
        listeners: [{ protocol: 'tcp', port: 80, targetPort: 30_080 }],
        sourceRanges: ['192.0.2.0/24'],
        healthCheck: { protocol: 'tcp', port: 30_080 },
      });
      expect(status?.ingress?.[0]?.ip).toBe(made?.address);
      await forgotten(world);
    }));

  it('makes one inside the VPC without an EIP', () =>
    withWorld(async (world) => {
      await world.addInstance('a');
      const cloud = await providerOf(world);
      const inside = webService({}, { 'service.beta.kubernetes.io/cce-load-balancer-internal-vpc': 'true' });
      const status = await cloud.loadBalancer?.ensureLoadBalancer(cluster, inside, [await nodeOf(cloud, 'a')]);
      const [made] = await world.balancers();
      expect(made).toMatchObject({ scheme: 'internal', address: status?.ingress?.[0]?.ip });
      expect(world.namesOf(made)).toEqual(['a']);
    }));
});
