// Services and their load balancers (facts of upstream's service controller).
import { afterEach, describe, expect, it } from 'vitest';
import type { Node } from '#api/core/v1';
import type { ApiCall } from '#apimachinery/transport';
import { type CloudProvider, implementedElsewhere, type LoadBalancer, retryAfter } from '#cloud-provider';
import { type CloudWorld, type CloudWorldOptions, nodes, services, startCloudWorld } from './world.ts';

let world: CloudWorld;
const start = async (options: CloudWorldOptions = {}): Promise<void> => {
  world = await startCloudWorld({ controllers: ['service'], ...options });
  await world.addNode('a');
  await world.addNode('b');
};
afterEach(async () => {
  order.length = 0;
  await world.close();
});

const finalizer = 'service.kubernetes.io/load-balancer-cleanup';
const balancers = () => [...world.cloud.balancers.values()];
const operations = () => world.cloud.gate.calls.map(({ operation }) => operation);
/** A cloud whose load balancers are these functions. */
const withBalancers =
  (balancers: Partial<LoadBalancer>) =>
  (provider: CloudProvider): CloudProvider => ({
    ...provider,
    ...(provider.loadBalancer && { loadBalancer: { ...provider.loadBalancer, ...balancers } }),
  });
/** Writes of Services by the manager and calls of the cloud, in their order. */
const order: string[] = [];
const watched = (more: CloudWorldOptions = {}): CloudWorldOptions => ({
  ...more,
  network: (inner) => ({
    ...inner,
    call: async <T>(call: ApiCall, signal?: AbortSignal): Promise<T> => {
      if (call.verb !== 'get' && call.resource === 'services') order.push(`${call.verb} ${JSON.stringify(call.patch?.body)}`);
      return inner.call<T>(call, signal);
    },
    watch: (...watch) => inner.watch(...watch),
    raw: (...request) => inner.raw(...request),
    close: () => inner.close(),
  }),
  cloud: (provider) =>
    withBalancers({
      ensureLoadBalancer: (...input) => {
        order.push('ensure');
        return provider.loadBalancer?.ensureLoadBalancer(...input) ?? Promise.reject(new Error('no load balancers'));
      },
    })(provider),
});
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
    expect(balancers()).toMatchObject([{ address, listeners: [expect.stringMatching(/^TCP:443/)] }]);
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

describe('the finalizer', () => {
  it('is there before the load balancer', async () => {
    await start(watched());
    await withBalancer();
    const writes = order.filter((one) => !one.startsWith('list'));
    expect(writes[0]).toContain(finalizer);
    expect(writes[1]).toBe('ensure');
    expect(writes[2]).toContain('ingress');
    expect(writes).toHaveLength(3);
  });
  it('that cannot be added keeps the load balancer from being made', async () => {
    await start({
      network: (inner) => ({
        ...inner,
        call: async (call, signal) => {
          if (call.verb === 'patch' && call.resource === 'services') throw new Error('read only');
          return inner.call(call, signal);
        },
        watch: (...watch) => inner.watch(...watch),
        raw: (...request) => inner.raw(...request),
        close: () => inner.close(),
      }),
    });
    await withBalancer();
    expect(balancers()).toEqual([]);
    expect(await world.events('web')).toContain(
      'SyncLoadBalancerFailed: Error syncing load balancer: failed to add load balancer cleanup finalizer: read only',
    );
  });
  it('of ours on a service of a foreign class is honoured when that goes', async () => {
    await start();
    await world.addService('web', { loadBalancerClass: 'example.com/other' }, { finalizers: [finalizer] });
    await world.clock.advance(5_000);
    expect(operations()).toEqual([]);
    await world.plane.client.resource(services, 'default').delete('web');
    await world.clock.advance(1_000);
    expect(await world.gone(services, 'web', 'default')()).toBe(true);
    expect(operations()).toEqual(['getLoadBalancer']);
  });
});

describe('a service that goes', () => {
  it('when its load balancer is gone already is told of nevertheless', async () => {
    await start();
    await withBalancer();
    world.cloud.balancers.clear();
    await world.plane.client.resource(services, 'default').delete('web');
    await world.clock.advance(1_000);
    expect(await world.gone(services, 'web', 'default')()).toBe(true);
    expect(operations()).toEqual(['ensureLoadBalancer', 'getLoadBalancer']);
    const told = await world.events('web');
    expect(told).toContain('DeletedLoadBalancer: Deleted load balancer');
    expect(told).not.toContain('DeletingLoadBalancer: Deleting load balancer');
  });
  it('stays while nobody knows whether its load balancer is there', async () => {
    await start();
    await withBalancer();
    world.cloud.gate.failNext('getLoadBalancer', new Error('timeout'));
    await world.plane.client.resource(services, 'default').delete('web');
    await world.clock.advance(1_000);
    expect(await world.events('web')).toContain(
      'SyncLoadBalancerFailed: Error syncing load balancer: failed to check if load balancer exists before cleanup: timeout',
    );
    expect(balancers()).toHaveLength(1);
    await world.clock.until(world.gone(services, 'web', 'default'), 10_000);
    expect(balancers()).toEqual([]);
  });
  it('and comes back as another between two looks has its first load balancer removed before the second is made', async () => {
    await start();
    await withBalancer();
    const [first] = balancers();
    world.cloud.gate.faults.latencyMs = 3_000;
    // While this change is brought to the cloud, the object is replaced without its finalizer.
    await world.patchService('web', { metadata: { annotations: { a: 'b' } } });
    await world.clock.advance(1_000);
    await world.patchService('web', { metadata: { finalizers: null } });
    await world.plane.client.resource(services, 'default').delete('web');
    const { metadata } = await world.addService('web');
    await world.clock.advance(30_000);
    expect(balancers().map(({ serviceUid }) => serviceUid)).toEqual([metadata.uid]);
    expect(balancers()[0]?.id).not.toBe(first?.id);
    expect(operations().slice(1)).toEqual(['ensureLoadBalancer', 'ensureLoadBalancerDeleted', 'ensureLoadBalancer']);
  });
  it('without its finalizer has its load balancer removed, and a failure told', async () => {
    await start();
    await withBalancer();
    world.cloud.gate.failNext('ensureLoadBalancerDeleted', new Error('in use'));
    await world.patchService('web', { metadata: { finalizers: null } });
    await world.plane.client.resource(services, 'default').delete('web');
    await world.clock.advance(10_000);
    expect(balancers()).toEqual([]);
    expect(await world.events('web')).toContain('DeleteLoadBalancerFailed: Error deleting load balancer: in use');
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
  it('of a cloud that answers nothing are failures, too', async () => {
    const ensureLoadBalancer = (() => Promise.resolve(undefined)) as unknown as LoadBalancer['ensureLoadBalancer'];
    await start({ cloud: withBalancers({ ensureLoadBalancer }) });
    await withBalancer();
    expect(await world.events('web')).toContain(
      'SyncLoadBalancerFailed: Error syncing load balancer: service status returned by EnsureLoadBalancer is nil',
    );
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
    await world.clock.advance(1_000);
    expect(await world.events('web')).toContain(
      'UpdateLoadBalancerFailed: Error updating load balancer with new hosts [a b c] [node names limited, total number of nodes: 3], error: busy',
    );
    expect(operations()).toEqual(['ensureLoadBalancer', 'updateLoadBalancer', 'getLoadBalancer', 'ensureLoadBalancer']);
    expect(balancers()).toMatchObject([{ backends: ['a', 'b', 'c'] }]);
  });
  it('that cannot be brought to the cloud for a while are brought after exactly that', async () => {
    await start();
    await withBalancer();
    world.cloud.gate.failNext('updateLoadBalancer', retryAfter('throttled', 7_000));
    await world.addNode('c');
    await world.clock.advance(6_900);
    expect(balancers()).toMatchObject([{ backends: ['a', 'b'] }]);
    await world.clock.advance(200);
    expect(balancers()).toMatchObject([{ backends: ['a', 'b', 'c'] }]);
  });
  it('are left out with the autoscaler’s mark, from the next change on', async () => {
    await start();
    await withBalancer();
    const taints = [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }];
    await world.patchNode('a', { spec: { taints } });
    await world.clock.advance(10_000);
    expect(balancers()).toMatchObject([{ backends: ['a', 'b'] }]);
    await world.addNode('c');
    await world.clock.advance(1_000);
    expect(balancers()).toMatchObject([{ backends: ['b', 'c'] }]);
  });
  it('are told by name up to twenty', async () => {
    await start();
    for (let index = 0; index < 22; index++) await world.addNode(`n${String(index).padStart(2, '0')}`);
    await withBalancer();
    world.cloud.gate.failNext('updateLoadBalancer', new Error('busy'));
    await world.addNode('z');
    await world.clock.advance(1_000);
    const told = (await world.events('web')).find((text) => text.startsWith('UpdateLoadBalancerFailed')) ?? '';
    const [, names = ''] = /with new hosts \[(.*?)\] \[/.exec(told) ?? [];
    expect(names.split(' ').filter((name) => /^[a-z]\d*$/.test(name))).toHaveLength(20);
    expect(names.endsWith(' <5 more>')).toBe(true);
    expect(told).toContain('[node names limited, total number of nodes: 25], error: busy');
  });
  it('that come while the load balancer is gone are no failure', async () => {
    await start();
    await withBalancer();
    world.cloud.balancers.clear();
    await world.addNode('c');
    await world.clock.advance(30_000);
    expect(operations()).toEqual(['ensureLoadBalancer', 'updateLoadBalancer', 'getLoadBalancer']);
    expect((await world.events('web')).filter((text) => text.includes('Failed'))).toEqual([]);
  });
  it('are all gone: the load balancer gets none, and the service is told', async () => {
    await start();
    await withBalancer();
    for (const name of ['a', 'b']) await world.plane.client.resource<Node>(nodes).delete(name);
    await world.clock.advance(1_000);
    expect(balancers()).toMatchObject([{ backends: [] }]);
    expect(await world.events('web')).toContain('UnAvailableLoadBalancer: There are no available nodes for LoadBalancer');
  });
});

describe('the status', () => {
  it('is not written again when the load balancer is as it was', async () => {
    await start(watched());
    await withBalancer();
    const before = order.length;
    await world.patchService('web', { metadata: { annotations: { a: 'b' } } });
    await world.clock.advance(5_000);
    expect(order.slice(before)).toEqual(['ensure']);
  });
});

describe('a manager that starts anew', () => {
  it('makes nothing twice of what is there, changes nothing, and removes what went meanwhile', async () => {
    await start();
    for (const name of ['one', 'two', 'three']) await world.addService(name);
    await world.clock.advance(1_000);
    const before = structuredClone(balancers());
    const versions = async (): Promise<unknown> =>
      (await world.plane.client.resource(services, 'default').list()).items.map(({ metadata }) => metadata.resourceVersion);
    const seen = await versions();
    await world.restartManager();
    await world.clock.advance(10_000);
    expect(balancers()).toEqual(before);
    expect(await versions()).toEqual(seen);
    await world.manager.stop();
    await world.plane.client.resource(services, 'default').delete('two');
    await world.patchService('three', { spec: { type: 'ClusterIP' } });
    await world.addNode('c');
    await world.restartManager();
    await world.clock.until(world.gone(services, 'two', 'default'), 30_000);
    await world.clock.advance(1_000);
    expect(balancers()).toMatchObject([{ service: 'default/one', backends: ['a', 'b', 'c'] }]);
    expect((await world.service('three')).metadata.finalizers ?? []).toEqual([]);
  });
});
