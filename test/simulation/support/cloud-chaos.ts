// A cluster and its cloud for chaos: replicas of the cloud-controller-manager with leader election, faults between them and the apiserver, a
// cloud that fails, machines with the least of a kubelet. What must hold at every moment is watched here.
import type { Node, Service } from '#api/core/v1';
import { isNotFound } from '#apimachinery/errors';
import type { GroupVersionResource } from '#apimachinery/meta';
import type { ApiCall } from '#apimachinery/transport';
import { parseCIDR } from '#apimachinery/validation';
import { createClient } from '#client';
import {
  defaultCloudControllersConfig,
  runCloudControllerManager,
  type RunningCloudControllerManager,
} from '#cloud-controller-manager';
import { defaultLeaderElection } from '#component-base';
import {
  type FaultInjector,
  injectFaults,
  noApiFaults,
  startTestControlPlane,
  type TestControlPlane,
  type VirtualClock,
  virtualClock,
} from '#testing';
import { type Rng, seededRng, silentLogger } from '#utils';
import {
  type ChaosCloud,
  type ChaosCloudOptions,
  type ChaosMachine,
  memoryChaosCloud,
  type ReplicaCloud,
} from './chaos-cloud.ts';
import { isCloudChange, type ProcessObserver, SimulatedProcess, stopAll } from './process.ts';
import { createTrace, type Trace } from './trace.ts';

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource });
const nodesResource = core('nodes');
const servicesResource = core('services');
const merge = 'application/merge-patch+json';
const uninitialized = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };
const clusterCidrs = ['10.244.0.0/16', 'fd00:10:244::/48'];
const heartbeatLateMs = 40_000;

const apiFaults = {
  conflict: 0.03,
  serverError: 0.02,
  throttle: 0.02,
  lostAnswer: 0.02,
  expiredWatch: 0.05,
  watchLifeMs: 1_800_000,
  latencyMs: 40,
  watchLagMs: 200,
};

interface Replica {
  process: SimulatedProcess;
  manager: RunningCloudControllerManager;
  cloud: ReplicaCloud;
}

export class CloudChaos implements ProcessObserver {
  readonly clock: VirtualClock;
  readonly rng: Rng;
  readonly cloud: ChaosCloud;
  readonly faults: FaultInjector;
  readonly trace: Trace;
  /** Broken promises noticed on the way. */
  readonly complaints: string[] = [];
  /** How often what happened. */
  readonly done: Record<string, number> = {};
  servicesPeak = 0;
  /** How often the leader was disturbed. */
  disturbed = 0;
  plane!: TestControlPlane;
  readonly #seed: number;
  #replicas: Replica[] = [];
  #holder = '';
  /** Ids of machines by name of their Node. */
  readonly #machineOf = new Map<string, string | undefined>();
  /** The leader that dies in the middle of its next change in the cloud. */
  #doomed: SimulatedProcess | undefined;
  #count = 0;

  private constructor(seed: number, clock: VirtualClock, cloud: ChaosCloud) {
    this.#seed = seed;
    this.clock = clock;
    this.cloud = cloud;
    this.rng = seededRng(seed);
    this.trace = createTrace(clock);
    this.faults = injectFaults({ clock, rng: seededRng(seed + 2_000) });
  }
  /** `make`: the cloud; by default the one in memory. */
  static async make(
    seed: number,
    make: (options: ChaosCloudOptions) => ChaosCloud | Promise<ChaosCloud> = memoryChaosCloud,
  ): Promise<CloudChaos> {
    let cloud: ChaosCloud | undefined;
    const clock = virtualClock({ outside: () => cloud?.outside?.() });
    cloud = await make({ clock, seed: seed + 1_000 });
    return new CloudChaos(seed, clock, cloud);
  }
  async open(replicas: number): Promise<void> {
    this.plane = await startTestControlPlane({
      clock: this.clock,
      rng: seededRng(this.#seed + 3_000),
      // Ports and addresses are given out as in a real one; accounts and their tokens are not what this is about.
      whole: true,
      admission: { disable: ['ServiceAccount'] },
    });
    await this.#watchNodes();
    for (let count = 0; count < replicas; count++) await this.startReplica();
  }
  startFaults(): void {
    this.cloud.startFaults();
    this.faults.rates = apiFaults;
  }
  stopFaults(): void {
    this.cloud.stopFaults();
    this.faults.rates = noApiFaults;
    this.#doomed = undefined;
    for (const { process } of this.#replicas) process.heal();
  }
  note(what: string): void {
    this.done[what] = (this.done[what] ?? 0) + 1;
  }
  number(): number {
    return ++this.#count;
  }
  readonly serviceClient = () => this.plane.client.resource<Service>(servicesResource, 'default');
  readonly nodeClient = () => this.plane.client.resource<Node>(nodesResource);
  services = async (): Promise<Service[]> => (await this.serviceClient().list()).items;
  nodes = async (): Promise<Node[]> => (await this.nodeClient().list()).items;
  pick<T>(from: readonly T[]): T | undefined {
    return from[this.rng.int(Math.max(1, from.length))];
  }

  // Replicas

  async startReplica(): Promise<void> {
    const process = new SimulatedProcess(`replica-${this.number()}`, this);
    const cloud = await this.cloud.open();
    const admin = { name: 'system:admin', groups: ['system:masters'] };
    const transport = process.transport(this.plane.apiserver.transport(admin, 'ccm'), (far) => this.faults.wrap(far));
    const manager = runCloudControllerManager(
      {
        providerName: this.cloud.providerName,
        cloud: process.cloud(cloud.cloud),
        controllers: ['*'],
        config: {
          ...defaultCloudControllersConfig(),
          clusterCidrs: clusterCidrs.flatMap((text) => parseCIDR(text) ?? []),
          concurrentServiceSyncs: 4,
        },
        leaderElection: defaultLeaderElection('cloud-controller-manager'),
        identity: process.identity,
      },
      {
        client: createClient(transport),
        clock: this.clock,
        rng: seededRng(this.rng.int(1e9)),
        logger: silentLogger,
      },
    );
    this.#replicas.push({ process, manager, cloud });
    void manager.ended.then(() => {
      this.note('lease lost');
      this.#replace(process);
    });
  }
  get leader(): SimulatedProcess | undefined {
    return this.#replicas.find(({ manager }) => manager.running().length > 0)?.process;
  }
  /** The process is gone without a word; another is started. */
  kill(process: SimulatedProcess): void {
    if (!process.alive) return;
    this.note(process.changing > 0 ? 'killed in the middle of a change' : 'killed');
    this.#replace(process);
  }
  doom(process: SimulatedProcess): void {
    this.#doomed = process;
  }
  /** The process ends in good order, as in an update of its Deployment, and another is started. */
  async restart(process: SimulatedProcess): Promise<void> {
    const replica = this.#replicas.find((one) => one.process === process);
    if (!replica) return;
    this.note('leader restarted');
    this.#replicas = this.#replicas.filter((one) => one !== replica);
    void this.startReplica();
    await Promise.race([replica.manager.stop(), this.clock.sleep(60_000)]);
    process.kill();
    replica.cloud.kill();
  }
  #replace(process: SimulatedProcess): void {
    const replica = this.#replicas.find((one) => one.process === process);
    process.kill();
    replica?.cloud.kill();
    void replica?.manager.stop();
    this.#replicas = this.#replicas.filter((one) => one !== replica);
    void this.startReplica();
  }

  // What must hold at every moment

  onApiCall(process: SimulatedProcess, { verb, resource, namespace, name, subresource }: ApiCall): void {
    this.trace.note(process.identity, verb, resource, namespace, name, subresource);
    if (verb === 'get' || verb === 'list' || resource === 'leases' || resource === 'events') return;
    this.#mustLead(process, `${verb} ${resource} ${name}`);
    if (verb === 'delete' && resource === 'nodes') this.#mustBeGone(name ?? '');
  }
  onApiAnswer(_process: SimulatedProcess, { verb, resource }: ApiCall, answer: unknown): void {
    if (resource !== 'leases' || (verb !== 'update' && verb !== 'create')) return;
    const { spec } = answer as { spec?: { holderIdentity?: string } };
    if (spec?.holderIdentity && spec.holderIdentity !== this.#holder) this.note('new leader');
    this.#holder = spec?.holderIdentity ?? '';
  }
  onCloudCall(process: SimulatedProcess, operation: string): void {
    this.trace.note(process.identity, operation);
    if (!isCloudChange(operation)) return;
    this.#mustLead(process, operation);
    if (this.#doomed !== process) return;
    this.#doomed = undefined;
    this.clock.setTimer(this.rng.int(800), () => this.kill(process));
  }
  onCloudAnswer(process: SimulatedProcess, operation: string, args: readonly unknown[], error: unknown): void {
    this.trace.note(process.identity, operation, error === undefined ? 'ok' : String(error));
    if (!isCloudChange(operation) || !process.alive) return;
    this.#mustLead(process, `${operation} to its end`);
    // A call that failed in the middle of a move from one load balancer to another leaves both until it is made again.
    if (operation !== 'ensureLoadBalancer' || error !== undefined) return;
    const { uid } = (args[1] as Service).metadata;
    const same = this.cloud.balancersOf(uid ?? '');
    if (same.length > 1) this.complaints.push(`${same.length} load balancers of one Service: ${same.join()}`);
  }
  #mustLead({ identity, reachable }: SimulatedProcess, what: string): void {
    if (this.#holder !== identity)
      this.complaints.push(
        `${identity}${reachable ? '' : ', cut off'}: ${what} at ${this.clock.monotonic()}, while ${this.#holder || 'nobody'} leads`,
      );
  }
  #mustBeGone(name: string): void {
    const id = this.#machineOf.get(name);
    if (id && this.cloud.machines().some((machine) => machine.id === id))
      this.complaints.push(`node ${name} is deleted while its machine ${id} exists`);
    this.note('node deleted by the manager');
  }
  async #watchNodes(): Promise<void> {
    const stream = await this.nodeClient().watch();
    stream.subscribe(
      ({ object: { metadata, spec } }) => this.#machineOf.set(metadata.name ?? '', spec?.providerID),
      () => {},
    );
  }

  // Machines

  machine(name: string): ChaosMachine | undefined {
    return this.cloud.machines().find((machine) => machine.name === name);
  }
  /** A machine is bought, boots, and its kubelet registers it. */
  buy(name: string): void {
    this.cloud.buy(name);
    this.clock.setTimer(20_000 + this.rng.int(40_000), () => this.#unlessGone(this.register(name)));
  }
  /** Makes the Node; waits while one of an earlier machine is still there. */
  async register(name: string): Promise<void> {
    const machine = this.machine(name);
    if (!machine?.running) return;
    const others = await this.nodes();
    const mine = others.find(({ metadata }) => metadata.name === name);
    const isOld = mine?.spec?.providerID !== undefined && mine.spec.providerID !== machine.id;
    if (isOld) {
      this.clock.setTimer(20_000, () => this.#unlessGone(this.register(name)));
      return;
    }
    if (!mine) {
      const taken = new Set(others.map(({ spec }) => spec?.podCIDR));
      let index = 0;
      while (taken.has(`10.244.${index}.0/24`)) index += 1;
      const both = [`10.244.${index}.0/24`, `fd00:10:244:${index.toString(16)}::/64`];
      const podCIDRs = this.cloud.lacks?.includes('IPv6') ? both.slice(0, 1) : both;
      const providerID = this.cloud.kubeletsKnowProviderId ? { providerID: machine.id } : {};
      const spec = { ...providerID, podCIDR: podCIDRs[0], podCIDRs, taints: [uninitialized] };
      const status = { conditions: [{ type: 'Ready', status: 'False' }] };
      await this.nodeClient().create({ metadata: { name }, spec, status });
    }
    await this.report(name);
  }
  /** The node's health as its kubelet, or the missing of its heartbeats, says. */
  async report(name: string): Promise<void> {
    const status = this.machine(name)?.running ? 'True' : 'Unknown';
    const body = { status: { conditions: [{ type: 'Ready', status }] } };
    await this.nodeClient().patch(name, 'application/strategic-merge-patch+json', body, { subresource: 'status' });
  }
  reportLater(name: string, afterMs = heartbeatLateMs): void {
    this.clock.setTimer(afterMs, () => this.#unlessGone(this.report(name)));
  }
  #unlessGone(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!isNotFound(error)) this.complaints.push(`a kubelet failed: ${String(error)}`);
    });
  }
  patchNode = (name: string, body: object): Promise<unknown> => this.nodeClient().patch(name, merge, body);
  patchService = (name: string, body: object): Promise<unknown> => this.serviceClient().patch(name, merge, body);

  async close(): Promise<void> {
    await stopAll(
      this.clock,
      this.#replicas.map(({ manager }) => manager.stop()),
    );
    await this.plane.stop();
    for (const { cloud } of this.#replicas) cloud.kill();
    await this.cloud.close?.();
  }
}
