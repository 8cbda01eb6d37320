// Nodes and their machines: initialisation, addresses, shutdown, deletion (facts of upstream's cloud node and node lifecycle controllers).
import { afterEach, describe, expect, it } from 'vitest';
import { isShutdownTaint } from './taints.ts';
import { type CloudWorld, type CloudWorldOptions, nodes, startCloudWorld, uninitialized } from './world.ts';

let world: CloudWorld;
const start = async (options: CloudWorldOptions = {}): Promise<void> => {
  world = await startCloudWorld(options);
};
afterEach(() => world.close());
const notReady = { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } };

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
  it('asks the cloud once although its writes meet conflicts', async () => {
    await start({ controllers: ['cloud-node'] });
    await world.addNode('a', { spec: { taints: [uninitialized] } });
    for (let round = 0; round < 5; round++) await world.patchNode('a', { metadata: { annotations: { round: `${round}` } } });
    await world.clock.advance(10_000);
    expect((await world.node('a')).spec?.taints).toBeUndefined();
    expect(world.cloud.gate.calls.filter(({ operation }) => operation === 'instanceMetadata').length).toBeLessThan(4);
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
});

describe('a node that is not ready', () => {
  it('is deleted within a period when its machine is gone', async () => {
    await start();
    await world.addNode('a');
    await world.clock.advance(20_000);
    expect(world.cloud.gate.calls.filter(({ operation }) => operation === 'instanceExists')).toEqual([]);
    world.cloud.removeInstance('a');
    await world.patchNode('a', notReady, 'status');
    await world.clock.until(world.gone(nodes, 'a'), 5_001);
    await world.clock.advance(100);
    expect(await world.events('a')).toContain('DeletingNode: Deleting node a because it does not exist in the cloud provider');
  });
  it('is marked while its machine is shut down', async () => {
    await start();
    await world.addNode('a');
    const instance = world.cloud.instanceOf('a');
    if (instance) instance.state = 'stopped';
    await world.patchNode('a', notReady, 'status');
    await world.clock.until(async () => isShutdownTaint(await world.node('a')), 6_000);
    expect((await world.node('a')).spec?.taints).toContainEqual(
      expect.objectContaining({ key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' }),
    );
    await world.patchNode('a', { status: { conditions: [{ type: 'Ready', status: 'True' }] } }, 'status');
    await world.clock.until(async () => !isShutdownTaint(await world.node('a')), 6_000);
  });
  it('stays while the cloud does not answer', async () => {
    await start();
    await world.addNode('a');
    world.cloud.removeInstance('a');
    world.cloud.gate.faults.outage = true;
    await world.patchNode('a', notReady, 'status');
    await world.clock.advance(60_000);
    await world.node('a');
    world.cloud.gate.faults.outage = false;
    await world.clock.until(world.gone(nodes, 'a'), 10_000);
  });
});
