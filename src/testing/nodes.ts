// The nodes of a test cluster as machines: added, stopped, started, terminated. With the cloud they are its instances; without it kubelets that are
// there or not.
import type { Node } from '#api/core/v1';
import type { CloudClient } from '#cloud/client';
import type { Instance } from '#cloud';
import { createInformerFactory } from '#client';
import { type ClusterPki, type ControlPlane, identities, isNodeReady, Machines, type SimulatedNodes, waitFor } from '#cluster';
import { type CloudDeps, type ClusterCloud, clusterName } from './cloud.ts';

export interface TestNodes {
  /** The names of all machines that are not terminated. */
  names(): string[];
  /** One more node; resolves with its name when it is Ready. `type`: of its instance; only with the cluster's own cloud. */
  add(name?: string, options?: { type?: string }): Promise<string>;
  /** Switches the machine off, at once, as a power failure does. Its Node learns of it as in a real cluster: after 40 seconds without a heartbeat. */
  stop(name: string): Promise<void>;
  /** Resolves when the node is Ready. */
  start(name: string): Promise<void>;
  /** The machine is gone for good. With a cloud its Node is deleted once it is not ready. */
  terminate(name: string): Promise<void>;
}

/** What a snapshot keeps of one machine of `PlainNodes`. */
export interface SavedMachine {
  name: string;
  /** None where a cloud provider says it. */
  address: string | undefined;
  on: boolean;
}

export interface NodesDeps extends CloudDeps {
  pki: ClusterPki;
}

const readyTimeoutMs = 30_000;
const powerTimeoutMs = 10_000;
const powerPollMs = 5;
/** Taints that loops take off a node some time after its kubelet has said Ready; until then no pod is placed there. */
const ofStart: ReadonlySet<string> = new Set([
  'node.cloudprovider.kubernetes.io/uninitialized',
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/network-unavailable',
]);

/** Ready, known to the cloud, reached by its network, and open to pods. */
const isUsable = (node: Node): boolean =>
  isNodeReady(node) &&
  !node.spec?.taints?.some(({ key }) => ofStart.has(key)) &&
  !node.status?.conditions?.some(({ type, status }) => type === 'NetworkUnavailable' && status === 'True');

/** Resolves when all of these are usable. `since`: what a Node says counts only when its kubelet has said it after that. */
export async function nodesUsable(plane: ControlPlane, names: readonly string[], deps: CloudDeps, sinceMs = 0): Promise<void> {
  if (names.length === 0) return;
  const informers = createInformerFactory({ ...deps, client: plane.client(identities.admin, 'sagong') });
  const nodes = informers.informer<Node>({ group: '', version: 'v1', resource: 'nodes' });
  const heardOf = (node: Node): boolean =>
    node.status?.conditions?.some(
      ({ type, lastHeartbeatTime }) => type === 'Ready' && Date.parse(lastHeartbeatTime ?? '') >= sinceMs - (sinceMs % 1000),
    ) ?? false;
  const missing = (all: readonly Node[]): string[] => {
    const usable = new Set(all.filter((node) => isUsable(node) && heardOf(node)).map(({ metadata }) => metadata.name));
    return names.filter((name) => !usable.has(name));
  };
  informers.start();
  try {
    await informers.waitForSync();
    await waitFor(nodes, (all) => missing(all).length === 0, {
      clock: deps.clock,
      timeoutMs: readyTimeoutMs,
      complaint: (all) => `not Ready after ${readyTimeoutMs / 1000} s: ${missing(all).join(', ')}`,
    });
  } finally {
    informers.stop();
  }
}

/** `node-1`, or the first number that is free. */
function chosenName(wanted: string | undefined, taken: readonly string[]): string {
  if (wanted !== undefined && taken.includes(wanted)) throw new Error(`there is a node ${wanted} already`);
  if (wanted !== undefined) return wanted;
  for (let number = 1; ; number++) if (!taken.includes(`node-${number}`)) return `node-${number}`;
}

/** Nodes that are instances of the cluster's cloud. */
export class InstanceNodes implements TestNodes {
  readonly #plane: ControlPlane;
  readonly #cloud: ClusterCloud;
  readonly #deps: NodesDeps;

  constructor(plane: ControlPlane, cloud: ClusterCloud, deps: NodesDeps) {
    this.#plane = plane;
    this.#cloud = cloud;
    this.#deps = deps;
  }
  names(): string[] {
    return this.#alive().map(({ name }) => name);
  }
  async ensure(names: readonly string[]): Promise<void> {
    await this.#machines().ensure(names);
  }
  /** The names of machines that have power. */
  running(): string[] {
    return this.#alive().flatMap(({ name, state }) => (state === 'running' || state === 'pending' ? [name] : []));
  }
  async add(wanted?: string, { type }: { type?: string } = {}): Promise<string> {
    const sinceMs = this.#deps.clock.now();
    const name = chosenName(wanted, this.names());
    await this.#machines(type).add(name);
    await nodesUsable(this.#plane, [name], this.#deps, sinceMs);
    return name;
  }
  async stop(name: string): Promise<void> {
    await this.#power(name, (api, instanceId) => api.stopInstance({ instanceId }), 'stopped');
  }
  async start(name: string): Promise<void> {
    const sinceMs = this.#deps.clock.now();
    await this.#power(name, (api, instanceId) => api.startInstance({ instanceId }), 'running');
    await nodesUsable(this.#plane, [name], this.#deps, sinceMs);
  }
  async terminate(name: string): Promise<void> {
    await this.#power(name, (api, instanceId) => api.terminateInstance({ instanceId }), 'terminated');
  }

  #alive(): Instance[] {
    const gone = (state: Instance['state']): boolean => state === 'terminated' || state === 'shutting-down';
    return [...this.#cloud.world.instances.values()].filter(({ state }) => !gone(state));
  }
  #machines(instanceType?: string): Machines {
    // Its instances are kubelets in this process: what they would find on their disks is named, and never read.
    return new Machines(this.#cloud.api, this.#cloud.network, {
      cluster: clusterName,
      simulated: true,
      dataDir: '/',
      program: ['sagong'],
      pki: this.#deps.pki,
      server: { host: '127.0.0.1', port: 0 },
      registryMirrors: [],
      ...(instanceType !== undefined && { instanceType }),
    });
  }
  async #power(
    name: string,
    ask: (api: CloudClient, instanceId: string) => Promise<unknown>,
    end: Instance['state'],
  ): Promise<void> {
    const { clock } = this.#deps;
    const instance = this.#alive().find((one) => one.name === name);
    if (!instance) throw new Error(`there is no node ${name}; there are: ${this.names().join(', ') || 'none'}`);
    await ask(this.#cloud.api, instance.id);
    const deadlineMs = clock.monotonic() + powerTimeoutMs;
    const state = (): string => this.#cloud.world.instances.get(instance.id)?.state ?? 'terminated';
    while (state() !== end) {
      if (clock.monotonic() > deadlineMs) throw new Error(`the instance of ${name} is still ${state()}`);
      await clock.sleep(powerPollMs);
    }
  }
}

/** Unique for 65,536 nodes; never used on a wire. */
const addressOf = (index: number): string => `10.64.${(index >> 8) & 255}.${index & 255}`;

export interface PlainNodesOptions {
  /** Nodes wait for a cloud-controller-manager. */
  external: boolean;
  /** And for routes that it makes. */
  routesFromCloud: boolean;
}

/** Nodes without a cloud of the cluster's own. */
export class PlainNodes implements TestNodes {
  readonly #plane: ControlPlane;
  readonly #kubelets: SimulatedNodes;
  readonly #options: PlainNodesOptions;
  readonly #deps: CloudDeps;
  /** Their addresses; none where a cloud provider says them. */
  readonly #machines = new Map<string, string | undefined>();

  constructor(plane: ControlPlane, kubelets: SimulatedNodes, options: PlainNodesOptions, deps: CloudDeps) {
    this.#plane = plane;
    this.#kubelets = kubelets;
    this.#options = options;
    this.#deps = deps;
  }
  names(): string[] {
    return [...this.#machines.keys()];
  }
  async ensure(names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name) => this.#boot(name)));
  }
  running(): string[] {
    return this.names().filter((name) => this.#kubelets.has(name));
  }
  saved(): SavedMachine[] {
    return [...this.#machines].map(([name, address]) => ({ name, address, on: this.#kubelets.has(name) }));
  }
  async restore(machines: readonly SavedMachine[]): Promise<void> {
    for (const { name, address } of machines) this.#machines.set(name, address);
    await this.ensure(machines.flatMap(({ name, on }) => (on ? [name] : [])));
  }
  async add(wanted?: string, { type }: { type?: string } = {}): Promise<string> {
    if (type !== undefined) throw new Error('this cluster has no cloud of its own: its nodes have no types');
    const sinceMs = this.#deps.clock.now();
    const name = chosenName(wanted, this.names());
    await this.#boot(name);
    await nodesUsable(this.#plane, [name], this.#deps, sinceMs);
    return name;
  }
  async stop(name: string): Promise<void> {
    this.#mustBe(name);
    await this.#kubelets.remove(name);
  }
  async start(name: string): Promise<void> {
    this.#mustBe(name);
    const sinceMs = this.#deps.clock.now();
    if (!this.#kubelets.has(name)) await this.#boot(name);
    await nodesUsable(this.#plane, [name], this.#deps, sinceMs);
  }
  async terminate(name: string): Promise<void> {
    await this.stop(name);
    this.#machines.delete(name);
  }

  #freeAddress(): string {
    const taken = new Set(this.#machines.values());
    for (let index = 1; ; index++) if (!taken.has(addressOf(index))) return addressOf(index);
  }
  #mustBe(name: string): void {
    if (!this.#machines.has(name)) throw new Error(`there is no node ${name}; there are: ${this.names().join(', ') || 'none'}`);
  }
  async #boot(name: string): Promise<void> {
    const { external, routesFromCloud } = this.#options;
    if (!this.#machines.has(name)) this.#machines.set(name, external ? undefined : this.#freeAddress());
    const nodeIP = this.#machines.get(name);
    await this.#kubelets.add({
      name,
      ...(nodeIP !== undefined && { nodeIP }),
      ...(external && { cloudProvider: 'external', routesFromCloud }),
    });
  }
}
