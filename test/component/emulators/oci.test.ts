// The provider for OCI on the emulated OCI: the suite that every provider passes, and what only this vendor has. What is looked at past the provider is the local
// cloud's.
import { describe, expect, it } from 'vitest';
import { conformance } from '#cloud-provider/conformance';
import { anotherLife, forgotten, nodeOf, openVendor, ownerOnly, providerOf, webService } from './vendor-conformance.ts';
import { cluster, vendorWorld, type VendorWorld } from './vendor-world.ts';

describe('the provider for OCI on the emulated OCI', () =>
  conformance({ open: () => openVendor('oci'), instancesMany: 30, skips: { routes: 'its API has none' } }, { describe, it }));

describe('the emulated OCI', () => {
  const withWorld = async (work: (world: VendorWorld) => Promise<void>): Promise<void> => {
    const world = await vendorWorld('oci');
    try {
      await work(world);
    } finally {
      await world.close();
    }
  };

  it('knows its load balancers in another life, and keeps nothing of those that are deleted', () => anotherLife('oci'));

  it('answers nobody without a signature of its user', () =>
    withWorld(async (world) => {
      await ownerOnly(world, ['key.pem', 'config', 'cloud-config']);
      const date = new Date().toUTCString();
      const forged = `Signature version="1",keyId="ocid1.tenancy.oc1..local/x/y",algorithm="rsa-sha256",headers="date (request-target) host",signature="eA=="`;
      for (const authorization of ['', 'Bearer x', forged, `Signature ${'x'.repeat(5_000)}`]) {
        const answer = await fetch(`${world.server.url}/20160918/instances`, { headers: { authorization, date } });
        expect([answer.status, await answer.json()]).toMatchObject([401, { code: 'NotAuthenticated' }]);
      }
    }));

  it.each([
    ['lb', {}],
    [
      'nlb',
      {
        'oci.oraclecloud.com/load-balancer-type': 'nlb',
        'oci-network-load-balancer.oraclecloud.com/security-list-management-mode': 'All',
      },
    ],
  ])('makes a load balancer of kind %s, for those whom security lists let in', (_, annotations) =>
    withWorld(async (world) => {
      await world.addInstance('a');
      const cloud = await providerOf(world);
      const nodes = [await nodeOf(cloud, 'a')];
      expect(nodes[0]?.spec?.providerID).toBe(`oci://ocid1.instance.oc1.local.${world.instances.get('a')?.slice(2)}`);
      const service = webService({ loadBalancerSourceRanges: ['192.0.2.0/24'] }, annotations);
      const status = await cloud.loadBalancer?.ensureLoadBalancer(cluster, service, nodes);
      const [made] = await world.balancers();
      expect(made).toMatchObject({
        kind: 'proxy',
        scheme: 'internet-facing',
        listeners: [{ protocol: 'tcp', port: 80, targetPort: 30_080 }],
        sourceRanges: ['192.0.2.0/24'],
        healthCheck: { protocol: 'http', port: 10_256, path: '/healthz' },
      });
      expect(status?.ingress?.map(({ ip }) => ip)).toEqual([made?.address]);
      expect(world.namesOf(made)).toEqual(['a']);
      await forgotten(world);
    }),
  );

  it('makes one inside, and refuses what the local cloud has not', () =>
    withWorld(async (world) => {
      await world.addInstance('a');
      const cloud = await providerOf(world);
      const nodes = [await nodeOf(cloud, 'a')];
      const name = (what: string): string => `service.beta.kubernetes.io/oci-load-balancer-${what}`;
      const inside = webService({}, { [name('internal')]: 'true' });
      const status = await cloud.loadBalancer?.ensureLoadBalancer(cluster, inside, nodes);
      expect(await world.balancers()).toMatchObject([{ scheme: 'internal', address: status?.ingress?.[0]?.ip }]);
      await cloud.loadBalancer?.ensureLoadBalancerDeleted(cluster, inside);
      const told = webService({ loadBalancerIP: '203.0.113.9' });
      await expect(cloud.loadBalancer?.ensureLoadBalancer(cluster, told, nodes)).rejects.toThrow('203.0.113.9');
      expect(await world.balancers()).toEqual([]);
    }));
});
