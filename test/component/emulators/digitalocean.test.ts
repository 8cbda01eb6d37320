// The provider for DigitalOcean on the emulated DigitalOcean: the suite that every provider passes, and what only this vendor has. What is looked at
// past the provider is the local cloud's.
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CloudProvider, Service } from '#cloud-provider';
import { conformance, type ConformanceWorld } from '#cloud-provider/conformance';
import { systemClock } from '#host';
import { silentLogger } from '#utils';
import { createCloud } from '../../../providers/digitalocean/src/cloud.ts';
import { settingsFrom } from '../../../providers/digitalocean/src/config.ts';
import { nodeWith, readSdk, sdkTimeoutMs, serviceWith, settling } from '../../../providers/digitalocean/test-server/world.ts';
import { cluster, vendorWorld, type VendorWorld } from './vendor-world.ts';

beforeAll(readSdk, sdkTimeoutMs);

async function providerOf({ setup: { env } }: VendorWorld): Promise<CloudProvider> {
  const settings = settingsFrom({ metadataURL: 'http://127.0.0.1:9' }, env);
  const cloud = await createCloud(settings, { clock: systemClock(), logger: silentLogger });
  return { ...cloud, ...(cloud.loadBalancer && { loadBalancer: settling(cloud.loadBalancer) }) };
}

async function open(): Promise<ConformanceWorld> {
  const world = await vendorWorld('digitalocean');
  const cloud = await providerOf(world);
  const own = async (service: Service) => {
    const { ingress = [] } = service.status?.loadBalancer ?? {};
    const shown = ingress.length > 0 ? ingress : (await cloud.loadBalancer?.getLoadBalancer(cluster, service))?.ingress;
    const ips = (shown ?? []).map(({ ip }) => ip);
    return (await world.balancers()).find(({ address }) => ips.includes(address));
  };
  return {
    cloud,
    cluster,
    addInstance: world.addInstance,
    stopInstance: world.stopInstance,
    terminateInstance: world.terminateInstance,
    backends: async (service) => world.namesOf(await own(service)),
    listeners: async (service) =>
      (await own(service))?.listeners.map(({ protocol, port }) => `${protocol.toUpperCase()} ${port}`) ?? [],
    sources: async (service) => (await own(service))?.sourceRanges ?? [],
    leftovers: async () => (await world.balancers()).map(({ name }) => name),
    // As often as is asked again: the emulator wishes for it.
    failInTheMiddle: () =>
      world.memory.setFaults({ errorRate: 1, failuresMax: 6, operations: ['createLoadBalancer', 'modifyLoadBalancer'] }),
    secondProvider: () => providerOf(world),
    close: world.close,
  };
}

describe('the provider for DigitalOcean on the emulated DigitalOcean', () =>
  conformance({ open, instancesMany: 30, skips: { routes: 'its API has none' } }, { describe, it }));

describe('the emulated DigitalOcean', () => {
  const withWorld = async (work: (world: VendorWorld, ask: typeof fetch) => Promise<void>): Promise<void> => {
    const world = await vendorWorld('digitalocean');
    const headers = { authorization: `Bearer ${world.setup.env['DO_ACCESS_TOKEN']}`, 'content-type': 'application/json' };
    try {
      await work(world, (path, init) => fetch(`${world.server.url}${String(path)}`, { headers, ...init }));
    } finally {
      await world.close();
    }
  };
  const balancer = { name: 'web', region: 'local-1', type: 'REGIONAL' };
  const rule = { entry_protocol: 'tcp', entry_port: 80, target_protocol: 'tcp', target_port: 30_080 };
  const post = (body: object): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });

  it('shows instances as droplets, and answers nobody without its token', () =>
    withWorld(async (world, ask) => {
      await world.addInstance('a');
      const { droplets } = (await (await ask('/v2/droplets?name=a')).json()) as { droplets: { id: number; networks: unknown }[] };
      expect(droplets[0]?.id.toString(16).padStart(8, '0')).toBe(world.instances.get('a')?.slice(2));
      expect(droplets[0]?.networks).toMatchObject({ v4: [{ type: 'private' }, { type: 'public' }] });
      for (const authorization of ['', 'Bearer dop_v1_other', `Bearer ${'x'.repeat(5_000)}`])
        expect((await ask('/v2/droplets', { headers: { authorization } })).status).toBe(401);
      expect((await stat(join(world.dir, 'secret'))).mode & 0o077).toBe(0);
      expect((await stat(join(world.dir, 'env'))).mode & 0o077).toBe(0);
    }));

  it('makes a network load balancer that hands packets on, with the address that the local cloud has given it', () =>
    withWorld(async (world) => {
      await world.addInstance('a');
      const { loadBalancer } = await providerOf(world);
      const id = Number.parseInt(world.instances.get('a')?.slice(2) ?? '', 16);
      const node = nodeWith('a', { '198.18.7.3': 'ExternalIP' }, `digitalocean://${id}`);
      const ranges = { loadBalancerSourceRanges: ['192.0.2.0/24'] };
      const status = await loadBalancer?.ensureLoadBalancer(cluster, serviceWith({}, ranges), [node]);
      const [made] = await world.balancers();
      expect(made).toMatchObject({
        kind: 'network',
        scheme: 'internet-facing',
        listeners: [{ protocol: 'tcp', port: 80 }],
        sourceRanges: ['192.0.2.0/24'],
        healthCheck: { protocol: 'http', port: 10_256, path: '/healthz' },
      });
      expect(status?.ingress).toEqual([{ ip: made?.address }]);
      expect(world.namesOf(made)).toEqual(['a']);
    }));

  it('knows its load balancers in another life, and removes what nobody asked for', () =>
    withWorld(async (world, ask) => {
      expect((await ask('/v2/load_balancers', post({ ...balancer, forwarding_rules: [rule] }))).status).toBe(202);
      const list = async () => ((await (await ask('/v2/load_balancers')).json()) as { load_balancers: unknown[] }).load_balancers;
      const before = await list();
      expect(before).toMatchObject([{ name: 'web', ip: (await world.balancers())[0]?.address }]);
      await world.again();
      expect(await list()).toEqual(before);
      expect(await world.balancers()).toHaveLength(1);
      // As if it had ended before it could note what it was asked for.
      await rm(join(world.dir, 'account.json'));
      await world.addInstance('a');
      await world.again();
      expect(await list()).toEqual([]);
      expect(await world.balancers()).toEqual([]);
    }));

  it.each([
    ['HTTP/3', { forwarding_rules: [{ ...rule, entry_protocol: 'http3', tls_passthrough: true }] }],
    ['deny rules', { forwarding_rules: [rule], firewall: { deny: ['ip:192.0.2.1'], allow: [] } }],
    ['IPv6', { forwarding_rules: [rule], firewall: { allow: ['cidr:2001:db8::/32'], deny: [] } }],
    ['must be a list', { forwarding_rules: [rule], firewall: { allow: 5, deny: [] } }],
    ['another target port', { type: 'REGIONAL_NETWORK', forwarding_rules: [rule] }],
    ['does not do this', { forwarding_rules: [rule], ip: '203.0.113.9' }],
  ])('refuses what the local cloud has not, and keeps nothing of it: %s', (words, body) =>
    withWorld(async (world, ask) => {
      const answer = await ask('/v2/load_balancers', post({ ...balancer, ...body }));
      expect({ status: answer.status, ...((await answer.json()) as object) }).toMatchObject({
        status: 422,
        id: 'unprocessable_entity',
        message: expect.stringContaining(words) as string,
      });
      expect(await (await ask('/v2/load_balancers')).json()).toMatchObject({ load_balancers: [] });
      expect(await world.balancers()).toEqual([]);
    }),
  );

  it('answers failures of the local cloud in the vendor’s words, and takes the change back', () =>
    withWorld(async (world, ask) => {
      world.memory.setFaults({ throttleRate: 1, retryAfterSeconds: 7, operations: ['createLoadBalancer'] });
      const answer = await ask('/v2/load_balancers', post({ ...balancer, forwarding_rules: [rule] }));
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '7']);
      world.memory.setFaults({ outage: true });
      expect((await ask('/v2/load_balancers')).status).toBe(503);
      world.memory.setFaults({});
      expect(await (await ask('/v2/load_balancers')).json()).toMatchObject({ load_balancers: [] });
    }));
});
