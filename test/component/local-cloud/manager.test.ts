// The cloud-controller-manager over the provider `local`, which reaches a cloud of its own over HTTPS, which fails one call in five: the real apiserver,
// real time.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Node, Service } from '#api/core/v1';
import { isNotFound } from '#apimachinery/errors';
import type { GroupVersionResource } from '#apimachinery/meta';
import { type Instance, noFaults } from '#cloud';
import { type CloudClient, createCloudClient } from '#cloud/client';
import { memoryLoadBalancers, memoryMachines } from '#cloud/memory';
import { localCloudProvider } from '#cloud/provider';
import { type RunningCloud, startCloud } from '#cloud/server';
import { defaultCloudControllersConfig, parseClusterCidrs, runCloudControllerManager } from '#cloud-controller-manager';
import { defaultLeaderElection } from '#component-base';
import { atomicWrite, systemClock, systemRng } from '#host';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { startTestControlPlane, type TestControlPlane } from '#testing';
import { silentLogger } from '#utils';

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource });
const clock = systemClock();
const token = 'a-customer-token';
let dir = '';
let cloud: RunningCloud;
let api: CloudClient;
let plane: TestControlPlane;
let subnetId = '';
let undo: (() => Promise<void> | void)[] = [];

const nodes = () => plane.client.resource<Node>(core('nodes'));
const services = () => plane.client.resource<Service>(core('services'), 'default');
const balancers = () => [...cloud.world.loadBalancers.values()];

async function eventually<T>(what: string, look: () => Promise<T | undefined | false> | T | undefined | false): Promise<T> {
  const deadline = clock.monotonic() + 40_000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (clock.monotonic() > deadline) throw new Error(`not within 40 s: ${what}`);
    await clock.sleep(20);
  }
}

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'cloud-manager-'));
  const ca = createCertificateAuthority({ commonName: 'test' });
  const tls = issueCertificate({ ca, commonName: 'cloud', ips: ['127.0.0.1'], usages: ['server auth'], days: 1 });
  await atomicWrite(join(dir, 'ca.crt'), ca.cert);
  cloud = await startCloud(
    {
      dataDir: dir,
      tls,
      accounts: [{ id: 'customer', token, role: 'customer' }],
      region: 'local-1',
      zones: ['local-1a'],
      publicCidr: '198.18.0.0/24',
      mark: 'abcdef',
      drivers: { machines: memoryMachines({ clock, delayMs: 20 }), 'load-balancers': memoryLoadBalancers() },
    },
    { clock, rng: systemRng(), logger: silentLogger },
  );
  const url = `https://127.0.0.1:${cloud.port}`;
  api = createCloudClient({ url, token, ca: ca.cert });
  const { id: vpcId } = await api.createVpc({ cidr: '10.77.0.0/16' });
  subnetId = (await api.createSubnet({ vpcId, zone: 'local-1a', cidr: '10.77.0.0/20' })).id;
  plane = await startTestControlPlane({ clock });
  const provider = await localCloudProvider.create({
    config: { url, token, caFile: 'ca.crt', clusterId: 'test', vpcId, defaultLoadBalancerKind: 'proxy' },
    configDir: dir,
    clock,
    logger: silentLogger,
  });
  const manager = runCloudControllerManager(
    {
      providerName: 'local',
      cloud: provider,
      controllers: ['*'],
      config: {
        ...defaultCloudControllersConfig(),
        clusterCidrs: parseClusterCidrs(['10.244.0.0/16']),
        routeReconciliationPeriodMs: 200,
        nodeMonitorPeriodMs: 200,
      },
      leaderElection: { ...defaultLeaderElection('cloud-controller-manager'), leaderElect: false },
      identity: 'one',
    },
    { client: plane.client, clock, rng: systemRng(), logger: silentLogger, decisions: plane.decisions },
  );
  undo = [() => manager.stop(), () => plane.stop(), () => api.close(), () => cloud.close()];
});
afterEach(async () => {
  for (const step of undo) await step();
  await rm(dir, { recursive: true, force: true });
});

async function joined(name: string, podCIDR: string): Promise<Instance> {
  const instance = await api.runInstance({ name, subnetId, tags: { 'label:example.com/rack': 'r1' } });
  await nodes().create({
    metadata: { name },
    spec: {
      podCIDR,
      podCIDRs: [podCIDR],
      taints: [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }],
    },
  });
  return instance;
}
const ready = (name: string, status: 'True' | 'Unknown') =>
  nodes().patch(
    name,
    'application/merge-patch+json',
    { status: { conditions: [{ type: 'Ready', status, reason: 'x', lastTransitionTime: new Date().toISOString() }] } },
    { subresource: 'status' },
  );
const routesTo = () =>
  [...cloud.world.routeTables.values()].flatMap(({ routes }) =>
    routes.flatMap(({ destination, target, state }) =>
      target.kind === 'instance' ? [`${destination} ${target.id} ${state}`] : [],
    ),
  );

it('Nodes, routes and load balancers of a cluster live and die with their cloud, however often it fails', async () => {
  cloud.setFaults({
    ...noFaults,
    errorRate: 0.2,
    operations: ['getInstance', 'listInstances', 'getRouteTable', 'putRoute', 'getInterface'],
  });
  const a = await joined('node-a', '10.244.0.0/24');
  const b = await joined('node-b', '10.244.1.0/24');
  const node = await eventually('node-a is initialised', async () => {
    const now = await nodes().get('node-a');
    return !now.spec?.taints?.some(({ key }) => key?.includes('uninitialized')) && now;
  });
  expect(node.spec?.providerID).toBe(`local://local-1a/${a.id}`);
  expect(node.metadata.labels).toMatchObject({
    'example.com/rack': 'r1',
    'topology.kubernetes.io/zone': 'local-1a',
    'topology.kubernetes.io/region': 'local-1',
    'node.kubernetes.io/instance-type': 'local.small',
  });
  await eventually('addresses', async () =>
    (await nodes().get('node-a')).status?.addresses?.some(({ address }) => address === a.privateAddress),
  );
  await eventually('both routes', () => routesTo().filter((route) => route.endsWith('active')).length === 2);
  await Promise.all([ready('node-a', 'True'), ready('node-b', 'True')]);

  await services().create({
    metadata: { name: 'web' },
    spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80, protocol: 'TCP', nodePort: 30_080 }] },
  });
  const { status } = await eventually('an address', async () => {
    const now = await services().get('web');
    return now.status?.loadBalancer?.ingress?.length ? now : undefined;
  });
  expect(status?.loadBalancer?.ingress).toEqual([
    { ip: balancers()[0]?.address, ipMode: 'VIP', ports: [{ port: 80, protocol: 'TCP' }] },
  ]);
  await eventually('both targets', () => balancers()[0]?.targets.length === 2);

  cloud.setFaults(noFaults);
  await api.stopInstance({ instanceId: b.id });
  await ready('node-b', 'Unknown');
  await eventually('the shutdown taint', async () =>
    (await nodes().get('node-b')).spec?.taints?.some(({ key }) => key === 'node.cloudprovider.kubernetes.io/shutdown'),
  );
  expect(routesTo()).toContain(`10.244.1.0/24 ${b.id} blackhole`);
  await api.terminateInstance({ instanceId: b.id });
  await eventually('the Node is gone', () =>
    nodes()
      .get('node-b')
      .then(
        () => false,
        (error: unknown) => isNotFound(error),
      ),
  );
  await eventually('its route and its target are gone', () => routesTo().length === 1 && balancers()[0]?.targets.length === 1);

  await services().delete('web');
  await eventually('the load balancer is gone', () => balancers().length === 0);
  await eventually('the Service is gone', () =>
    services()
      .get('web')
      .then(
        () => false,
        (error: unknown) => isNotFound(error),
      ),
  );
});
