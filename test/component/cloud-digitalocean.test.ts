// The provider of DigitalOcean as the cloud-controller-manager runs it: found by its name, over a local server of the vendor's API, with the
// real apiserver, in virtual time.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Node, Service } from '#api/core/v1';
import { isNotFound } from '#apimachinery/errors';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import { createClient } from '#client';
import {
  defaultCloudControllersConfig,
  runCloudControllerManager,
  type RunningCloudControllerManager,
} from '#cloud-controller-manager';
import { loadCloudProvider } from '#cloud-provider';
import { defaultLeaderElection } from '#component-base';
import { startTestControlPlane, type TestControlPlane, type VirtualClock, virtualClock } from '#testing';
import { seededRng, silentLogger } from '#utils';
import { startTestServer, type TestServer } from '../../providers/digitalocean/test-server/index.ts';

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource });
const merge = 'application/merge-patch+json';
const uninitialized = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };
const idAnnotation = 'kubernetes.digitalocean.com/load-balancer-id';

let clock: VirtualClock;
let plane: TestControlPlane;
let server: TestServer;
let manager: RunningCloudControllerManager;
let folder: string;

/** Lets virtual time pass in steps, with pauses for the sockets in between, until it holds. */
async function becomes(condition: () => Promise<unknown> | unknown, limitMs = 60_000): Promise<void> {
  for (let passedMs = 0; ; passedMs += 250) {
    try {
      await condition();
      return;
    } catch (error) {
      if (passedMs >= limitMs) throw error;
    }
    await wait(5);
    await clock.advance(250);
  }
}
const node = (name: string) => plane.client.resource<Node>(core('nodes')).get(name);
const service = (name: string) => plane.client.resource<Service>(core('services'), 'default').get(name);
const missing = (get: Promise<unknown>): Promise<boolean> =>
  get.then(
    () => false,
    (error: unknown) => isNotFound(error),
  );

async function addNode(name: string): Promise<void> {
  await plane.client.resource<Node>(core('nodes')).create({ metadata: { name }, spec: { taints: [uninitialized] } });
  const conditions = [{ type: 'Ready', status: 'True' }];
  await plane.client.resource<Node>(core('nodes')).patch(name, merge, { status: { conditions } }, { subresource: 'status' });
}
/** The control plane here is storage alone and allocates nothing, so the node port is given. */
const addService = (name: string, annotations: Record<string, string> = {}, port = 80) =>
  plane.client.resource<Service>(core('services'), 'default').create({
    metadata: { name, annotations },
    spec: { type: 'LoadBalancer', selector: { app: name }, ports: [{ port, nodePort: 30_080 }] },
  });
async function events(name: string): Promise<string[]> {
  type Told = KubeObject & { involvedObject?: { name?: string }; reason?: string; message?: string };
  const { items } = await plane.client.resource<Told>(core('events')).list();
  return items
    .filter(({ involvedObject }) => involvedObject?.name === name)
    .map(({ reason, message }) => `${reason}: ${message}`);
}

beforeEach(async () => {
  clock = virtualClock();
  plane = await startTestControlPlane({ clock });
  server = await startTestServer({ now: () => clock.now(), rateLimits: { perHour: 1_000_000, perMinute: 1_000_000 } });
  server.account.activationMs = 10_000;
  folder = mkdtempSync(join(tmpdir(), 'cloud-digitalocean-'));
  const configFile = join(folder, 'cloud.yaml');
  writeFileSync(
    configFile,
    [
      `accessToken: ${server.token}`,
      `apiURL: ${server.url}`,
      'region: nyc3',
      'clusterID: c1',
      'publicAccessFirewall: { name: workers, tags: [worker] }',
    ].join('\n'),
  );
  const loaded = await loadCloudProvider({ provider: 'digitalocean', configFile, builtIn: {} }, { clock, logger: silentLogger });
  if (!loaded) throw new Error('not loaded');
  const client = createClient(plane.apiserver.transport({ name: 'system:admin', groups: ['system:masters'] }, 'ccm'));
  manager = runCloudControllerManager(
    {
      providerName: loaded.name,
      cloud: loaded.cloud,
      controllers: ['*'],
      config: defaultCloudControllersConfig(),
      leaderElection: defaultLeaderElection('cloud-controller-manager'),
      identity: 'one',
    },
    { client, clock, rng: seededRng(3), logger: silentLogger, decisions: plane.decisions },
  );
  // Modules are loaded for it, which takes the time of the machine: on a busy one seconds.
  await becomes(() => expect(manager.running()).toContain('service-lb-controller'), 1_200_000);
});
afterEach(async () => {
  await manager.stop();
  await plane.stop();
  await server.close();
  rmSync(folder, { recursive: true });
});

describe('a cluster on DigitalOcean', () => {
  it('has nodes that are droplets, from their first start to their end', async () => {
    const { id } = server.account.addDroplet('node-1', { size: 's-4vcpu-8gb', region: 'fra1', publicIpv6: '2604:a880::5' });
    await addNode('node-1');
    await becomes(async () => {
      const { metadata, spec, status } = await node('node-1');
      expect(spec).toMatchObject({ providerID: `digitalocean://${id}` });
      expect(spec?.taints ?? []).toEqual([]);
      expect(metadata.labels).toMatchObject({
        'node.kubernetes.io/instance-type': 's-4vcpu-8gb',
        'topology.kubernetes.io/region': 'fra1',
      });
      expect(status?.addresses?.map(({ type }) => type)).toEqual(['Hostname', 'InternalIP', 'ExternalIP', 'ExternalIP']);
    });
    const down = { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } };
    server.account.dropletNamed('node-1').status = 'off';
    await plane.client.resource(core('nodes')).patch('node-1', merge, down, { subresource: 'status' });
    await becomes(async () => {
      expect((await node('node-1')).spec?.taints).toMatchObject([{ key: 'node.cloudprovider.kubernetes.io/shutdown' }]);
    });
    server.account.droplets.clear();
    await becomes(async () => expect(await missing(node('node-1'))).toBe(true));
    expect(await events('node-1')).toContain(
      'DeletingNode: Deleting node node-1 because it does not exist in the cloud provider',
    );
  });
  it('has load balancers: made, waited for, followed by nodes and firewall, deleted', async () => {
    server.account.addDroplet('node-1');
    await addNode('node-1');
    await becomes(async () => expect((await node('node-1')).status?.addresses).toHaveLength(3));
    await addService('web');
    await becomes(() => expect(server.account.loadBalancers.size).toBe(1));
    const [balancer] = server.account.loadBalancers.values();
    await becomes(async () => {
      const { metadata } = await service('web');
      expect(metadata.annotations).toMatchObject({ [idAnnotation]: balancer?.id });
      expect(metadata.finalizers).toEqual(['service.kubernetes.io/load-balancer-cleanup']);
    });
    await becomes(async () => {
      const { ingress } = (await service('web')).status?.loadBalancer ?? {};
      expect(ingress).toMatchObject([{ ip: expect.stringMatching(/^203\.0\./) }]);
    });
    expect(await events('web')).toContain('EnsuredLoadBalancer: Ensured load balancer');
    expect(server.account.tags.get('k8s:c1')).toEqual(new Set([`load_balancer/${balancer?.id}`]));

    const second = server.account.addDroplet('node-2');
    await addNode('node-2');
    await becomes(() => expect(balancer?.droplet_ids).toContain(second.id));
    await becomes(() => {
      const [firewall] = server.account.firewalls.values();
      expect(firewall).toMatchObject({
        name: 'workers',
        inbound_rules: [
          { protocol: 'tcp', ports: '10256', sources: { load_balancer_uids: [balancer?.id] } },
          { protocol: 'tcp', ports: '80' },
        ],
      });
    });
    await plane.client.resource(core('services'), 'default').delete('web');
    await becomes(async () => expect(await missing(service('web'))).toBe(true));
    expect(server.account.loadBalancers.size).toBe(0);
  });
  it('tells people what the API does not take, and what only they can put right', async () => {
    server.account.addDroplet('node-1', { publicIp: null });
    await addNode('node-1');
    await becomes(async () => expect((await node('node-1')).status?.addresses).toHaveLength(2));
    await addService('hidden');
    await becomes(async () => {
      expect(await events('hidden')).toContainEqual(expect.stringMatching(/^LoadBalancerConfigError: no eligible load balancer/));
    });
    await addService('reserved', { 'service.beta.kubernetes.io/do-loadbalancer-type': 'REGIONAL' }, 50_053);
    await becomes(async () => {
      expect(await events('reserved')).toContainEqual(
        expect.stringMatching(/^SyncLoadBalancerFailed: Error syncing load balancer: .* 422 .* entry port is invalid/),
      );
    });
    expect(server.account.loadBalancers.size).toBe(0);
  });
  it('waits as long as a throttling API says, and makes one load balancer', async () => {
    server.account.addDroplet('node-1');
    await addNode('node-1');
    await becomes(async () => expect((await node('node-1')).status?.addresses).toHaveLength(3));
    server.fail({ method: 'POST', path: /load_balancers/, status: 429, headers: { 'retry-after': '40' } });
    const startMs = clock.now();
    await addService('web');
    await becomes(() => expect(server.account.loadBalancers.size).toBe(1), 120_000);
    expect(clock.now() - startMs).toBeGreaterThanOrEqual(40_000);
  });
});
