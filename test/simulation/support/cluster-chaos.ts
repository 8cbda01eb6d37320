// A whole cluster for chaos: real apiserver, managers and schedulers that elect leaders, and kubelets, in virtual time, with faults between each of
// them and the apiserver. What must hold at every moment is watched here.
import type { Pod } from '#api/core/v1';
import type { GroupVersionResource } from '#apimachinery/meta';
import type { ApiCall, Transport } from '#apimachinery/transport';
import { createClient, type KubeClient } from '#client';
import { defaultLeaderElection } from '#component-base';
import { runKubeControllerManager } from '#controller-manager';
import { defaultControllersConfig } from '#controllers';
import { createSimulatedNode, type Kubelet } from '#kubelet';
import { runKubeScheduler } from '#scheduler';
import {
  type FaultInjector,
  injectFaults,
  noApiFaults,
  startTestControlPlane,
  type TestControlPlane,
  virtualClock,
} from '#testing';
import { type Rng, seededRng, silentLogger } from '#utils';
import { History } from './history.ts';
import { type ProcessObserver, SimulatedProcess, stopAll } from './process.ts';
import { createTrace } from './trace.ts';

const of = (group: string, resource: string): GroupVersionResource => ({ group, version: 'v1', resource });
export const resources = {
  pods: of('', 'pods'),
  nodes: of('', 'nodes'),
  services: of('', 'services'),
  namespaces: of('', 'namespaces'),
  controllerRevisions: of('apps', 'controllerrevisions'),
  deployments: of('apps', 'deployments'),
  replicaSets: of('apps', 'replicasets'),
  statefulSets: of('apps', 'statefulsets'),
  daemonSets: of('apps', 'daemonsets'),
  jobs: of('batch', 'jobs'),
  slices: of('discovery.k8s.io', 'endpointslices'),
};
const loops = [
  'deployment-controller',
  'replicaset-controller',
  'statefulset-controller',
  'daemonset-controller',
  'job-controller',
  'endpointslice-controller',
  'namespace-controller',
  'garbage-collector-controller',
  'node-lifecycle-controller',
  'taint-eviction-controller',
  'node-ipam-controller',
  'pod-garbage-collector-controller',
];
const apiFaults = {
  conflict: 0.05,
  serverError: 0.03,
  throttle: 0.02,
  lostAnswer: 0.03,
  expiredWatch: 0.05,
  watchLifeMs: 900_000,
  latencyMs: 60,
  watchLagMs: 300,
};
export type Component = 'kube-controller-manager' | 'kube-scheduler';
const components: readonly Component[] = ['kube-controller-manager', 'kube-scheduler'];
const replicasEach = 2;

interface Program {
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}
interface Replica {
  component: Component;
  process: SimulatedProcess;
  program: Program;
}

export class ClusterChaos implements ProcessObserver {
  readonly clock = virtualClock();
  readonly rng: Rng;
  readonly faults: FaultInjector;
  readonly trace = createTrace(this.clock);
  /** By name; undefined: without power. */
  readonly kubelets = new Map<string, Kubelet | undefined>();
  readonly complaints: string[] = [];
  /** How often what happened. */
  readonly done: Record<string, number> = {};
  plane!: TestControlPlane;
  history!: History;
  readonly #seed: number;
  readonly #holders = new Map<string, string>();
  readonly #answers = new WeakMap<ApiCall, (answer: unknown) => void>();
  readonly #nodeOf = new Map<string, string>();
  #replicas: Replica[] = [];
  #count = 0;

  constructor(seed: number) {
    this.#seed = seed;
    this.rng = seededRng(seed);
    this.faults = injectFaults({ clock: this.clock, rng: seededRng(seed + 1_000) });
  }
  async open(nodes: number): Promise<void> {
    this.plane = await startTestControlPlane({
      clock: this.clock,
      rng: seededRng(this.#seed + 2_000),
      whole: true,
      // Accounts and their tokens are not what this is about.
      admission: { disable: ['ServiceAccount'] },
    });
    this.history = new History(this.plane.client);
    await this.history.follow(Object.values(resources));
    await this.#watchBindings();
    for (const component of components) for (let count = 0; count < replicasEach; count++) this.startReplica(component);
    for (let index = 0; index < nodes; index++) this.startKubelet(`node-${index}`);
    await this.clock.advance(30_000);
  }
  startFaults(): void {
    this.faults.rates = apiFaults;
  }
  /** No more faults, and power for every node. */
  stopFaults(): void {
    this.faults.rates = noApiFaults;
    for (const { process } of this.#replicas) process.heal();
    for (const [name, kubelet] of this.kubelets) if (!kubelet) this.startKubelet(name);
  }
  note(what: string): void {
    this.done[what] = (this.done[what] ?? 0) + 1;
  }
  number(): number {
    return ++this.#count;
  }
  pick<T>(from: readonly T[]): T | undefined {
    return from[this.rng.int(Math.max(1, from.length))];
  }

  startReplica(component: Component): void {
    const identity = `${component}-${this.number()}`;
    const process = new SimulatedProcess(identity, this);
    const client = this.#connect(process, `system:${component}`);
    const deps = { client, clock: this.clock, rng: seededRng(this.rng.int(1e9)), logger: silentLogger };
    const leaderElection = defaultLeaderElection(component);
    const config = { ...defaultControllersConfig, clusterCidrs: ['10.244.0.0/16'], allocateNodeCidrs: true };
    const program: Program =
      component === 'kube-scheduler'
        ? runKubeScheduler({ leaderElection, identity }, deps)
        : runKubeControllerManager({ controllers: loops, config, leaderElection, identity }, deps);
    this.#replicas.push({ component, process, program });
    void program.ended.then(() => {
      if (!process.alive) return;
      this.note('lease lost');
      this.kill(process);
    });
  }
  leader(component: Component): SimulatedProcess | undefined {
    const identity = this.#holders.get(component);
    return this.#replicas.find(({ process }) => process.identity === identity)?.process;
  }
  /** The process is gone without a word; another is started. */
  kill(process: SimulatedProcess): void {
    const replica = this.#replicas.find((one) => one.process === process);
    if (!replica || !process.alive) return;
    process.kill();
    void replica.program.stop();
    this.#replicas = this.#replicas.filter((one) => one !== replica);
    this.startReplica(replica.component);
  }
  startKubelet(name: string): void {
    const process = new SimulatedProcess(name, this);
    const client = this.#connect(process, `system:node:${name}`);
    const rng = seededRng(this.rng.int(1e9));
    const kubelet = createSimulatedNode({ name }, { client, clock: this.clock, rng, logger: silentLogger });
    this.kubelets.set(name, kubelet);
    kubelet.start().catch((error: unknown) => {
      if (this.kubelets.get(name) === kubelet) this.complaints.push(`kubelet ${name} did not start: ${String(error)}`);
    });
  }
  /** Its power goes, and with it all that ran there. */
  stopKubelet(name: string): void {
    this.kubelets.get(name)?.close();
    this.kubelets.set(name, undefined);
  }
  #connect(process: SimulatedProcess, user: string): KubeClient {
    const identity = { name: user, groups: ['system:masters', 'system:authenticated'] };
    const network = (far: Transport): Transport => this.faults.wrap(far);
    return createClient(process.transport(this.plane.apiserver.transport(identity, process.identity), network));
  }

  // What must hold at every moment

  onApiCall({ identity }: SimulatedProcess, call: ApiCall): void {
    const { verb, resource, namespace, name, subresource } = call;
    this.trace.note(identity, verb, resource, namespace, name, subresource);
    this.#answers.set(call, this.history.request(call));
    const component = components.find((one) => identity.startsWith(one));
    if (!component || verb === 'get' || verb === 'list' || resource === 'leases' || resource === 'events') return;
    const holder = this.#holders.get(component);
    if (holder !== identity) this.complaints.push(`${identity}: ${verb} ${resource} ${name}, while ${holder || 'nobody'} leads`);
  }
  onApiAnswer(_process: SimulatedProcess, call: ApiCall, answer: unknown): void {
    this.#answers.get(call)?.(answer);
    this.#answers.delete(call);
    if (call.resource !== 'leases' || (call.verb !== 'update' && call.verb !== 'create')) return;
    const { metadata, spec } = answer as { metadata: { name: string }; spec?: { holderIdentity?: string } };
    if (!components.some((one) => one === metadata.name)) return;
    const holder = spec?.holderIdentity ?? '';
    if (holder && this.#holders.get(metadata.name) !== holder) this.note(`new leader of ${metadata.name}`);
    this.#holders.set(metadata.name, holder);
  }
  onCloudCall(): void {}
  onCloudAnswer(): void {}

  async #watchBindings(): Promise<void> {
    const stream = await this.plane.client.resource<Pod>(resources.pods).watch({});
    stream.subscribe(
      ({ object: { metadata, spec } }) => {
        const { uid = '', name } = metadata;
        const before = this.#nodeOf.get(uid);
        if (before && before !== spec?.nodeName) this.complaints.push(`pod ${name} went from ${before} to ${spec?.nodeName}`);
        if (spec?.nodeName && !before) this.note('pod bound');
        if (spec?.nodeName) this.#nodeOf.set(uid, spec.nodeName);
      },
      () => {},
    );
  }
  /** Pods that run at two nodes, by UID or, where names are promises, by name. */
  async twice(): Promise<void> {
    const seen = new Map<string, string>();
    for (const [node, kubelet] of this.kubelets)
      for (const { uid, namespace, name, containers } of (await kubelet?.parts.runtime.list()) ?? []) {
        if (!containers.some(({ state }) => state === 'running')) continue;
        for (const id of [uid, ...(name.startsWith('sta-') ? [`${namespace}/${name}`] : [])]) {
          const other = seen.get(id);
          if (other) this.complaints.push(`pod ${name} runs on ${other} and on ${node} at ${this.clock.monotonic()}`);
          seen.set(id, node);
        }
      }
  }
  async close(): Promise<void> {
    for (const kubelet of this.kubelets.values()) kubelet?.close();
    await stopAll(
      this.clock,
      this.#replicas.map(({ program }) => program.stop()),
    );
    await this.plane.stop();
  }
}
