// Several managers and one cloud: who leads, what happens when the leader is killed, stopped or cut off, and loops that migrate between managers
// (KEP-2436). In virtual time.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Lease } from '#api/coordination/v1';
import type { Node, Service } from '#api/core/v1';
import { isNotFound } from '#apimachinery/errors';
import type { Transport } from '#apimachinery/transport';
import { parseCIDR } from '#apimachinery/validation';
import { createClient, type KubeClient } from '#client';
import {
  defaultCloudControllersConfig,
  runCloudControllerManager,
  type RunningCloudControllerManager,
} from '#cloud-controller-manager';
import { type CloudProvider, defaultLoadBalancerName } from '#cloud-provider';
import { FakeCloud, fakeProvider, fakeProviderName, noFaults } from '#cloud-provider/fake';
import { defaultLeaderElection, defaultLeaderMigration, type LeaderMigrationConfiguration } from '#component-base';
import { runKubeControllerManager } from '#controller-manager';
import { defaultControllersConfig } from '#controllers';
import { startTestControlPlane, type TestControlPlane, type VirtualClock, virtualClock } from '#testing';
import { seededRng, silentLogger } from '#utils';
import { nodes, services, uninitialized } from './world.ts';

const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
const leaseMs = 15_000;
const retryMs = 2_000;

let clock: VirtualClock;
let plane: TestControlPlane;
let cloud: FakeCloud;
let replicas: Replica[];

interface Replica {
  manager: RunningCloudControllerManager;
  /** Set once the manager says that it should end. */
  ended: boolean;
  /** Nothing it sends reaches the apiserver any more. */
  cutOff(): void;
  /** The process is gone: nothing it sends reaches anybody. */
  kill(): void;
}

/** A client whose calls fail once `cut`. */
function cuttable(isCut: () => boolean): KubeClient {
  const transport = plane.apiserver.transport({ name: 'system:admin', groups: ['system:masters'] }, 'ccm');
  const check = async (): Promise<void> => {
    if (isCut()) throw new Error('cut off');
  };
  const cut: Transport = {
    ...transport,
    call: async (request, signal) => check().then(() => transport.call(request, signal)),
    watch: async (request) => check().then(() => transport.watch(request)),
    close: () => transport.close(),
  };
  return createClient(cut);
}

function startReplica(leaderMigration?: LeaderMigrationConfiguration): Replica {
  let [isCut, isDead] = [false, false];
  const provider = fakeProvider(cloud);
  const replica: Replica = {
    ended: false,
    manager: runCloudControllerManager(
      {
        providerName: fakeProviderName,
        cloud: dying(provider, () => isDead),
        controllers: ['*'],
        config: { ...defaultCloudControllersConfig(), clusterCidrs: ['10.244.0.0/16'].flatMap((text) => parseCIDR(text) ?? []) },
        leaderElection: defaultLeaderElection('cloud-controller-manager'),
        leaderMigration,
        identity: `replica-${replicas.length}`,
      },
      { client: cuttable(() => isCut), clock, rng: seededRng(replicas.length), logger: silentLogger },
    ),
    cutOff() {
      isCut = true;
    },
    kill() {
      [isCut, isDead] = [true, true];
      void replica.manager.stop();
    },
  };
  void replica.manager.ended.then(() => {
    replica.ended = true;
  });
  replicas.push(replica);
  return replica;
}

/** A provider of a process that may die: then it reaches its cloud no more. */
function dying(provider: CloudProvider, isDead: () => boolean): CloudProvider {
  const part = <T extends object>(inner: T): T =>
    new Proxy(inner, {
      get(target, key, receiver) {
        const value: unknown = Reflect.get(target, key, receiver);
        if (typeof value === 'object' && value !== null) return part(value);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          if (isDead()) throw new Error('the process is dead');
          return Reflect.apply(value, target, args);
        };
      },
    });
  return part(provider);
}

const leader = (): Replica | undefined => replicas.find(({ manager, ended }) => !ended && manager.running().length > 0);
const leaseOf = (name: string) => plane.client.resource<Lease>(leases, 'kube-system').get(name);

async function addNode(name: string, index: number): Promise<void> {
  cloud.addInstance(name);
  const podCIDR = `10.244.${index}.0/24`;
  await plane.client
    .resource<Node>(nodes)
    .create({ metadata: { name }, spec: { podCIDR, podCIDRs: [podCIDR], taints: [uninitialized] } });
  const status = { conditions: [{ type: 'Ready', status: 'True' }] };
  await plane.client.resource<Node>(nodes).patch(name, 'application/merge-patch+json', { status }, { subresource: 'status' });
}
const addService = (name: string) =>
  plane.client.resource<Service>(services, 'default').create({
    metadata: { name },
    spec: { type: 'LoadBalancer', selector: { app: name }, ports: [{ port: 80 }] },
  });

beforeEach(async () => {
  clock = virtualClock();
  plane = await startTestControlPlane({ clock });
  cloud = new FakeCloud({ clock, rng: seededRng(3) });
  replicas = [];
});
afterEach(async () => {
  await Promise.all(replicas.map(({ manager }) => manager.stop()));
  await plane.stop();
});

describe('three managers', () => {
  beforeEach(async () => {
    for (let count = 0; count < 3; count++) startReplica();
    await clock.advance(5_000);
  });

  it('have one leader', () => {
    expect(replicas.filter(({ manager }) => manager.running().length > 0)).toHaveLength(1);
  });
  it('go on within the lease time when it is killed in the middle of its work, with nothing made twice and nothing lost', async () => {
    cloud.gate.faults = { ...noFaults, latencyMs: 300, latencyJitterMs: 700 };
    for (let index = 1; index <= 5; index++) await addNode(`n${index}`, index);
    for (let index = 1; index <= 5; index++) await addService(`s${index}`);
    await clock.advance(1_500);
    const first = leader();
    first?.kill();
    const killedMs = clock.now();
    await plane.client.resource<Service>(services, 'default').delete('s1');
    const before = cloud.gate.calls.length;
    await clock.until(() => leader() !== undefined && leader() !== first, leaseMs + retryMs * 1.2 + 100);
    await clock.until(() => cloud.gate.calls.slice(before).some(({ atMs }) => atMs > killedMs + 1_000), 12_000);
    const settled = async (): Promise<boolean> => {
      const all = (await plane.client.resource<Service>(services, 'default').list()).items;
      const nodesNow = (await plane.client.resource<Node>(nodes).list()).items;
      return (
        all.length === 4 &&
        all.every(({ status }) => status?.loadBalancer?.ingress?.length === 1) &&
        nodesNow.every(({ spec, status }) => !spec?.taints && status?.conditions?.some(({ reason }) => reason === 'RouteCreated'))
      );
    };
    await clock.until(settled, 120_000);
    await clock.advance(30_000);
    const { items } = await plane.client.resource<Service>(services, 'default').list();
    expect([...cloud.balancers.values()].map(({ name }) => name).sort()).toEqual(items.map(defaultLoadBalancerName).sort());
    expect([...cloud.routes.values()].map(({ targetNode }) => targetNode).sort()).toEqual(['n1', 'n2', 'n3', 'n4', 'n5']);
    const addresses = [...cloud.balancers.values()].map(({ address }) => address);
    expect(new Set(addresses).size).toBe(4);
    expect(items.map(({ status }) => status?.loadBalancer?.ingress?.[0]?.ip).sort()).toEqual([...addresses].sort());
  });
  it('go on at once when it is stopped, for it gives the lease back, and only after its last call', async () => {
    cloud.gate.faults = { ...noFaults, latencyMs: 1_000 };
    await addService('web');
    await clock.advance(500);
    const first = leader();
    const stopping = first?.manager.stop().then(() => clock.now());
    await clock.until(() => leader() !== undefined && leader() !== first, 1_500 + retryMs * 1.2);
    const lease = await leaseOf('cloud-controller-manager');
    expect(lease.spec?.leaseTransitions).toBeGreaterThan(0);
    expect(await stopping).toBeLessThanOrEqual(clock.now());
    await clock.advance(10_000);
    expect(cloud.balancers.size).toBe(1);
  });
  it('are two when one is cut off: it ends by itself before another acts', async () => {
    const first = leader();
    first?.cutOff();
    await clock.until(() => first?.ended === true, leaseMs);
    expect(leader()).toBeUndefined();
    await clock.until(() => leader() !== undefined, leaseMs);
    expect(leader()).not.toBe(first);
    expect(await first?.manager.metrics.expose()).toContain('leader_election_master_status{name="cloud-controller-manager"} 0');
  });
  it('say that they are not healthy when they lead and cannot renew, and stand by healthily', async () => {
    for (const { manager } of replicas) for (const { check } of manager.healthChecks()) await check();
    expect(replicas.map(({ manager }) => manager.healthChecks().length).sort()).toEqual([1, 1, 5]);
  });
});

describe('leader migration', () => {
  const running = (): string[] => replicas.flatMap(({ manager }) => manager.running());
  const away: LeaderMigrationConfiguration = {
    ...defaultLeaderMigration,
    controllerLeaders: [
      { name: 'node-route-controller', component: 'kube-controller-manager' },
      { name: 'service-lb-controller', component: 'cloud-controller-manager' },
    ],
  };
  it('runs loops under a second lease, which is won after the first, also by their older names', async () => {
    startReplica(defaultLeaderMigration);
    startReplica(defaultLeaderMigration);
    await clock.advance(10_000);
    expect(running().sort()).toEqual([
      'cloud-node-controller',
      'cloud-node-lifecycle-controller',
      'node-route-controller',
      'service-lb-controller',
    ]);
    expect((await leaseOf('cloud-provider-extraction-migration')).spec?.holderIdentity).toBe(
      (await leaseOf('cloud-controller-manager')).spec?.holderIdentity,
    );
    const first = leader();
    first?.kill();
    await clock.until(() => (leader()?.manager.running().length ?? 0) === 4 && leader() !== first, 2 * leaseMs + 10_000);
  });
  it('leaves to the other manager what is its', async () => {
    startReplica(away);
    await clock.advance(10_000);
    expect(running().sort()).toEqual(['cloud-node-controller', 'cloud-node-lifecycle-controller', 'service-lb-controller']);
  });
  it('lets one of two managers run a loop at a time', async () => {
    const migration = { ...defaultLeaderMigration, controllerLeaders: [{ name: 'node-ipam-controller', component: '*' }] };
    const start = (identity: string, controllers: string[]) =>
      runKubeControllerManager(
        {
          controllers,
          config: { ...defaultControllersConfig, clusterCidrs: ['10.244.0.0/16'], allocateNodeCidrs: true },
          leaderElection: defaultLeaderElection(`manager-${identity}`),
          leaderMigration: migration,
          identity,
        },
        { client: cuttable(() => false), clock, rng: seededRng(1), logger: silentLogger },
      );
    const old = start('old', ['node-ipam-controller', 'ttl-controller']);
    await clock.advance(3_000);
    const next = start('next', ['node-ipam-controller']);
    await clock.advance(30_000);
    expect([old.running().sort(), next.running()]).toEqual([['node-ipam-controller', 'ttl-controller'], []]);
    await old.stop();
    await clock.until(() => next.running().length === 1, leaseMs);
    await next.stop();
  });
  it('has no second lease without it', async () => {
    startReplica();
    await clock.advance(5_000);
    await expect(leaseOf('cloud-provider-extraction-migration')).rejects.toSatisfy(isNotFound);
  });
});
