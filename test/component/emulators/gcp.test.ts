// The provider for Google Cloud on the emulated Compute Engine: the suite that every provider passes, and what only this vendor has. What is looked at past the
// provider is the local cloud's.
import { sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
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
      const key = JSON.parse(await readFile(join(world.dir, 'key.json'), 'utf8')) as Record<string, string>;
      const signed = (seconds: number): string => {
        const iat = Math.floor(Date.now() / 1_000);
        const scope = 'https://www.googleapis.com/auth/cloud-platform';
        const parts = [
          { alg: 'RS256', kid: key['private_key_id'] },
          { iss: key['client_email'], scope, iat, exp: iat + seconds },
        ];
        const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
        return `Bearer ${text}.${sign('RSA-SHA256', Buffer.from(text), key['private_key'] ?? '').toString('base64url')}`;
      };
      const zonesUrl = `${world.server.url}/compute/v1/projects/local-cloud/zones`;
      const statusOf = async (seconds: number) => (await fetch(zonesUrl, { headers: { authorization: signed(seconds) } })).status;
      expect([await statusOf(3_600), await statusOf(3_601), await statusOf(1e99), await statusOf(-1)]).toEqual([
        200, 401, 401, 401,
      ]);
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

  it.each([
    [100, undefined],
    [250, 'listeners'],
    [2_000, '2000 ports of one rule'],
  ])('has a load balancer of %i ports, or says why not: %s', (count, refusal) =>
    withWorld(async (world) => {
      await world.addInstance('a');
      const cloud = await providerOf(world, options);
      const ports = Array.from({ length: count }, (_, index) => ({
        name: `p${index}`,
        protocol: 'TCP' as const,
        port: 8_000 + index,
        nodePort: 30_000 + index,
      }));
      const done = cloud.loadBalancer?.ensureLoadBalancer(cluster, webService({ ports }), [await nodeOf(cloud, 'a')]);
      if (refusal !== undefined) await expect(done).rejects.toThrow(refusal);
      else await done;
      const made = (await world.balancers()).map(({ listeners }) => listeners.length);
      expect(made).toEqual(refusal === undefined ? [count] : []);
    }),
  );

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
