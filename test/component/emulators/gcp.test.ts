// The provider for Google Cloud on the emulated Compute Engine: the suite that every provider passes, and what only this vendor has. What is looked at past the
// provider is the local cloud's.
import { describe, expect, it } from 'vitest';
import { conformance } from '#cloud-provider/conformance';
import { anotherLife, forgotten, nodeOf, openVendor, ownerOnly, providerOf, webService } from './vendor-conformance.ts';
import { cluster, vendorWorld, type VendorWorld } from './vendor-world.ts';

const options = {
  objects: { 'configmaps ingress-uid': { metadata: { name: 'ingress-uid' }, data: { uid: '0123456789abcdef' } } },
};

describe('the provider for Google Cloud on the emulated Compute Engine', () =>
  conformance(
    {
      open: () => openVendor('gcp', options),
      instancesMany: 30,
      skips: { 'routes: two families of one node are two routes': 'the local cloud has IPv4 only' },
    },
    { describe, it },
  ));

describe('the emulated Compute Engine', () => {
  const withWorld = async (work: (world: VendorWorld) => Promise<void>): Promise<void> => {
    const world = await vendorWorld('gcp');
    try {
      await work(world);
    } finally {
      await world.close();
    }
  };

  it('knows its forwarding rules in another life, and keeps nothing of those that are deleted', () =>
    anotherLife('gcp', options));

  it('answers nobody without a token that its service account has signed', () =>
    withWorld(async (world) => {
      await ownerOnly(world, ['key.json', 'cloud-config']);
      const jwt = (claims: object) => {
        const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
        return `${part({ alg: 'none', kid: 'x' })}.${part(claims)}.${Buffer.from('x').toString('base64url')}`;
      };
      for (const authorization of ['', 'Bearer x', `Bearer ${jwt({ iss: 'sagong' })}`, `Bearer ${'x'.repeat(5_000)}`]) {
        const answer = await fetch(`${world.server.url}/compute/v1/projects/local-cloud/zones`, { headers: { authorization } });
        expect([answer.status, await answer.json()]).toMatchObject([401, { error: { code: 401, status: 'UNAUTHENTICATED' } }]);
      }
    }));

  it('makes a load balancer of a forwarding rule, its target pool and its firewall', () =>
    withWorld(async (world) => {
      await world.addInstance('a');
      const cloud = await providerOf(world, options);
      const nodes = [await nodeOf(cloud, 'a')];
      expect(nodes[0]?.spec?.providerID).toBe('gce://local-cloud/local-1-a/a');
      const spec = {
        loadBalancerSourceRanges: ['192.0.2.0/24'],
        ports: [80, 443].map((port) => ({ name: `p${port}`, protocol: 'TCP', port, targetPort: 8080, nodePort: 30_000 + port })),
      };
      await cloud.loadBalancer?.ensureLoadBalancer(cluster, webService(spec), nodes);
      expect(await world.balancers()).toMatchObject([
        {
          kind: 'network',
          scheme: 'internet-facing',
          listeners: [
            { protocol: 'tcp', port: 80 },
            { protocol: 'tcp', port: 443 },
          ],
          sourceRanges: ['192.0.2.0/24'],
          healthCheck: { protocol: 'http', port: 10_256, path: '/healthz' },
        },
      ]);
      await forgotten(world);
    }));

  it('makes one inside the network of a backend service and its groups', () =>
    withWorld(async (world) => {
      await world.addInstance('a');
      const cloud = await providerOf(world, options);
      const inside = webService({}, { 'networking.gke.io/load-balancer-type': 'Internal' });
      const status = await cloud.loadBalancer?.ensureLoadBalancer(cluster, inside, [await nodeOf(cloud, 'a')]);
      const [made, ...others] = await world.balancers();
      expect(others).toEqual([]);
      expect(made).toMatchObject({ scheme: 'internal', listeners: [{ protocol: 'tcp', port: 80 }], sourceRanges: ['0.0.0.0/0'] });
      expect(status?.ingress?.[0]?.ip).toBe(made?.address);
      expect(world.namesOf(made)).toEqual(['a']);
      await cloud.loadBalancer?.ensureLoadBalancerDeleted(cluster, inside);
      expect(await world.balancers()).toEqual([]);
    }));
});
