// A test cluster as data: a fork goes on from the same state and apart from the original, a snapshot survives its process.
import { afterEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Deployment } from '#api/apps/v1';
import type { Node, Pod, Service } from '#api/core/v1';
import type { KubeObject } from '#apimachinery/meta';
import { clientConfigOf, createClient, createRestTransport, type KubeClient, type Kubeconfig } from '#client';
import { systemClock } from '#host';
import { startCluster, type TestCluster } from '#testing';

type ConfigMap = KubeObject & { data?: Record<string, string> };
const core = (resource: string) => ({ group: '', version: 'v1', resource });
const pods = (client: KubeClient) => client.resource<Pod>(core('pods'), 'default');
const maps = (client: KubeClient) => client.resource<ConfigMap>(core('configmaps'), 'default');
const nodes = (client: KubeClient) => client.resource<Node>(core('nodes'));
const services = (client: KubeClient) => client.resource<Service>(core('services'), 'default');
const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };
const labels = { app: 'web' };
const deployment: Deployment = {
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example.org/web:1' }] } },
  },
};
const clusters: TestCluster[] = [];
const kept = (cluster: TestCluster): TestCluster => {
  clusters.push(cluster);
  return cluster;
};
afterEach(async () => {
  await Promise.all(clusters.splice(0).map((cluster) => cluster.stop()));
});

async function eventually<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    const found = await look().catch(() => undefined);
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`not within 20 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
const running = (client: KubeClient, count: number): Promise<Pod[]> =>
  eventually(`${count} pods`, async () => {
    const { items } = await pods(client).list();
    return items.length === count && items.every(({ status }) => status?.phase === 'Running') && items;
  });

it('a fork goes on from there, apart from the original', async () => {
  const first = kept(await startCluster({ nodes: 2 }));
  await first.client.resource<Deployment>(deployments, 'default').create(deployment);
  await services(first.client).create({ metadata: { name: 'web' }, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } });
  const before = await running(first.client, 2);
  const address = await eventually('an address', async () => {
    return (await services(first.client).get('web')).status?.loadBalancer?.ingress?.[0]?.ip;
  });
  const made = await maps(first.client).create({ metadata: { name: 'one' }, data: { a: '1' } });
  const second = kept(await first.fork());
  expect(second.url).not.toBe(first.url);
  expect(second.nodes.names()).toEqual(['node-1', 'node-2']);
  // Resource versions go on: an update with that of the original is taken once.
  const changed = await maps(second.client).update({ ...made, data: { a: '2' } });
  expect(Number(changed.metadata.resourceVersion)).toBeGreaterThan(Number(made.metadata.resourceVersion));
  expect((await maps(first.client).get('one')).data).toEqual({ a: '1' });
  // The same pods, running; the loops go on with them.
  const after = await running(second.client, 2);
  expect(after.map(({ metadata }) => metadata.uid).sort()).toEqual(before.map(({ metadata }) => metadata.uid).sort());
  await second.client
    .resource<Deployment>(deployments, 'default')
    .patch('web', 'application/merge-patch+json', { spec: { replicas: 4 } });
  await running(second.client, 4);
  expect((await pods(first.client).list()).items).toHaveLength(2);
  // The cloud came along, and is another one.
  expect(second.cloud.loadBalancers()).toMatchObject([{ address }]);
  expect((await nodes(second.client).list()).items.map(({ spec }) => spec?.providerID)).toEqual(
    (await nodes(first.client).list()).items.map(({ spec }) => spec?.providerID),
  );
  await services(second.client).delete('web');
  await eventually('its end', async () => second.cloud.loadBalancers().length === 0);
  expect(first.cloud.loadBalancers()).toHaveLength(1);
  // Whoever could talk to the original can talk to it.
  const config = { ...clientConfigOf(parse(first.kubeconfig) as Kubeconfig), server: second.url };
  const wire = createClient(createRestTransport({ config, clock: systemClock(), userAgent: 'test' }));
  expect((await maps(wire).get('one')).data).toEqual({ a: '2' });
  wire.transport.close();
});

it('a snapshot is bytes, and is started from more than once', async () => {
  const first = kept(await startCluster({ nodes: 2, cloud: false }));
  await maps(first.client).create({ metadata: { name: 'one' }, data: { a: '1' } });
  await first.nodes.stop('node-2');
  const snapshot = first.snapshot();
  const bytes = snapshot.bytes();
  await maps(first.client).delete('one');
  await first.stop();
  const [second, third] = (await Promise.all([startCluster({ from: bytes }), startCluster({ from: snapshot })])).map(kept);
  for (const cluster of [second, third]) {
    expect((await maps((cluster as TestCluster).client).get('one')).data).toEqual({ a: '1' });
    expect(cluster?.nodes.names()).toEqual(['node-1', 'node-2']);
  }
  await second?.nodes.start('node-2');
  expect(await second?.nodes.add()).toBe('node-3');
});

it('refuses what is none, and options that it answers itself', async () => {
  await expect(startCluster({ from: new Uint8Array([1, 2, 3]) })).rejects.toThrow('no snapshot of a cluster');
  const first = kept(await startCluster({ nodes: 0, cloud: false }));
  await expect(startCluster({ from: first.snapshot(), nodes: 3 })).rejects.toThrow('the snapshot has its nodes');
  await expect(startCluster({ from: first.snapshot(), cloud: true })).rejects.toThrow('the snapshot says what the cloud is');
});
