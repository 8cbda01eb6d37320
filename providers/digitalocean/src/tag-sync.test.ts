import type { CloudProvider } from 'sagong/cloud-provider';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pathOf } from '../test-server/index.ts';
import {
  eventually,
  nodeWith,
  openWorld,
  readSdk,
  sdkTimeoutMs,
  serviceWith,
  settling,
  testCluster,
  type TestWorld,
} from '../test-server/world.ts';

beforeAll(readSdk, sdkTimeoutMs);

let world: TestWorld;
let stop: AbortController;
beforeEach(() => {
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await world.close();
});

const tagged = (): string[] => [...(world.server.account.tags.get('k8s:c1') ?? [])];
const made = async (cloud: CloudProvider): Promise<string> => {
  const { id } = world.server.account.addDroplet('a');
  const node = nodeWith('a', { '192.0.2.1': 'ExternalIP' }, `digitalocean://${id}`);
  if (!cloud.loadBalancer) throw new Error('no load balancers');
  await settling(cloud.loadBalancer).ensureLoadBalancer('kubernetes', serviceWith(), [node]);
  return [...world.server.account.loadBalancers.keys()][0] ?? '';
};

describe('the tag of the cluster', () => {
  it('is on a load balancer from the start', async () => {
    world = await openWorld();
    const id = await made(await world.open({ clusterID: 'c1' }));
    expect(tagged()).toEqual([`load_balancer/${id}`]);
  });
  it('is put on those that lack it, at the start and every 15 minutes, and is made when it is missing', async () => {
    world = await openWorld();
    const id = await made(await world.open());
    expect(world.server.account.tags.size).toBe(0);
    const cloud = await world.open({ clusterID: 'c1' });
    await cloud.initialize?.({ client: testCluster(serviceWith()).client, signal: stop.signal });
    await eventually(() => expect(tagged()).toEqual([`load_balancer/${id}`]));
    await eventually(() => expect(world.clock.sleeping()).toBe(1));
    world.server.account.tags.get('k8s:c1')?.clear();
    world.clock.advance(899_999);
    expect(tagged()).toEqual([]);
    world.server.fail({ path: /load_balancers/, status: 500 });
    world.clock.advance(1);
    await eventually(() => expect(world.clock.sleeping()).toBe(1));
    expect(tagged()).toEqual([]);
    world.clock.advance(900_000);
    await eventually(() => expect(tagged()).toEqual([`load_balancer/${id}`]));
  });
  it('costs no call without Services of the kind', async () => {
    world = await openWorld();
    const cloud = await world.open({ clusterID: 'c1' });
    const cluster = testCluster(serviceWith({}, { type: 'ClusterIP' }));
    await cloud.initialize?.({ client: cluster.client, signal: stop.signal });
    await eventually(() => expect(world.clock.sleeping()).toBe(1));
    expect(world.server.requests.map(pathOf)).toEqual(['/v2/regions?page=1&per_page=50']);
    expect(cloud.hasClusterId()).toBe(true);
    expect((await world.open()).hasClusterId()).toBe(false);
  });
});
