// What the conformance suite does not look at: routes of stopped and vanished instances, addresses kept, load balancers left over.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isConflict } from '#apimachinery/errors';
import { type CloudProvider, retryAfterOf, type Route, type Service } from '#cloud-provider';
import { nodeNamed, serviceNamed } from './test-support/fixtures.ts';
import { systemClock, systemRng } from '#host';
import { silentLogger } from '#utils';
import { type CloudClient, createCloudClient } from '../client/index.ts';
import { memoryLoadBalancers, memoryMachines } from '../memory/index.ts';
import { noFaults } from '../model/index.ts';
import { type RunningCloud, startCloud } from '../server/index.ts';
import { localCloudProvider } from './index.ts';
import { sweep } from './sweep.ts';

const clock = systemClock();
const token = 'a-customer-token';
let dir = '';
let cloud: RunningCloud;
let client: CloudClient;
let provider: CloudProvider;
let config: Parameters<typeof localCloudProvider.create>[0]['config'];
let subnetId = '';

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'cloud-provider-'));
  cloud = await startCloud(
    {
      dataDir: dir,
      accounts: [{ id: 'customer', token, role: 'customer' }],
      region: 'local-1',
      zones: ['local-1a'],
      publicCidr: '198.18.0.0/24',
      mark: 'abcdef',
      drivers: { machines: memoryMachines({ clock }), 'load-balancers': memoryLoadBalancers() },
    },
    { clock, rng: systemRng(), logger: silentLogger },
  );
  const url = `http://127.0.0.1:${cloud.port}`;
  client = createCloudClient({ url, token });
  const { id: vpcId } = await client.createVpc({ cidr: '10.77.0.0/16' });
  subnetId = (await client.createSubnet({ vpcId, zone: 'local-1a', cidr: '10.77.0.0/20' })).id;
  config = { url, token, clusterId: 'test', vpcId, defaultLoadBalancerKind: 'proxy' };
  provider = await localCloudProvider.create({ config, configDir: dir, clock, logger: silentLogger });
});
afterEach(async () => {
  client.close();
  await cloud.close();
  await rm(dir, { recursive: true, force: true });
});

async function settled(id: string, state: string): Promise<void> {
  while (cloud.world.instances.get(id)?.state !== state) await clock.sleep(2);
}
async function run(name: string, tags: Record<string, string> = {}) {
  const instance = await client.runInstance({ name, subnetId, assignPublicAddress: true, tags });
  await settled(instance.id, 'running');
  return instance;
}
const wanted = (targetNode: string): Route => ({
  name: '',
  targetNode,
  targetNodeAddresses: [],
  destinationCidr: '10.244.1.0/24',
});
const routes = () => provider.routes?.listRoutes('kubernetes') ?? Promise.resolve([]);
const balancers = () => [...cloud.world.loadBalancers.values()];
const ensure = (service: Service) => provider.loadBalancer?.ensureLoadBalancer('kubernetes', service, []);

it('tells addresses and labels of an instance', async () => {
  const instance = await run('node-a', { 'label:example.com/rack': 'r1', other: 'x' });
  expect(await provider.instancesV2?.instanceMetadata(nodeNamed('node-a'))).toEqual({
    providerId: `local://local-1a/${instance.id}`,
    instanceType: 'local.small',
    zone: 'local-1a',
    region: 'local-1',
    nodeAddresses: [
      { type: 'InternalIP', address: '10.77.0.4' },
      { type: 'ExternalIP', address: '198.18.0.3' },
      { type: 'InternalDNS', address: 'ip-10-77-0-4.local-1.compute.internal' },
      { type: 'Hostname', address: 'node-a' },
    ],
    additionalLabels: { 'example.com/rack': 'r1' },
  });
  expect(await provider.instancesV2?.instanceExists(nodeNamed('ip-10-77-0-4.local-1.compute.internal'))).toBe(true);
});

it('keeps the route of a stopped instance, and reports that of a vanished one', async () => {
  const { id, interfaceIds } = await run('node-a');
  await provider.routes?.createRoute('kubernetes', 'uid', wanted('node-a'));
  expect(cloud.world.interfaces.get(interfaceIds[0] ?? '')?.sourceDestCheck).toBe(false);
  const [route] = await routes();
  expect(route).toMatchObject({ targetNode: 'node-a', destinationCidr: '10.244.1.0/24' });
  await client.stopInstance({ instanceId: id });
  await settled(id, 'stopped');
  expect((await routes())[0]).not.toHaveProperty('blackhole');
  await client.terminateInstance({ instanceId: id });
  await settled(id, 'terminated');
  expect((await routes())[0]).toMatchObject({ targetNode: 'node-a', blackhole: true });
});

it('says conflict when another route has the destination, and leaves that one alone', async () => {
  await run('node-a');
  await run('node-b');
  await provider.routes?.createRoute('kubernetes', 'uid-a', wanted('node-a'));
  const conflict = await provider.routes?.createRoute('kubernetes', 'uid-b', wanted('node-b')).catch((error: unknown) => error);
  expect(isConflict(conflict)).toBe(true);
  await provider.routes?.deleteRoute('kubernetes', { ...wanted('node-b'), name: 'another' });
  expect((await routes()).map(({ targetNode }) => targetNode)).toEqual(['node-a']);
});

it('does not show the way to the internet', async () => {
  const [table] = cloud.world.routeTables.values();
  await client.putRoute({
    routeTableId: table?.id ?? '',
    destination: '0.0.0.0/0',
    target: { kind: 'internet-gateway' },
    name: 'internet',
  });
  expect(await routes()).toEqual([]);
});

it('keeps the address when the kind must change, and takes the one asked for', async () => {
  const service = serviceNamed('web', 1);
  const { ingress: [before] = [] } = (await ensure(service)) ?? {};
  const local = { ...service, spec: { ...service.spec, externalTrafficPolicy: 'Local', healthCheckNodePort: 30_999 } };
  const { ingress: [after] = [] } = (await ensure(local)) ?? {};
  expect(after?.ip).toBe(before?.ip);
  expect(balancers().map(({ kind }) => kind)).toEqual(['network']);
  const { ingress: [asked] = [] } =
    (await ensure({ ...service, spec: { ...service.spec, loadBalancerIP: '198.18.0.200' } })) ?? {};
  expect(asked?.ip).toBe('198.18.0.200');
  await expect(ensure(serviceNamed('other', 2, { loadBalancerIP: '198.18.0.200' }))).rejects.toThrow('AddressInUse');
  expect(balancers()).toHaveLength(1);
});

it('brings every side of a load balancer in line', async () => {
  const service = serviceNamed('web', 1, { loadBalancerSourceRanges: ['10.0.0.0/8'], sessionAffinity: 'ClientIP' });
  await ensure(service);
  expect(balancers()[0]).toMatchObject({ sourceRanges: ['10.0.0.0/8'], affinityTimeoutSeconds: 10_800, kind: 'network' });
  const annotations = { 'service.beta.kubernetes.io/local-load-balancer-kind': 'network' };
  await ensure({ ...serviceNamed('web', 1), metadata: { ...service.metadata, annotations } });
  expect(balancers()[0]).toMatchObject({ sourceRanges: ['0.0.0.0/0'], kind: 'network' });
  expect(balancers()[0]).not.toHaveProperty('affinityTimeoutSeconds');
});

it('passes on how long the cloud wants to be left alone', async () => {
  cloud.setFaults({ ...noFaults, throttleRate: 1, retryAfterSeconds: 7 });
  expect(retryAfterOf(await ensure(serviceNamed('web', 1))?.catch((error: unknown) => error))).toBe(7_000);
});

it('collects load balancers of the cluster whose Service is gone, and no others', async () => {
  await ensure(serviceNamed('here', 1));
  await ensure(serviceNamed('gone', 2));
  const foreign = { ...config, clusterId: 'another' };
  const other = await localCloudProvider.create({ config: foreign, configDir: dir, clock, logger: silentLogger });
  await other.loadBalancer?.ensureLoadBalancer('kubernetes', serviceNamed('theirs', 3), []);
  const context = { api: client, config, clock, logger: silentLogger };
  const gone = balancers().filter(({ tags }) => tags['kubernetes.io/service-name'] === 'default/gone');
  expect(await sweep(context, async () => [serviceNamed('here', 1)])).toEqual(gone.map(({ id }) => id));
  expect(balancers().map(({ tags }) => tags['kubernetes.io/service-name'])).toEqual(['default/here', 'default/theirs']);
});
