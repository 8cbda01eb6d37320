// Nodes whose pods are not processes: whole kubelets over the simulated runtime, in this process. A kubelet's API gets a server on loopback when
// somebody first asks for it, so that logs and exec get the simulated runtime's own answer.
import { connect } from 'node:net';
import type { Node } from '#api/core/v1';
import { createEventRecorder } from '#client';
import { createSimulatedNode, type Kubelet, serveSimulatedNodes, type SimulatedNodeOptions } from '#kubelet';
import type { Clock, Logger, Rng } from '#utils';
import type { Dial, WireServer } from '#wire';
import type { ClusterPki } from './certificates.ts';
import type { ControlPlane } from './control-plane.ts';
import { identities } from './identities.ts';

export interface SimulatedNodesDeps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
  pki: ClusterPki;
}

export class SimulatedNodes {
  readonly #plane: ControlPlane;
  readonly #deps: SimulatedNodesDeps;
  /** By name. */
  readonly #kubelets = new Map<string, Kubelet>();
  /** By address. */
  readonly #servers = new Map<string, { kubelet: Kubelet; server: Promise<WireServer> }>();

  constructor(plane: ControlPlane, deps: SimulatedNodesDeps) {
    this.#plane = plane;
    this.#deps = deps;
  }

  has(name: string): boolean {
    return this.#kubelets.has(name);
  }
  names(): string[] {
    return [...this.#kubelets.keys()];
  }
  /** Resolves when the node is registered. */
  async add(node: SimulatedNodeOptions): Promise<void> {
    const { clock, rng } = this.#deps;
    const client = this.#plane.client(identities.node(node.name), 'kubelet');
    const logger = this.#deps.logger.with({ component: 'kubelet', node: node.name });
    const recorder = createEventRecorder({ client, clock, logger, component: 'kubelet', host: node.name });
    const kubelet = createSimulatedNode({ podCIDR: null, ...node }, { clock, rng, client, logger, recorder });
    this.#kubelets.set(node.name, kubelet);
    await kubelet.start();
  }
  /** A power failure: pods on it are gone, and its Node hears no more of it. */
  async remove(name: string): Promise<void> {
    const kubelet = this.#kubelets.get(name);
    if (!kubelet) return;
    this.#kubelets.delete(name);
    kubelet.close();
    for (const [address, served] of this.#servers) {
      if (served.kubelet !== kubelet) continue;
      this.#servers.delete(address);
      await (await served.server.catch(() => undefined))?.close({ graceMs: 0 });
    }
  }
  /** Reaches the kubelets by the addresses of their Node objects; nothing else is there to be reached. */
  readonly dial: Dial = async ({ host, port }) => {
    const kubelet =
      [...this.#kubelets.values()].find(({ options }) => options.nodeIPs.includes(host)) ??
      (await this.#byProvidersAddress(host));
    if (!kubelet)
      throw new Error(`${host}:${port} cannot be reached: the nodes are simulated, their pods are not real processes`);
    const served = this.#servers.get(host) ?? { kubelet, server: this.#serve(host, kubelet) };
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
  async stop(): Promise<void> {
    for (const name of this.names()) await this.remove(name);
  }

  /** A cloud provider may say other addresses of a node than its kubelet does. */
  async #byProvidersAddress(host: string): Promise<Kubelet | undefined> {
    const nodes = this.#plane.client(identities.admin, 'sagong').resource<Node>({ group: '', version: 'v1', resource: 'nodes' });
    const told = (await nodes.list()).items.find(({ status }) => status?.addresses?.some(({ address }) => address === host));
    return this.#kubelets.get(told?.metadata.name ?? '');
  }
  #serve(address: string, kubelet: Kubelet): Promise<WireServer> {
    const { pki, clock, logger } = this.#deps;
    return serveSimulatedNodes(
      () => [kubelet].values(),
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
