// DigitalOcean for the chaos: its provider, over HTTP, on the local server of its API.
import type { Service } from '#api/core/v1';
import { noRates } from '#cloud-provider/test-server';
import { seededRng, silentLogger } from '#utils';
import { annotations } from '../../../../providers/digitalocean/src/annotations.ts';
import { createCloud } from '../../../../providers/digitalocean/src/cloud.ts';
import { type Config, settingsFrom } from '../../../../providers/digitalocean/src/config.ts';
import type { ForwardingRule, HealthCheck } from '../../../../providers/digitalocean/src/api/types.ts';
import { startTestServer, type TestServer } from '../../../../providers/digitalocean/test-server/index.ts';
import { type ChaosCloud, type ChaosCloudOptions, compare } from '../chaos-cloud.ts';
import { watchWire } from '../on-the-wire.ts';

/** The provider tries nothing again by itself: each failure is one that the controllers see. */
const rates = {
  ...noRates,
  error: 0.1,
  throttle: 0.03,
  lostAnswer: 0.05,
  drop: 0.03,
  conflict: 0.03,
  throttleSeconds: 2,
  latencyMs: 100,
  latencyJitterMs: 800,
};
const clusterId = 'chaos';
const region = 'nyc3';
const activationMs = 20_000;
const { algorithm, sizeUnit, enableProxyProtocol, healthCheckInterval } = annotations;

function wantedOf(service: Service, hosts: readonly string[]) {
  const { metadata, spec, status } = service;
  const own = metadata.annotations ?? {};
  const isLocal = spec?.externalTrafficPolicy === 'Local';
  return {
    id: own[annotations.id],
    address: status?.loadBalancer?.ingress?.[0]?.ip,
    rules: (spec?.ports ?? []).map(({ protocol = 'TCP', port }) => `${protocol.toLowerCase()} ${port} ${port}`).sort(),
    algorithm: own[algorithm] ?? 'round_robin',
    size: Number(own[sizeUnit] ?? 1),
    isProxy: own[enableProxyProtocol] === 'true',
    check: `${isLocal ? spec.healthCheckNodePort : 10_256} ${own[healthCheckInterval] ?? 3}`,
    allow: (spec?.loadBalancerSourceRanges ?? []).map((range) => `cidr:${range}`),
    tags: [`k8s:${clusterId}`],
    hosts,
  };
}

function balancerDifferences({ account }: TestServer, services: readonly Service[], hosts: readonly string[]): string[] {
  const found = [...account.loadBalancers.values()].map((balancer) => {
    const check = balancer.health_check as HealthCheck;
    return {
      id: balancer.id,
      address: balancer.ip,
      rules: (balancer.forwarding_rules as ForwardingRule[])
        .map((rule) => `${rule.entry_protocol} ${rule.entry_port} ${rule.target_port}`)
        .sort(),
      algorithm: balancer.algorithm,
      size: balancer.size_unit,
      isProxy: balancer.enable_proxy_protocol,
      check: `${check.port} ${check.check_interval_seconds}`,
      allow: (balancer.firewall as { allow: string[] }).allow,
      tags: balancer.tags,
      hosts: balancer.droplet_ids.map((id) => account.droplets.get(id)?.name ?? String(id)).sort(),
    };
  });
  const wanted = services.map((service) => wantedOf(service, hosts));
  return compare('load balancers', found, wanted);
}

/** A load balancer and a droplet that no Node is; both have names as ours could have. */
function addThingsOfOthers({ account }: TestServer) {
  const balancer = {
    id: 'c0ffee00-0000-4000-8000-000000000001',
    name: 'a00000000000000000000000000000000',
    status: 'active' as const,
    created_at: account.timestamp(),
    ip: '203.0.113.200',
    region: account.regions[0] as (typeof account.regions)[number],
    droplet_ids: [],
    tags: ['k8s:another'],
  };
  account.loadBalancers.set(balancer.id, balancer);
  const now = (): unknown => structuredClone(account.loadBalancers.get(balancer.id));
  const before = now();
  return {
    before,
    remove() {
      const after = now();
      account.loadBalancers.delete(balancer.id);
      return after;
    },
  };
}

export async function digitalOceanChaosCloud({ clock, seed }: ChaosCloudOptions): Promise<ChaosCloud> {
  const unlimited = { perHour: Number.POSITIVE_INFINITY, perMinute: Number.POSITIVE_INFINITY };
  const server = await startTestServer({ clock, rng: seededRng(seed), now: () => clock.now(), rateLimits: unlimited });
  const { account } = server;
  account.activationMs = activationMs;
  const wire = watchWire(server);
  return {
    providerName: 'digitalocean',
    mixedProtocols: true,
    lacks: ['routes'],
    annotations: [algorithm, sizeUnit, enableProxyProtocol, healthCheckInterval].flatMap((key, index) => [
      { [key]: ['least_connections', '3', 'true', '7'][index] as string },
      { [key]: null },
    ]),
    async open() {
      const door = await server.openDoor();
      const config: Config = { metadataURL: door.url, accessToken: server.token, apiURL: door.url, region, clusterID: clusterId };
      return {
        cloud: await createCloud(settingsFrom(config, {}), { clock, rng: seededRng(seed), logger: silentLogger }),
        kill: () => void door.close(),
      };
    },
    startFaults: () => void (server.faults.rates = { ...rates }),
    stopFaults: () => void (server.faults.rates = { ...noRates }),
    machines: () =>
      [...account.droplets.values()].map(({ id, name, size_slug, networks, status }) => ({
        name,
        id: `digitalocean://${id}`,
        type: size_slug,
        addresses: [name, ...networks.v4.map(({ ip_address }) => ip_address)],
        running: status === 'active',
      })),
    buy: (name) => void account.addDroplet(name),
    terminate: (name) => void account.droplets.delete(account.dropletNamed(name).id),
    setRunning: (name, running) => void (account.dropletNamed(name).status = running ? 'active' : 'off'),
    readdress(name, address) {
      const card = account.dropletNamed(name).networks.v4.find(({ type }) => type === 'private');
      if (card) card.ip_address = address;
    },
    addThingsOfOthers: () => addThingsOfOthers(server),
    // No other one has the name, which is unique in an account.
    balancersOf: (uid) => {
      const name = `a${uid.replaceAll('-', '')}`.slice(0, 32);
      return [...account.loadBalancers.values()].filter((balancer) => balancer.name === name).map(({ id }) => id);
    },
    balancerDifferences: (services, hosts) => balancerDifferences(server, services, hosts),
    routes: () => [],
    calls: () => {
      const { counts } = server.faults;
      return { total: server.count(), failed: Object.values(counts).reduce((sum, count) => sum + count, 0) };
    },
    outside: () => wire.quiet(),
    async close() {
      wire.close();
      await server.close();
    },
  };
}
