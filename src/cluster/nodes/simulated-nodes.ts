// Nodes whose pods are not processes: whole kubelets over the simulated runtime, in this process. A kubelet's API gets a server on loopback when
// somebody first asks for it, so that logs and exec get the simulated runtime's own answer.
import { connect } from 'node:net';
import type { Node } from '#api/core/v1';
import { createEventRecorder } from '#client';
import type { Supervised } from '#component-base';
import {
  createSimulatedNode,
  createSimulatedRuntime,
  type Kubelet,
  serveSimulatedNodes,
  type SimulatedNodeOptions,
  type SimulatedRuntime,
  statsSummary,
} from '#kubelet';
import type { StatsSummary } from '#component-helpers/stats';
import type { Clock, Logger, Rng } from '#utils';
import type { Dial, WireServer } from '#wire';
import type { ClusterPki } from '../certificates/certificates.ts';
import type { ControlPlane } from '../control-plane.ts';
import { identities } from '../certificates/identities.ts';

export interface SimulatedNodesDeps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
  pki: ClusterPki;
}

/** A machine: its kubelet may fail and come back, what runs on it stays. */
interface SimulatedMachine {
  readonly runtime: SimulatedRuntime;
  /** The running kubelet, or the last one that ran. */
  kubelet: Kubelet | undefined;
  running: Promise<Supervised<{ stop(): void }>> | undefined;
}

export class SimulatedNodes {
  readonly #plane: ControlPlane;
  readonly #deps: SimulatedNodesDeps;
  /** The machines by name. */
  readonly #machines = new Map<string, SimulatedMachine>();
  /** The servers of the machines by address. */
  readonly #servers = new Map<string, { machine: SimulatedMachine; server: Promise<WireServer> }>();
  #stopped = false;

  constructor(plane: ControlPlane, deps: SimulatedNodesDeps) {
    this.#plane = plane;
    this.#deps = deps;
  }

  has(name: string): boolean {
    return this.#machines.has(name);
  }
  names(): string[] {
    return [...this.#machines.keys()];
  }
  /** Resolves when the node is registered, or is no longer wanted: after `stop` none is added. */
  async add(node: SimulatedNodeOptions): Promise<void> {
    // The cloud may be about to bring its instances in line with the nodes while these are taken from it.
    if (this.#stopped) return;
    const { clock, rng } = this.#deps;
    const client = this.#plane.client(identities.node(node.name), 'kubelet');
    const logger = this.#deps.logger.with({ component: 'kubelet', node: node.name });
    const options = { podCIDR: null, ...node };
    const runtime = createSimulatedRuntime(options, { clock, rng });
    const machine: SimulatedMachine = { runtime, kubelet: undefined, running: undefined };
    this.#machines.set(node.name, machine);
    const begin = async (): Promise<{ stop(): void }> => {
      const recorder = createEventRecorder({ client, clock, logger, component: 'kubelet', host: node.name });
      const kubelet = createSimulatedNode(options, { clock, rng, client, logger, recorder, runtime });
      machine.kubelet = kubelet;
      await kubelet.start();
      return { stop: () => kubelet.close({ keepRuntime: true }) };
    };
    machine.running = this.#plane.supervisor.run(`kubelet/${node.name}`, begin, { quiet: true });
    await machine.running;
  }
  /** Simulates a power failure: the pods of the machine are gone, and its Node gets no more updates. */
  async remove(name: string): Promise<void> {
    const machine = this.#machines.get(name);
    if (!machine) return;
    this.#machines.delete(name);
    machine.kubelet?.close();
    // Not awaited: a kubelet that has no answer from the apiserver may never have started.
    void machine.running?.then((running) => running.stop()).catch(() => {});
    for (const [address, served] of this.#servers) {
      if (served.machine !== machine) continue;
      this.#servers.delete(address);
      await (await served.server.catch(() => undefined))?.close({ graceMs: 0 });
    }
  }
  /** Reaches the kubelets by the addresses of their Node objects; nothing else is there to be reached. */
  readonly dial: Dial = async ({ host, port }) => {
    const machine =
      [...this.#machines.values()].find(({ kubelet }) => kubelet?.options.nodeIPs.includes(host)) ??
      (await this.#byProvidersAddress(host));
    if (!machine)
      throw new Error(`${host}:${port} cannot be reached: the nodes are simulated, their pods are not real processes`);
    const served = this.#servers.get(host) ?? { machine, server: this.#serve(host, machine) };
    this.#servers.set(host, served);
    const { port: servedPort } = await served.server;
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port: servedPort });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.removeListener('error', reject);
        resolve(socket);
      });
    });
  };
  /** What the node uses; undefined for a node that is not among these. */
  stats(name: string): Promise<StatsSummary> | undefined {
    const kubelet = this.#machines.get(name)?.kubelet;
    return kubelet && statsSummary(kubelet, true);
  }
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const name of this.names()) await this.remove(name);
  }

  /** A cloud provider may say other addresses of a node than its kubelet does. */
  async #byProvidersAddress(host: string): Promise<SimulatedMachine | undefined> {
    const nodes = this.#plane.client(identities.admin, 'sagong').resource<Node>({ group: '', version: 'v1', resource: 'nodes' });
    const told = (await nodes.list()).items.find(({ status }) => status?.addresses?.some(({ address }) => address === host));
    return this.#machines.get(told?.metadata.name ?? '');
  }
  #serve(address: string, machine: SimulatedMachine): Promise<WireServer> {
    const { pki, clock, logger } = this.#deps;
    return serveSimulatedNodes(
      () => (machine.kubelet ? [machine.kubelet] : []).values(),
      {
        tls: { ...pki.serving('system:node:simulated', { ips: [address] }), ca: pki.authority.cert, requestClientCert: true },
        listen: { host: '127.0.0.1', port: 0 },
        anonymous: false,
        tokenReview: true,
        authorization: 'Webhook',
      },
      { client: this.#plane.client(identities.admin, 'kubelet'), clock, logger },
    );
  }
}
