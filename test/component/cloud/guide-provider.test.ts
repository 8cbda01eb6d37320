// The provider of examples/hetzner-cloud-provider, which was written by docs/write-a-cloud-provider.md alone: found by the loader, it passes the suite that
// every provider passes, plain, and with every fifth request failing and every change taking its time.
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Service } from '#api/core/v1';
import { type CloudProvider, ConfigError, defaultLoadBalancerName, loadCloudProvider } from '#cloud-provider';
import { conformance, type ConformanceWorld, persistent } from '#cloud-provider/conformance';
import {
  type HastyClock,
  hastyClock,
  everyFifth,
  silentLogger,
  testService,
  type VendorServer,
} from '#cloud-provider/test-server';
import { type Rng, seededRng } from '#utils';

const folder = fileURLToPath(new URL('../../../examples/hetzner-cloud-provider', import.meta.url));
const provider = join(folder, 'index.mjs');

interface Balancer {
  name: string;
  targets: { server: { id: number } }[];
  services: { listen_port: number; destination_port: number }[];
  labels: Record<string, string>;
}
interface TestServer extends VendorServer {
  token: string;
  servers: Map<string, { name: string }>;
  balancers: Map<string, Balancer>;
  addServer(name: string): void;
  stopServer(name: string): void;
  deleteServer(name: string): void;
}
interface ServerModule {
  startTestServer(options: { clock: HastyClock; rng: Rng }): Promise<TestServer>;
}
const { startTestServer } = (await import(join(folder, 'test-server.mjs'))) as ServerModule;

const rates = { ...everyFifth, operationMs: 1_500 };
const planned = 'failed on request';

async function openWorld() {
  const [clock, rng] = [hastyClock(), seededRng(1)];
  const server = await startTestServer({ clock, rng });
  const home = mkdtempSync(join(tmpdir(), 'hetzner-'));
  const configFile = join(home, 'cloud-config.yaml');
  await writeFile(join(home, 'token'), server.token);
  const plain = await readFile(join(folder, 'cloud-config.yaml'), 'utf8');
  await writeFile(configFile, `${plain}url: ${server.url}/v1\n`);
  return {
    server,
    configFile,
    async open(): Promise<CloudProvider> {
      const loaded = await loadCloudProvider({ provider, configFile, builtIn: {} }, { clock, rng, logger: silentLogger });
      if (!loaded) throw new Error('the example is a provider');
      return loaded.cloud;
    },
    async close() {
      await server.close();
      rmSync(home, { recursive: true });
    },
  };
}

async function openConformance({ flaky = false } = {}): Promise<ConformanceWorld> {
  const { server, open, close } = await openWorld();
  const { servers, balancers, faults } = server;
  if (flaky) faults.rates = rates;
  const openAs = async (): Promise<CloudProvider> =>
    flaky ? persistent(await open(), { passes: (error) => String(error).includes(planned) }) : open();
  const balancerOf = (service: Service) => [...balancers.values()].find(({ name }) => name === defaultLoadBalancerName(service));
  return {
    cloud: await openAs(),
    cluster: 'test',
    addInstance: (name) => server.addServer(name),
    stopInstance: (name) => server.stopServer(name),
    terminateInstance: (name) => server.deleteServer(name),
    backends: (service) =>
      (balancerOf(service)?.targets ?? []).map(({ server: { id } }) => servers.get(String(id))?.name ?? String(id)),
    listeners: (service) =>
      (balancerOf(service)?.services ?? []).map(({ listen_port: port, destination_port: node }) => `TCP ${port} ${node}`),
    leftovers: () => [...balancers.values()].map(({ name }) => name),
    failInTheMiddle: () => faults.add({ method: 'POST', path: '/v1/load_balancers', status: 422, message: planned }),
    secondProvider: openAs,
    close,
  };
}

const skips = { routes: 'the example makes none' };
describe('a provider written by the guide', () => {
  conformance({ open: () => openConformance(), instancesMany: 60, skips }, { describe, it });
  it('is less than 200 lines', async () => {
    expect((await readFile(provider, 'utf8')).trimEnd().split('\n').length).toBeLessThan(200);
  });
  it('refuses what its schema does not have, a port that is not TCP, and the load balancer of others', async () => {
    const { server, configFile, open, close } = await openWorld();
    const cloud = await open();
    const udp = testService({}, { ports: [{ port: 53, protocol: 'UDP', nodePort: 30_053 }] });
    await expect(cloud.loadBalancer?.ensureLoadBalancer('test', udp, [])).rejects.toThrow(
      'port 53: load balancers of this cloud serve TCP',
    );
    await cloud.loadBalancer?.ensureLoadBalancer('test', testService(), []);
    for (const [id, balancer] of [...server.balancers.keys()].map((key) => [key, server.balancers.get(key)] as const))
      if (balancer) server.balancers.set(id, { ...balancer, labels: {} });
    await expect(cloud.loadBalancer?.ensureLoadBalancer('test', testService(), [])).rejects.toThrow("is not this cluster's");
    await writeFile(configFile, 'tokenFile: token\nlocation: fsn1\nregion: x\n');
    await expect(open()).rejects.toThrow(ConfigError);
    await close();
  });
});
describe('with every fifth request failing', () => {
  conformance({ open: () => openConformance({ flaky: true }), instancesMany: 60, skips }, { describe, it });
});
