// Services and their load balancers (facts of upstream's service controller).
import { afterEach, describe, expect, it } from 'vitest';
import { implementedElsewhere, retryAfter } from '#cloud-provider';
import { type CloudWorld, type CloudWorldOptions, services, startCloudWorld } from './world.ts';

let world: CloudWorld;
const start = async (options: CloudWorldOptions = {}): Promise<void> => {
  world = await startCloudWorld({ controllers: ['service'], ...options });
  await world.addNode('a');
  await world.addNode('b');
};
afterEach(() => world.close());

const finalizer = 'service.kubernetes.io/load-balancer-cleanup';
const balancers = () => [...world.cloud.balancers.values()];
const operations = () => world.cloud.gate.calls.map(({ operation }) => operation);
const withBalancer = async (name = 'web') => {
  await world.addService(name);
  await world.clock.advance(1_000);
};

describe('a service of type LoadBalancer', () => {
  it('gets one, with the finalizer first, and gives it back', async () => {
    await start();
    await withBalancer();
    const { metadata, status } = await world.service('web');
    expect(metadata.finalizers).toEqual([finalizer]);
    expect(status?.loadBalancer?.ingress).toEqual([{ ip: balancers()[0]?.address, ipMode: 'VIP' }]);
    expect(balancers()).toMatchObject([{ service: 'default/web', backends: ['a', 'b'], sourceRanges: ['0.0.0.0/0'] }]);
    expect(operations()).toEqual(['ensureLoadBalancer']);
    await world.plane.client.resource(services, 'default').delete('web');
    await world.clock.advance(1_000);
    expect(await world.gone(services, 'web', 'default')()).toBe(true);
    expect(balancers()).toEqual([]);
    expect(await world.events('web')).toEqual([
      'EnsuringLoadBalancer: Ensuring load balancer',
      'EnsuredLoadBalancer: Ensured load balancer',
      'DeletingLoadBalancer: Deleting load balancer',
      'DeletedLoadBalancer: Deleted load balancer',
    ]);
  });
  it('keeps its address over changes, and loses it with its type', async () => {
    await start();
    await withBalancer();
    const address = balancers()[0]?.address;
    await world.patchService('web', { spec: { ports: [{ port: 443 }] } });
    await world.clock.advance(1_000);
    expect(balancers()).toMatchObject([{ address, listeners: [expect.stringMatching(/^TCP:443:/)] }]);
    await world.patchService('web', { spec: { type: 'ClusterIP', ports: [{ port: 443, nodePort: null }] } });
    await world.clock.advance(1_000);
    const { metadata, status } = await world.service('web');
    expect(balancers()).toEqual([]);
    expect(metadata.finalizers ?? []).toEqual([]);
    expect(status?.loadBalancer).toEqual({});
    await world.patchService('web', { spec: { type: 'LoadBalancer' } });
    await world.clock.advance(1_000);
    expect(balancers()).toHaveLength(1);
  });
  it.each<[string, object, boolean]>([
    ['an annotation', { metadata: { annotations: { a: 'b' } } }, true],
    ['source ranges', { spec: { loadBalancerSourceRanges: ['10.0.0.0/8'] } }, true],
    ['a label', { metadata: { labels: { a: 'b' } } }, false],
    ['the selector', { spec: { selector: { app: 'other' } } }, false],
  ])('is brought to the cloud again because of %s: %#', async (_what, patch, again) => {
    await start();
    await withBalancer();
    await world.patchService('web', patch);
    await world.clock.advance(1_000);
    expect(operations()).toHaveLength(again ? 2 : 1);
  });
  it('of a foreign class is left alone', async () => {
    await start();
    await world.addService('web', { loadBalancerClass: 'example.com/other' });
    await world.clock.advance(10_000);
    expect(operations()).toEqual([]);
    expect((await world.service('web')).metadata.finalizers).toBeUndefined();
  });
  it('is made even for no nodes, and tells of it', async () => {
    world = await startCloudWorld({ controllers: ['service'] });
    await withBalancer();
    expect(balancers()).toMatchObject([{ backends: [] }]);
    expect(await world.events('web')).toContain('UnAvailableLoadBalancer: There are no available nodes for LoadBalancer');
  });
  it('of another controller gets a finalizer and no status', async () => {
    await start();
    world.cloud.gate.failNext('ensureLoadBalancer', implementedElsewhere());
    await withBalancer();
    await world.clock.advance(600_000);
    expect(operations()).toEqual(['ensureLoadBalancer']);
    const { metadata, status } = await world.service('web');
    expect(metadata.finalizers).toEqual([finalizer]);
    expect(status?.loadBalancer).toEqual({});
  });
});

describe('failures', () => {
  it('are told and tried again after 5, 10, 20 seconds', async () => {
    await start();
    world.cloud.gate.failNext('ensureLoadBalancer', new Error('no quota'), new Error('no quota'), new Error('no quota'));
    const sinceMs = world.clock.now();
    await world.addService('web');
    await world.clock.advance(60_000);
    const delays = world.cloud.gate.calls.map(({ atMs }) => Math.round((atMs - sinceMs) / 1000));
    expect(delays).toEqual([0, 5, 15, 35]);
    expect(await world.events('web')).toContain(
      'SyncLoadBalancerFailed: Error syncing load balancer: failed to ensure load balancer: no quota',
    );
  });
  it('that ask for a delay get exactly that, also when wrapped', async () => {
    await start();
    world.cloud.gate.failNext('ensureLoadBalancer', new Error('outer', { cause: retryAfter('busy', 42_000) }));
    await world.addService('web');
    await world.clock.advance(60_000);
    const [first, second] = world.cloud.gate.calls;
    expect(Math.round(((second?.atMs ?? 0) - (first?.atMs ?? 0)) / 100)).toBe(420);
    expect(balancers()).toHaveLength(1);
  });
  it('of a deletion keep the service until it is done', async () => {
    await start();
    await withBalancer();
    world.cloud.gate.failNext('ensureLoadBalancerDeleted:address', new Error('address in use'));
    await world.plane.client.resource(services, 'default').delete('web');
    await world.clock.advance(1_000);
    expect((await world.service('web')).metadata.deletionTimestamp).toBeDefined();
    expect(balancers()).toHaveLength(1);
    expect(await world.events('web')).toContain(
      'SyncLoadBalancerFailed: Error syncing load balancer: failed to delete load balancer: address in use',
    );
    await world.clock.until(world.gone(services, 'web', 'default'), 10_000);
    expect(balancers()).toEqual([]);
  });
});

describe('nodes', () => {
  it('that come, go and are excluded change the backends', async () => {
    await start();
    await withBalancer();
    await world.addNode('c');
    await world.clock.advance(1_000);
    expect(balancers()).toMatchObject([{ backends: ['a', 'b', 'c'] }]);
    const exclude = (value: string | null) => ({
      metadata: { labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': value } },
    });
    for (const [value, backends] of [
      ['true', ['b', 'c']],
      ['false', ['a', 'b', 'c']],
      ['junk', ['b', 'c']],
      [null, ['a', 'b', 'c']],
    ] as const) {
      await world.patchNode('a', exclude(value));
      await world.clock.advance(1_000);
      expect(balancers()).toMatchObject([{ backends }]);
    }
    expect(
      operations()
        .slice(1)
        .every((operation) => operation === 'updateLoadBalancer'),
    ).toBe(true);
    expect(await world.events('web')).toContain('UpdatedLoadBalancer: Updated load balancer with new hosts');
  });
  it('that cannot be brought to the cloud are told by name, and the load balancer is made again', async () => {
    await start();
    await withBalancer();
    world.cloud.gate.failNext('updateLoadBalancer', new Error('busy'));
    await world.addNode('c');
    await world.clock.advance(10_000);
    expect(await world.events('web')).toContain(
      'UpdateLoadBalancerFailed: Error updating load balancer with new hosts [a b c] [node names limited, total number of nodes: 3], error: busy',
    );
    expect(operations()).toEqual(['ensureLoadBalancer', 'updateLoadBalancer', 'getLoadBalancer', 'ensureLoadBalancer']);
    expect(balancers()).toMatchObject([{ backends: ['a', 'b', 'c'] }]);
  });
});
