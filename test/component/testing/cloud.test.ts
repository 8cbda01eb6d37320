// The cloud of a test cluster: addresses for Services, nodes that are machines, failures on request, and a provider of one's own in its place.
import { describe, expect, it } from 'vitest';
import type { Node, Service } from '#api/core/v1';
import { defineCloudProvider, cloudProviderApiVersion, providerIdOf } from '#cloud-provider';
import { FakeCloud, fakeProvider, fakeProviderName } from '#cloud-provider/fake';
import type { KubeClient } from '#client';
import { systemClock } from '#host';
import { startCluster, virtualClock } from '#testing';
import { seededRng } from '#utils';

const core = (resource: string) => ({ group: '', version: 'v1', resource });
const nodesOf = (client: KubeClient) => client.resource<Node>(core('nodes'));
const servicesOf = (client: KubeClient) => client.resource<Service>(core('services'), 'default');
const service: Service = {
  metadata: { name: 'web' },
  spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80 }] },
};
const addressOf = async (client: KubeClient): Promise<string | undefined> =>
  (await servicesOf(client).get('web')).status?.loadBalancer?.ingress?.[0]?.ip;

async function eventually<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = performance.now() + 40_000;
  for (;;) {
    const found = await look().catch(() => undefined);
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`not within 20 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('the cloud of a test cluster', () => {
  it('completes nodes and gives Services an address', async () => {
    await using cluster = await startCluster({ nodes: 2 });
    const { items } = await nodesOf(cluster.client).list();
    const zones = new Set<string | undefined>();
    for (const { metadata, spec } of items) {
      const labels = metadata.labels ?? {};
      expect(spec?.providerID).toMatch(/^local:\/\/local-1[abc]\/i-[0-9a-f]{8}$/);
      expect(labels['topology.kubernetes.io/region']).toBe('local-1');
      expect(labels['node.kubernetes.io/instance-type']).toBe('local.small');
      zones.add(labels['topology.kubernetes.io/zone']);
    }
    expect(zones).toEqual(new Set(['local-1a', 'local-1b']));
    await servicesOf(cluster.client).create(service);
    const address = await eventually('an address', () => addressOf(cluster.client));
    expect(cluster.cloud.loadBalancers()).toMatchObject([{ address, listeners: [{ protocol: 'tcp', port: 80 }] }]);
    expect(cluster.cloud.loadBalancers()[0]?.targets).toHaveLength(2);
    await servicesOf(cluster.client).delete('web');
    await eventually('its end', async () => cluster.cloud.loadBalancers().length === 0);
  });

  it('fails when told to, and the cluster says so and recovers', async () => {
    await using cluster = await startCluster();
    cluster.cloud.setFaults({ errorRate: 1, operations: ['createLoadBalancer'] });
    await servicesOf(cluster.client).create(service);
    await eventually('the event', async () => {
      const { items } = await cluster.client.resource<{ metadata: object; reason?: string }>(core('events'), 'default').list();
      return items.some(({ reason }) => reason === 'SyncLoadBalancerFailed');
    });
    expect(await addressOf(cluster.client)).toBeUndefined();
    expect(cluster.cloud.calls().some(({ operation, status }) => operation === 'createLoadBalancer' && status === 500)).toBe(
      true,
    );
    cluster.cloud.setFaults({});
    // The service controller waits five seconds after its first failure.
    await eventually('an address', () => addressOf(cluster.client));
  });

  it('adds, stops, starts and terminates nodes, minutes in a moment', async () => {
    const clock = virtualClock();
    await using cluster = await startCluster({ nodes: 1, clock, rng: seededRng(1) });
    const { client } = cluster;
    const taints = async (): Promise<string[]> =>
      ((await nodesOf(client).get('node-2')).spec?.taints ?? []).map(({ key }) => key);
    expect(await cluster.nodes.add(undefined, { type: 'local.large' })).toBe('node-2');
    expect((await nodesOf(client).get('node-2')).metadata.labels?.['node.kubernetes.io/instance-type']).toBe('local.large');
    const startMs = clock.now();
    await cluster.nodes.stop('node-2');
    await clock.until(async () => (await taints()).includes('node.cloudprovider.kubernetes.io/shutdown'), 120_000);
    expect(clock.now() - startMs).toBeGreaterThan(40_000);
    await cluster.nodes.start('node-2');
    await clock.until(async () => (await taints()).length === 0, 60_000);
    await cluster.nodes.terminate('node-2');
    expect(cluster.nodes.names()).toEqual(['node-1']);
    await clock.until(async () => (await nodesOf(client).list()).items.length === 1, 120_000);
    await expect(cluster.nodes.stop('node-2')).rejects.toThrow('there is no node node-2; there are: node-1');
  });

  it('is left out on request', async () => {
    await using cluster = await startCluster({ cloud: false });
    expect(() => cluster.cloud).toThrow('no cloud of its own');
    expect((await nodesOf(cluster.client).get('node-1')).spec?.providerID).toBeUndefined();
    expect(await cluster.nodes.add()).toBe('node-2');
    await cluster.nodes.terminate('node-2');
    expect(cluster.nodes.names()).toEqual(['node-1']);
  });
});

describe('a provider of one’s own', () => {
  it('completes nodes and serves load balancers', async () => {
    const fake = new FakeCloud({ clock: systemClock(), rng: seededRng(1) });
    for (const name of ['node-1', 'node-2'])
      fake.addInstance(name, { addresses: [{ type: 'InternalIP', address: `10.9.0.${name.at(-1)}` }] });
    await using cluster = await startCluster({ nodes: 2, cloudProvider: { name: fakeProviderName, cloud: fakeProvider(fake) } });
    const { spec } = await nodesOf(cluster.client).get('node-2');
    expect(spec?.providerID).toBe(providerIdOf(fakeProviderName, fake.instanceOf('node-2')?.id ?? ''));
    await eventually('its address', async () =>
      (await nodesOf(cluster.client).get('node-2')).status?.addresses?.some(({ address }) => address === '10.9.0.2'),
    );
    await servicesOf(cluster.client).create(service);
    await eventually('an address', () => addressOf(cluster.client));
    expect(fake.balancers.size).toBe(1);
    // The kubelet is reached at the address that the provider says.
    await cluster.client.transport
      .raw('GET', '/api/v1/nodes/node-2/proxy/healthz')
      .then(({ status: code }) => expect(code).toBe(200));
  });

  it('is made of its definition, whose configuration is checked', async () => {
    const definition = defineCloudProvider<{ zone: string }>({
      name: 'mine',
      apiVersion: cloudProviderApiVersion,
      configSchema: { type: 'object', required: ['zone'], properties: { zone: { type: 'string' } } },
      create: ({ config }) => ({
        hasClusterId: () => true,
        instancesV2: {
          instanceExists: () => Promise.resolve(true),
          instanceShutdown: () => Promise.resolve(false),
          instanceMetadata: ({ metadata }) =>
            Promise.resolve({
              providerId: `mine://${metadata.name}`,
              zone: config.zone,
              nodeAddresses: [{ type: 'InternalIP', address: '10.1.2.3' }],
            }),
        },
      }),
    });
    await expect(startCluster({ cloudProvider: definition, cloudConfig: {} })).rejects.toThrow('zone');
    await using cluster = await startCluster({ cloudProvider: definition, cloudConfig: { zone: 'z' } });
    const { metadata, spec } = await nodesOf(cluster.client).get('node-1');
    expect([spec?.providerID, metadata.labels?.['topology.kubernetes.io/zone']]).toEqual(['mine://node-1', 'z']);
  });
});
