// Nodes and their machines: initialisation, labels and addresses (facts of upstream's cloud node controller).
import { afterEach, describe, expect, it } from 'vitest';
import { conflict, modifiedMessage } from '#apimachinery/errors';
import type { Transport } from '#apimachinery/transport';
import { type CloudProvider, type InstanceMetadata, notImplemented, providedNodeIpAnnotation } from '#cloud-provider';
import { type CloudWorld, type CloudWorldOptions, startCloudWorld, uninitialized } from './world.ts';

let world: CloudWorld;
const start = async (options: CloudWorldOptions = {}): Promise<void> => {
  world = await startCloudWorld(options);
};
afterEach(() => world.close());

const tainted = async (name: string): Promise<boolean> => (await world.node(name)).spec?.taints !== undefined;
const asked = (): number => world.cloud.gate.calls.filter(({ operation }) => operation === 'instanceMetadata').length;
/** A cloud that says this of every machine. */
const saying =
  (metadata: InstanceMetadata | undefined) =>
  (provider: CloudProvider): CloudProvider => ({
    ...provider,
    instancesV2: {
      instanceExists: () => Promise.resolve(true),
      instanceShutdown: () => Promise.resolve(false),
      instanceMetadata: () => Promise.resolve(metadata),
    },
  });
/** The first writes of Nodes are answered with a conflict. */
const conflicts =
  (count: number) =>
  (inner: Transport): Transport => {
    let left = count;
    return {
      ...inner,
      call: async (call, signal) => {
        if (call.verb === 'update' && call.resource === 'nodes' && left-- > 0)
          throw conflict(call, call.name ?? '', modifiedMessage);
        return inner.call(call, signal);
      },
      close: () => inner.close(),
      watch: (...watch) => inner.watch(...watch),
      raw: (...request) => inner.raw(...request),
    };
  };

describe.each(['v1', 'v2'] as const)('a new node, through interface %s', (instances) => {
  it('gets provider ID, labels and addresses, and loses the taint', async () => {
    await start({ provider: { instances } });
    await world.addNode('a', { spec: { taints: [uninitialized, { key: 'mine', effect: 'NoSchedule' }] } });
    await world.clock.advance(1_000);
    const { metadata, spec, status } = await world.node('a');
    expect(spec).toMatchObject({ providerID: 'fake://i-000001', taints: [{ key: 'mine', effect: 'NoSchedule' }] });
    expect(metadata.labels).toMatchObject({
      'beta.kubernetes.io/instance-type': 'fake.small',
      'node.kubernetes.io/instance-type': 'fake.small',
      'failure-domain.beta.kubernetes.io/zone': 'fake-1b',
      'topology.kubernetes.io/zone': 'fake-1b',
      'failure-domain.beta.kubernetes.io/region': 'fake-1',
      'topology.kubernetes.io/region': 'fake-1',
    });
    expect(status?.addresses).toEqual([
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'Hostname', address: 'a' },
    ]);
    expect(await world.events('a')).toEqual(['Synced: Node synced successfully']);
    expect(await world.manager.metrics.expose()).toContain('node_controller_cloud_provider_taint_removal_delay_seconds_count 1');
  });
});

describe('initialisation', () => {
  it('waits while the cloud does not know the machine', async () => {
    await start();
    await world.addNode('late', { spec: { taints: [uninitialized] } }, false);
    await world.clock.advance(60_000);
    expect((await world.node('late')).spec?.taints).toHaveLength(1);
    world.cloud.addInstance('late');
    await world.clock.until(async () => (await world.node('late')).spec?.taints === undefined, 120_000);
  });
  it('refuses a node IP that the machine does not have, and keeps a provider ID that is there', async () => {
    await start({ controllers: ['cloud-node'] });
    const annotations = { 'alpha.kubernetes.io/provided-node-ip': '9.9.9.9' };
    await world.addNode('a', { metadata: { name: 'a', annotations }, spec: { taints: [uninitialized] } });
    await world.clock.advance(10_000);
    expect((await world.node('a')).spec?.taints).toHaveLength(1);
    expect(world.plane.decisions).toBeDefined();
    await world.patchNode('a', { metadata: { annotations: { 'alpha.kubernetes.io/provided-node-ip': '10.0.0.1' } } });
    await world.clock.until(async () => (await world.node('a')).spec?.taints === undefined, 60_000);
  });
  it.each([20, 45])('gets through a storm of %i conflicts within seconds, and asks the cloud once', async (count) => {
    await start({ controllers: ['cloud-node'], network: conflicts(count) });
    await world.addNode('a', { spec: { taints: [uninitialized] } });
    await world.clock.until(async () => !(await tainted('a')), 5_000);
    expect(asked()).toBe(1);
  });
  it('takes only labels of the cloud that are nobody else’s', async () => {
    await start({ controllers: ['cloud-node'] });
    const labels = {
      'foo.k8s.io/x': '1',
      'kubernetes.io/x': '1',
      'a.kubernetes.io/x': '1',
      'example.com/x': '1',
      'example.com/kept': 'new',
    };
    world.cloud.addInstance('a', { labels });
    const metadata = { name: 'a', labels: { 'example.com/kept': 'old' } };
    await world.addNode('a', { metadata, spec: { taints: [uninitialized] } }, false);
    await world.clock.until(async () => !(await tainted('a')), 1_000);
    const kept = Object.entries((await world.node('a')).metadata.labels ?? {}).filter(([key]) => Object.hasOwn(labels, key));
    expect(Object.fromEntries(kept)).toEqual({ 'example.com/x': '1', 'example.com/kept': 'old' });
  });
  it('does not overwrite a provider ID', async () => {
    const metadata = { providerId: 'fake://other', nodeAddresses: [] };
    await start({ controllers: ['cloud-node'], cloud: saying(metadata) });
    await world.addNode('a', { spec: { providerID: 'fake://mine', taints: [uninitialized] } });
    await world.clock.until(async () => !(await tainted('a')), 1_000);
    expect((await world.node('a')).spec?.providerID).toBe('fake://mine');
  });
  it('does without a provider ID where the older interface has none', async () => {
    const unnumbered = ({ instances, ...more }: CloudProvider): CloudProvider => ({
      ...more,
      ...(instances && { instances: { ...instances, instanceId: () => Promise.reject(notImplemented()) } }),
    });
    await start({ controllers: ['cloud-node', 'cloud-node-lifecycle'], provider: { instances: 'v1' }, cloud: unnumbered });
    await world.addNode('a', { spec: { taints: [uninitialized] } });
    await world.clock.until(async () => !(await tainted('a')), 1_000);
    const { metadata, spec } = await world.node('a');
    expect(spec?.providerID).toBeUndefined();
    expect(metadata.labels).toMatchObject({ 'node.kubernetes.io/instance-type': 'fake.small' });
    // Nobody can tell whether its machine exists: the Node stays.
    await world.patchNode('a', { status: { conditions: [{ type: 'Ready', status: 'False' }] } }, 'status');
    await world.clock.advance(20_000);
    expect((await world.node('a')).metadata.uid).toBe(metadata.uid);
  });
  it('waits without an error while the cloud gives no metadata', async () => {
    await start({ controllers: ['cloud-node'], cloud: saying(undefined) });
    await world.addNode('a', { spec: { taints: [uninitialized] } });
    await world.clock.advance(60_000);
    expect(await tainted('a')).toBe(true);
    expect(world.plane.decisions.about({ group: '', resource: 'nodes', key: 'a' }).map(({ failure }) => failure)).toEqual([
      undefined,
    ]);
  });
  it.each<[string | undefined, boolean]>([
    [undefined, false],
    ['fake://mine', true],
  ])('needs a provider ID of the cloud, where the node has %s', async (providerID, initialised) => {
    await start({ controllers: ['cloud-node'], cloud: saying({ nodeAddresses: [] }) });
    await world.addNode('a', { spec: { ...(providerID && { providerID }), taints: [uninitialized] } });
    await world.clock.advance(10_000);
    expect(await tainted('a')).toBe(!initialised);
  });
});

describe('addresses of a machine, by what the kubelet was told with --node-ip (KEP-3705)', () => {
  const all = ['1.2.3.4', '5.6.7.8', 'abcd::1234', 'abcd::5678'];
  it.each<[string | undefined, string[], string[] | undefined]>([
    [undefined, all, all],
    ['1.2.3.4', all, ['1.2.3.4']],
    ['9.10.11.12', all, undefined],
    ['abcd::5678', all, ['abcd::5678']],
    ['1.2.3.4,abcd::1234', all, ['1.2.3.4', 'abcd::1234']],
    ['1.2.3.4,9.10.11.12', all, undefined],
    ['fd00::1', ['10.0.0.1', 'fd00::1', 'ExternalIP:192.168.0.1'], ['fd00::1', 'ExternalIP:192.168.0.1']],
  ])('%s of %j are %j', async (ip, offered, expected) => {
    await start({ controllers: ['cloud-node'] });
    const asAddress = (text: string) =>
      text.startsWith('ExternalIP:') ? { type: 'ExternalIP', address: text.slice(11) } : { type: 'InternalIP', address: text };
    world.cloud.addInstance('a', { addresses: offered.map(asAddress) });
    const annotations: Record<string, string> = ip === undefined ? {} : { [providedNodeIpAnnotation]: ip };
    const hostname = { type: 'Hostname', address: 'host-a' };
    const more = { spec: { taints: [uninitialized] }, status: { addresses: [hostname] } };
    await world.addNode('a', { metadata: { name: 'a', annotations }, ...more }, false);
    await world.clock.advance(5_000);
    expect(await tainted('a')).toBe(expected === undefined);
    // A host name that the cloud does not know stays.
    expect((await world.node('a')).status?.addresses).toEqual([...(expected ?? []).map(asAddress), hostname]);
  });
});

describe('an initialised node', () => {
  it('follows the addresses of its machine every five minutes', async () => {
    await start();
    await world.addNode('a', { spec: { taints: [uninitialized] } });
    await world.clock.advance(1_000);
    const instance = world.cloud.instanceOf('a');
    if (instance) instance.addresses = [{ type: 'InternalIP', address: '10.9.9.9' }];
    await world.clock.advance(290_000);
    expect((await world.node('a')).status?.addresses?.[0]?.address).toBe('10.0.0.1');
    await world.clock.advance(20_000);
    expect((await world.node('a')).status?.addresses).toEqual([
      { type: 'InternalIP', address: '10.9.9.9' },
      { type: 'Hostname', address: 'a' },
    ]);
  });
  it('keeps stable labels equal to the beta ones', async () => {
    await start({ controllers: ['cloud-node'] });
    await world.addNode('a', { metadata: { name: 'a', labels: { 'failure-domain.beta.kubernetes.io/zone': 'z1' } } });
    await world.clock.advance(1_000);
    expect((await world.node('a')).metadata.labels?.['topology.kubernetes.io/zone']).toBe('z1');
  });
  it('keeps its addresses while the cloud fails or gives none', async () => {
    await start();
    await world.addNode('a', { spec: { taints: [uninitialized] } });
    await world.clock.advance(1_000);
    const before = (await world.node('a')).status?.addresses;
    const instance = world.cloud.instanceOf('a');
    if (instance) instance.addresses = [];
    await world.clock.advance(300_000);
    world.cloud.gate.faults.outage = true;
    await world.clock.advance(300_000);
    const { spec, status } = await world.node('a');
    expect(status?.addresses).toEqual(before);
    expect(spec?.taints).toBeUndefined();
  });
  it('of two families is not patched when nothing changed', async () => {
    await start({ controllers: ['cloud-node'] });
    const addresses = ['10.0.0.1', 'fd00::1'].map((address) => ({ type: 'InternalIP', address }));
    world.cloud.addInstance('a', { addresses });
    await world.addNode('a', { spec: { taints: [uninitialized] } }, false);
    await world.clock.advance(10_000);
    const { resourceVersion } = (await world.node('a')).metadata;
    await world.clock.advance(700_000);
    expect(asked()).toBeGreaterThan(2);
    expect((await world.node('a')).metadata.resourceVersion).toBe(resourceVersion);
  });
});
