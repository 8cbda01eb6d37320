// A node joins a cluster of a cloud: nothing is scheduled to it before the cloud-controller-manager has initialised it, the controller manager has
// given it a range of pod addresses, and the cloud has a route to that range. Everything is real but the time, the cloud and what runs on the node.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Node, Pod } from '#api/core/v1';
import { parseCIDR } from '#apimachinery/validation';
import { createClient, type KubeClient } from '#client';
import {
  defaultCloudControllersConfig,
  runCloudControllerManager,
  type RunningCloudControllerManager,
} from '#cloud-controller-manager';
import { FakeCloud, fakeProvider, fakeProviderName } from '#cloud-provider/fake';
import { defaultLeaderElection } from '#component-base';
import { defaultControllersConfig } from '#controllers';
import { runKubeControllerManager, type RunningControllerManager } from '#controller-manager';
import { createSimulatedNode, type Kubelet } from '#kubelet';
import { type KubeScheduler, runKubeScheduler } from '#scheduler';
import { startTestControlPlane, type TestControlPlane, type VirtualClock, virtualClock } from '#testing';
import { seededRng, silentLogger } from '#utils';
import { nodes } from './world.ts';

const pods = { group: '', version: 'v1', resource: 'pods' };
const clusterCidr = '10.244.0.0/16';

let clock: VirtualClock;
let plane: TestControlPlane;
let cloud: FakeCloud;
let kcm: RunningControllerManager;
let ccm: RunningCloudControllerManager | undefined;
let scheduler: KubeScheduler;
let kubelet: Kubelet | undefined;

const as = (name: string, ...groups: string[]): KubeClient =>
  createClient(plane.apiserver.transport({ name, groups: [...groups, 'system:authenticated'] }, name));
const deps = (client: KubeClient) => ({ client, clock, rng: seededRng(5), logger: silentLogger });
const node = () => plane.client.resource<Node>(nodes).get('n');
const taints = async (): Promise<string[]> => ((await node()).spec?.taints ?? []).map(({ key }) => key).sort();
const condition = async (wanted: string) => (await node()).status?.conditions?.find(({ type }) => type === wanted);
const placed = async (): Promise<string | undefined> =>
  (await plane.client.resource<Pod>(pods, 'default').get('p')).spec?.nodeName;

function startCloudManager(): void {
  ccm = runCloudControllerManager(
    {
      providerName: fakeProviderName,
      cloud: fakeProvider(cloud),
      controllers: ['*'],
      config: { ...defaultCloudControllersConfig(), clusterCidrs: [clusterCidr].flatMap((text) => parseCIDR(text) ?? []) },
      leaderElection: defaultLeaderElection('cloud-controller-manager'),
      identity: 'ccm',
    },
    deps(as('system:admin', 'system:masters')),
  );
}
async function join(): Promise<void> {
  const node = { name: 'n', nodeIP: '10.0.0.1', podCIDR: null, cloudProvider: 'external', routesFromCloud: true } as const;
  kubelet = createSimulatedNode(node, deps(as('system:node:n', 'system:nodes')));
  await kubelet.start();
}

beforeEach(async () => {
  clock = virtualClock();
  plane = await startTestControlPlane({ clock, whole: true, admission: { disable: ['ServiceAccount'] } });
  cloud = new FakeCloud({ clock });
  kcm = runKubeControllerManager(
    {
      controllers: ['node-lifecycle-controller', 'node-ipam-controller', 'taint-eviction-controller'],
      config: { ...defaultControllersConfig, clusterCidrs: [clusterCidr], allocateNodeCidrs: true },
      leaderElection: { ...defaultLeaderElection('kube-controller-manager'), leaderElect: false },
      identity: 'kcm',
    },
    deps(as('system:admin', 'system:masters')),
  );
  scheduler = runKubeScheduler({}, deps(as('system:kube-scheduler')));
  await plane.client.resource<Pod>(pods, 'default').create({
    metadata: { name: 'p', namespace: 'default' },
    spec: { containers: [{ name: 'c', image: 'x' }] },
  });
  await clock.advance(1_000);
});
afterEach(async () => {
  kubelet?.close();
  await scheduler.stop();
  await ccm?.stop();
  await kcm.stop();
  await plane.stop();
});

describe('a node of a cloud', () => {
  it('takes pods only once it is initialised and its route exists', async () => {
    cloud.addInstance('n', { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] });
    await join();
    await clock.advance(60_000);
    expect(await taints()).toEqual(['node.cloudprovider.kubernetes.io/uninitialized', 'node.kubernetes.io/network-unavailable']);
    expect((await condition('Ready'))?.status).toBe('True');
    expect((await node()).spec?.podCIDR).toBe('10.244.0.0/24');
    expect(await placed()).toBeUndefined();

    cloud.gate.failNext('createRoute', ...Array.from({ length: 3 }, () => new Error('table is full')));
    startCloudManager();
    await clock.advance(25_000);
    expect(await taints()).toEqual(['node.kubernetes.io/network-unavailable']);
    expect((await node()).spec?.providerID).toBe('fake://i-000001');
    expect(await condition('NetworkUnavailable')).toMatchObject({ status: 'True', reason: 'NoRouteCreated' });
    expect(await placed()).toBeUndefined();

    await clock.until(async () => (await placed()) === 'n', 30_000);
    expect(await condition('NetworkUnavailable')).toMatchObject({ status: 'False', reason: 'RouteCreated' });
    expect([...cloud.routes.values()]).toMatchObject([{ targetNode: 'n', destinationCidr: '10.244.0.0/24' }]);
    expect(await taints()).toEqual([]);
  });
  it('is never without a taint before its route exists', async () => {
    cloud.addInstance('n', { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] });
    startCloudManager();
    await clock.advance(1_000);
    const bare: string[] = [];
    const stream = await plane.client.resource<Node>(nodes).watch();
    stream.subscribe(
      ({ object }) => {
        const free = (object.spec?.taints ?? []).every(({ effect }) => effect !== 'NoSchedule');
        if (free && cloud.routes.size === 0) bare.push(object.metadata.resourceVersion ?? '');
      },
      () => {},
    );
    await join();
    await clock.until(async () => (await placed()) === 'n', 60_000);
    expect(bare).toEqual([]);
    stream.stop();
  });
});
