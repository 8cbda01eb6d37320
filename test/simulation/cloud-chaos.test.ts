// Chaos between a cluster and its cloud: Services and Nodes come, change and go while every fifth call to the cloud fails, changes stop half way,
// and leaders die without a word. When the faults stop, the cloud holds exactly what the cluster says. A failing run is its seed:
// SAGONG_SEED=<seed> replays it.
import { describe, expect, it } from 'vitest';
import type { Node, Service } from '#api/core/v1';
import { keyOf, type GroupVersionResource } from '#apimachinery/meta';
import type { Transport } from '#apimachinery/transport';
import { parseCIDR } from '#apimachinery/validation';
import { createClient } from '#client';
import {
  defaultCloudControllersConfig,
  runCloudControllerManager,
  type RunningCloudControllerManager,
} from '#cloud-controller-manager';
import { FakeCloud, fakeProvider, fakeProviderName, noFaults } from '#cloud-provider/fake';
import { defaultLeaderElection } from '#component-base';
import { startTestControlPlane, type TestControlPlane, type VirtualClock, virtualClock } from '#testing';
import { type Rng, seededRng, silentLogger } from '#utils';

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource });
const nodes = core('nodes');
const services = core('services');
const merge = 'application/merge-patch+json';
const excludeLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';
const uninitialized = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };

const minutes = 20;
const servicesMax = 40;
const nodesMax = 12;

interface Replica {
  manager: RunningCloudControllerManager;
  /** The process is gone: none of its calls reaches anybody any more. */
  kill(): void;
}

/** A transport that is cut when its process dies. */
function cuttable(transport: Transport, alive: () => boolean): Transport {
  const check = (): void => {
    if (!alive()) throw new Error('the process is dead');
  };
  return {
    ...transport,
    async call(request, signal) {
      check();
      return transport.call(request, signal);
    },
    async watch(request) {
      check();
      return transport.watch(request);
    },
    close: () => transport.close(),
  } as Transport;
}

class Chaos {
  readonly clock: VirtualClock = virtualClock();
  readonly rng: Rng;
  readonly cloud: FakeCloud;
  readonly replicas: Replica[] = [];
  plane!: TestControlPlane;
  #names = 0;

  constructor(seed: number) {
    this.rng = seededRng(seed);
    this.cloud = new FakeCloud({ clock: this.clock, rng: seededRng(seed + 1) });
  }
  async open(): Promise<void> {
    this.plane = await startTestControlPlane({ clock: this.clock });
    for (let count = 0; count < 3; count++) this.startReplica();
    for (let count = 0; count < 4; count++) await this.addNode();
  }
  startReplica(): void {
    let alive = true;
    const transport = this.plane.apiserver.transport({ name: 'system:admin', groups: ['system:masters'] }, 'ccm');
    const manager = runCloudControllerManager(
      {
        providerName: fakeProviderName,
        cloud: fakeProvider(this.cloud),
        controllers: ['*'],
        config: {
          ...defaultCloudControllersConfig,
          clusterCidrs: [parseCIDR('10.244.0.0/16')].flatMap((prefix) => prefix ?? []),
          concurrentServiceSyncs: 4,
        },
        leaderElection: defaultLeaderElection('cloud-controller-manager'),
        identity: `replica-${++this.#names}`,
      },
      {
        client: createClient(cuttable(transport, () => alive)),
        clock: this.clock,
        rng: seededRng(this.rng.int(1e9)),
        logger: silentLogger,
      },
    );
    const kill = (): void => {
      alive = false;
      void manager.stop();
    };
    this.replicas.push({ manager, kill });
  }
  killLeader(): void {
    const index = this.replicas.findIndex(({ manager }) => manager.running().length > 0);
    if (index < 0) return;
    this.replicas.splice(index, 1)[0]?.kill();
    this.startReplica();
  }
  readonly #services = () => this.plane.client.resource<Service>(services, 'default');
  readonly #nodes = () => this.plane.client.resource<Node>(nodes);
  services = async (): Promise<Service[]> => (await this.#services().list()).items;
  nodes = async (): Promise<Node[]> => (await this.#nodes().list()).items;
  #pick = <T>(from: readonly T[]): T | undefined => from[this.rng.int(Math.max(1, from.length))];

  async addNode(): Promise<void> {
    const number = ++this.#names;
    const name = `node-${number}`;
    this.cloud.addInstance(name);
    const podCIDR = `10.244.${number % 256}.0/24`;
    await this.#nodes().create({ metadata: { name }, spec: { podCIDR, podCIDRs: [podCIDR], taints: [uninitialized] } });
    await this.#ready(name, 'True');
  }
  #ready(name: string, status: string): Promise<unknown> {
    return this.#nodes().patch(name, merge, { status: { conditions: [{ type: 'Ready', status }] } }, { subresource: 'status' });
  }
  async #terminate({ metadata: { name = '' } }: Node): Promise<void> {
    this.cloud.removeInstance(name);
    await this.#ready(name, 'Unknown');
  }
  async #toggleExclusion({ metadata }: Node): Promise<void> {
    const value = metadata.labels?.[excludeLabel] ? null : 'true';
    await this.#nodes().patch(metadata.name ?? '', merge, { metadata: { labels: { [excludeLabel]: value } } });
  }
  async #change({ metadata, spec }: Service): Promise<void> {
    const name = metadata.name ?? '';
    const balanced = spec?.type === 'LoadBalancer';
    const body = [
      { spec: { ports: [{ port: 1 + this.rng.int(60_000) }] } },
      { metadata: { annotations: { version: `${this.rng.int(1e6)}` } } },
      { spec: { loadBalancerSourceRanges: [`10.${this.rng.int(256)}.0.0/16`] } },
      balanced ? { spec: { type: 'ClusterIP', loadBalancerSourceRanges: null } } : { spec: { type: 'LoadBalancer' } },
    ][balanced ? this.rng.int(4) : 3];
    await this.#services().patch(name, merge, body);
  }
  /** One thing that users or the world do. */
  async act(): Promise<void> {
    const [existing, machines] = [await this.services(), await this.nodes()];
    const dice = this.rng.int(100);
    const service = this.#pick(existing.filter(({ metadata }) => !metadata.deletionTimestamp));
    const node = this.#pick(machines);
    const spec = { type: 'LoadBalancer', selector: { app: 'x' }, ports: [{ port: 80 }] };
    if (dice < 35 && existing.length < servicesMax)
      // Names come back, as another object.
      await this.#services().create({ metadata: { name: `web-${this.rng.int(servicesMax * 2)}` }, spec });
    else if (dice < 50 && service) await this.#services().delete(service.metadata.name ?? '');
    else if (dice < 75 && service) await this.#change(service);
    else if (dice < 83 && machines.length < nodesMax) await this.addNode();
    else if (dice < 88 && node && machines.length > 2) await this.#terminate(node);
    else if (dice < 95 && node) await this.#toggleExclusion(node);
    else this.killLeader();
  }
  /** How the cloud differs from what the cluster says. */
  async differences(): Promise<string[]> {
    const [existing, machines] = [await this.services(), await this.nodes()];
    const hosts = machines
      .filter(({ metadata }) => !metadata.labels?.[excludeLabel])
      .map(({ metadata }) => metadata.name ?? '')
      .sort();
    const wanted = existing
      .filter(({ spec }) => spec?.type === 'LoadBalancer')
      .map(({ metadata, spec, status }) => ({
        service: `${keyOf(metadata)} ${metadata.uid}`,
        ports: (spec?.ports ?? []).map(({ protocol, port, nodePort }) => `${protocol}:${port}:${nodePort ?? 0}`),
        ranges: spec?.loadBalancerSourceRanges ?? ['0.0.0.0/0'],
        address: status?.loadBalancer?.ingress?.[0]?.ip,
        hosts,
      }));
    const found = [...this.cloud.balancers.values()].map((one) => ({
      service: `${one.service} ${one.serviceUid}`,
      ports: one.listeners,
      ranges: one.sourceRanges,
      address: one.address,
      hosts: one.backends,
    }));
    const routes = [...this.cloud.routes.values()].map((one) => `${one.targetNode} ${one.destinationCidr} ${one.blackhole}`);
    const wantedRoutes = machines.map(({ metadata, spec }) => `${metadata.name} ${spec?.podCIDR} false`);
    const asLines = (values: readonly unknown[]): string[] => values.map((value) => JSON.stringify(value)).sort();
    const compare = (what: string, a: string[], b: string[]): string[] => [
      ...a.filter((one) => !b.includes(one)).map((one) => `${what} too many: ${one}`),
      ...b.filter((one) => !a.includes(one)).map((one) => `${what} missing: ${one}`),
      ...(a.length === b.length ? [] : [`${a.length} of ${what}, not ${b.length}`]),
    ];
    return [
      ...compare('load balancers', asLines(found), asLines(wanted)),
      ...compare('routes', routes, wantedRoutes),
      ...existing.flatMap(({ metadata }) => (metadata.deletionTimestamp ? [`${metadata.name} is still being deleted`] : [])),
      ...machines.flatMap(({ metadata, spec }) => {
        const told = this.cloud.instanceOf(metadata.name ?? '') ? [] : [`${metadata.name} has no machine`];
        return spec?.taints?.some(({ key }) => key === uninitialized.key) ? [...told, `${metadata.name} is tainted`] : told;
      }),
    ];
  }
  async close(): Promise<void> {
    await Promise.all(this.replicas.map(({ manager }) => manager.stop()));
    await this.plane.stop();
  }
}

const chaosFaults = {
  ...noFaults,
  errorRate: 0.2,
  partialRate: 0.1,
  throttleRate: 0.05,
  throttleMs: 3_000,
  latencyMs: 20,
  latencyJitterMs: 400,
  lagMs: 2_000,
};

const given = process.env.SAGONG_SEED;
const seeds = given === undefined ? [1, 2] : [Number(given)];

describe('a cluster and its cloud', () => {
  it.each(seeds)('agree after chaos, seed %i', async (seed) => {
    const chaos = new Chaos(seed);
    await chaos.open();
    chaos.cloud.gate.faults = { ...chaosFaults };
    const endMs = chaos.clock.now() + minutes * 60_000;
    let kills = 0;
    while (chaos.clock.now() < endMs) {
      const before = chaos.replicas[0];
      // Names that are taken and objects that went meanwhile are part of the game.
      await chaos.act().catch((error: unknown) => expect(String(error)).toMatch(/already exists|not found|modified/));
      if (before !== chaos.replicas[0]) kills += 1;
      await chaos.clock.advance(chaos.rng.int(12_000));
    }
    chaos.cloud.gate.faults = { ...noFaults };
    let differences: string[] = ['not looked yet'];
    await chaos.clock
      .until(async () => {
        if (differences.length > 0) await chaos.clock.advance(5_000);
        differences = await chaos.differences();
        return differences.length === 0;
      }, 1_200_000)
      .catch(() => {});
    expect(differences.slice(0, 10), `SAGONG_SEED=${seed}`).toEqual([]);
    expect(chaos.cloud.gate.calls.filter(({ failed }) => failed !== undefined).length).toBeGreaterThan(50);
    expect(kills).toBeGreaterThan(0);
    await chaos.close();
  });
});
