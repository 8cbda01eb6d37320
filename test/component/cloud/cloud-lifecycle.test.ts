// Nodes whose machines stop, start and go (facts of upstream's cloud node lifecycle controller).
import { afterEach, describe, expect, it } from 'vitest';
import { type CloudProvider, notImplemented } from '#cloud-provider';
import { isShutdownTaint } from './taints.ts';
import { type CloudWorld, type CloudWorldOptions, nodes, startCloudWorld } from './world.ts';

let world: CloudWorld;
const start = async (options: CloudWorldOptions = {}): Promise<void> => {
  world = await startCloudWorld(options);
};
afterEach(() => world.close());
const notReady = { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } };
const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
const asked = (): string[] =>
  world.cloud.gate.calls.map(({ operation }) => operation).filter((operation) => /Exists|Shutdown/.test(operation));
const powerOff = (name: string): void => {
  const instance = world.cloud.instanceOf(name);
  if (instance) instance.state = 'stopped';
};

describe('a node that is ready', () => {
  it('is never asked for, even if its machine is gone', async () => {
    await start();
    await world.addNode('a');
    world.cloud.removeInstance('a');
    await world.clock.advance(60_000);
    expect(asked()).toEqual([]);
    await world.node('a');
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
    await world.patchNode('a', ready, 'status');
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
  it.each(['False', 'Unknown', undefined])('is deleted, its condition being %s, through either interface', async (status) => {
    await start({ provider: { instances: status === 'False' ? 'v1' : 'v2' } });
    await world.addNode('a', { spec: { providerID: 'fake://i-999999' } });
    const conditions = status === undefined ? [] : [{ type: 'Ready', status }];
    await world.patchNode('a', { status: { conditions } }, 'status');
    await world.clock.until(world.gone(nodes, 'a'), 5_001);
  });
  it('is not deleted in place of another of its name', async () => {
    await start();
    await world.addNode('a', { spec: { providerID: 'fake://i-999999' } });
    world.cloud.gate.faults.latencyMs = 3_000;
    await world.patchNode('a', notReady, 'status');
    await world.clock.until(() => asked().length > 0, 6_000);
    await world.plane.client.resource(nodes).delete('a');
    await world.addNode('a');
    await world.clock.advance(20_000);
    await world.node('a');
  });
  it('tells when it cannot be deleted', async () => {
    const refuse = new Error('etcd is full');
    await start({
      network: (inner) => ({
        ...inner,
        call: async (call, signal) => {
          if (call.verb === 'delete' && call.resource === 'nodes') throw refuse;
          return inner.call(call, signal);
        },
        close: () => inner.close(),
        watch: (...watch) => inner.watch(...watch),
        raw: (...request) => inner.raw(...request),
      }),
    });
    await world.addNode('a');
    world.cloud.removeInstance('a');
    await world.patchNode('a', notReady, 'status');
    await world.clock.advance(10_000);
    expect(await world.events('a')).toContain('DeletingNodeFailed: Failed deleting node a: etcd is full');
  });
  it('is left alone when its machine runs', async () => {
    await start();
    await world.addNode('a');
    await world.patchNode('a', notReady, 'status');
    await world.clock.advance(12_000);
    expect(asked().slice(0, 2)).toEqual(['instanceExists', 'instanceShutdown']);
    expect((await world.node('a')).spec?.taints ?? []).toEqual([]);
  });
  it('that is shut down is deleted when its machine is terminated', async () => {
    await start();
    await world.addNode('a');
    powerOff('a');
    await world.patchNode('a', notReady, 'status');
    await world.clock.until(async () => isShutdownTaint(await world.node('a')), 6_000);
    world.cloud.removeInstance('a');
    await world.clock.until(world.gone(nodes, 'a'), 5_001);
  });
  it.each(['v1', 'v2'] as const)('is not marked by a cloud that cannot tell, through interface %s', async (instances) => {
    const cannotTell = (provider: CloudProvider): CloudProvider => ({
      ...provider,
      ...(provider.instances && {
        instances: { ...provider.instances, instanceShutdownByProviderId: () => Promise.reject(notImplemented()) },
      }),
      ...(provider.instancesV2 && {
        instancesV2: { ...provider.instancesV2, instanceShutdown: () => Promise.reject(notImplemented()) },
      }),
    });
    await start({ provider: { instances }, cloud: cannotTell });
    await world.addNode('a');
    powerOff('a');
    await world.patchNode('a', notReady, 'status');
    await world.clock.advance(30_000);
    expect(isShutdownTaint(await world.node('a'))).toBe(false);
    await world.patchNode('a', ready, 'status');
  });
  it('keeps what others put on it when it is marked and cleared', async () => {
    await start();
    await world.addNode('a', { spec: { taints: [{ key: 'mine', effect: 'NoSchedule' }] } });
    powerOff('a');
    await world.patchNode('a', notReady, 'status');
    await world.clock.until(async () => isShutdownTaint(await world.node('a')), 6_000);
    await world.patchNode('a', ready, 'status');
    await world.clock.until(async () => !isShutdownTaint(await world.node('a')), 6_000);
    expect((await world.node('a')).spec?.taints).toEqual([{ key: 'mine', effect: 'NoSchedule' }]);
  });
});
