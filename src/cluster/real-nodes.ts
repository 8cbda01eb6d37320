// Real nodes of a cluster: their network, their containerd, their images, and one agent process each (kubelet and kube-proxy).
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Node } from '#api/core/v1';
import { type ClientConfig, createInformerFactory, kubeconfigFor, writeKubeconfig } from '#client';
import { atomicWrite, goArchitecture } from '#host';
import { importImage, pauseProgram } from './images/index.ts';
import type { Clock, Exec, Logger, Rng } from '#utils';
import { findCniDir, hasSysResource } from './capabilities.ts';
import type { ControlPlane } from './control-plane.ts';
import type { ClusterPki } from './certificates.ts';
import { identities } from './identities.ts';
import {
  cgroupLayout,
  createNetwork,
  createUplink,
  joinLan,
  lan,
  type Lan,
  networkPlan,
  type NetworkPlan,
  RealNode,
  type RegistryMirror,
  removeLeftovers,
  removeUplink,
  routePods,
} from './nodes/index.ts';
import type { NodeAgentConfig } from './node-agent-config.ts';
import { clusterNetworks, type UplinkChoice } from './settings.ts';

export interface RealNodesOptions {
  dataDir: string;
  names: readonly string[];
  /** How to run this program: executable and first arguments. */
  program: readonly string[];
  uplink: UplinkChoice;
  registryMirrors: readonly RegistryMirror[];
}

export interface RealNodesDeps {
  clock: Clock;
  rng: Rng;
  exec: Exec;
  logger: Logger;
}

export const apiServerPort = 6443;

export class RealNodes {
  readonly plan: NetworkPlan;
  readonly #options: RealNodesOptions;
  readonly #deps: RealNodesDeps;
  readonly #nodes: RealNode[] = [];
  #lan: Lan | undefined;
  #noUplink: string | undefined;
  #stopRouting: () => void = () => {};

  constructor(options: RealNodesOptions, deps: RealNodesDeps) {
    this.#options = options;
    this.#deps = deps;
    this.plan = networkPlan(options.dataDir, options.names);
  }
  get lan(): Lan {
    if (!this.#lan) throw new Error("the nodes' network is not up yet");
    return this.#lan;
  }
  /** Why the nodes have no way out of the machine, where they were to have one. */
  get noUplink(): string | undefined {
    return this.#noUplink;
  }
  get sockets(): string[] {
    return this.#nodes.map(({ socket }) => socket);
  }

  /** Clears what an earlier run left, then boots network, namespaces and containerds, and loads the pause image. */
  async boot(): Promise<void> {
    const { exec, clock, logger } = this.#deps;
    const { dataDir } = this.#options;
    await removeLeftovers(dataDir, this.plan.id, { exec, clock });
    await createNetwork(exec, this.plan);
    this.#lan = await joinLan(this.plan.lanNetns, dataDir);
    const pausePath = join(dataDir, 'nodes', 'pause');
    await mkdir(join(dataDir, 'nodes'), { recursive: true, mode: 0o700 });
    await writeFile(pausePath, pauseProgram(goArchitecture()), { mode: 0o755 });
    const layout = cgroupLayout();
    await Promise.all([
      this.#connectUplink(),
      ...this.plan.nodes.map(async (plan) => {
        const node = new RealNode({
          plan,
          layout,
          pausePath,
          resolvConf: `nameserver ${lan.gateway}\n`,
          clock,
          exec,
          logger,
        });
        this.#nodes.push(node);
        await node.start();
      }),
    ]);
  }
  /** Gives each node its identities and starts its agent; pods are routed as soon as nodes have their pod CIDRs. */
  async startAgents(plane: ControlPlane, pki: ClusterPki): Promise<void> {
    this.#route(plane);
    await Promise.all(this.#nodes.map((node) => this.#startAgent(node, plane, pki)));
  }
  async importImage(archive: Uint8Array): Promise<void> {
    await Promise.all(this.#nodes.map(({ socket }) => importImage({ socket, exec: this.#deps.exec }, archive)));
  }
  async stop(): Promise<void> {
    this.#stopRouting();
    this.#lan?.close();
    await Promise.all(this.#nodes.map((node) => node.stop()));
    await removeLeftovers(this.#options.dataDir, this.plan.id, this.#deps);
  }

  /** A machine that allows no uplink has nodes all the same: they only reach each other. */
  async #connectUplink(): Promise<void> {
    if (this.#options.uplink === 'none') return;
    const { exec, logger } = this.#deps;
    try {
      await createUplink(exec, this.plan.id, this.plan.lanNetns);
    } catch (error) {
      this.#noUplink = (error as Error).message;
      logger.warn('nodes and pods have no way out of this machine', { error: this.#noUplink });
      await removeUplink(exec, this.plan.id);
    }
  }
  #route(plane: ControlPlane): void {
    const informers = createInformerFactory({ ...this.#deps, client: plane.client(identities.admin, 'sagong') });
    const nodes = informers.informer<Node>({ group: '', version: 'v1', resource: 'nodes' });
    const cidrs = new Map<string, string>();
    let chain = Promise.resolve();
    const learn = ({ metadata, spec }: Node): void => {
      const name = metadata.name ?? '';
      const cidr = spec?.podCIDR;
      const node = this.#nodes.find(({ plan }) => plan.name === name);
      if (!node || !cidr || cidrs.get(name) === cidr) return;
      cidrs.set(name, cidr);
      const known = new Map(cidrs);
      chain = chain
        .then(async () => {
          await routePods(this.#deps.exec, this.plan, known);
        })
        .catch((error: unknown) => this.#deps.logger.error('pod routes not set', { node: name, error: String(error) }));
    };
    nodes.addHandler({ onAdd: learn, onUpdate: learn });
    informers.start();
    this.#stopRouting = () => informers.stop();
  }
  async #startAgent(node: RealNode, plane: ControlPlane, pki: ClusterPki): Promise<void> {
    const { dir, name, address } = node.plan;
    const server = `https://${lan.gateway}:${apiServerPort}`;
    const file = async (label: string, config: ClientConfig): Promise<string> => {
      const path = join(dir, `${label}.kubeconfig`);
      await writeKubeconfig(path, kubeconfigFor(name, config));
      return path;
    };
    const serving = pki.serving(`system:node:${name}`, { dnsNames: [name], ips: [address, '127.0.0.1'] });
    await atomicWrite(join(dir, 'kubelet.crt'), serving.cert, { mode: 0o644 });
    await atomicWrite(join(dir, 'kubelet.key'), serving.key);
    await atomicWrite(join(dir, 'ca.crt'), pki.authority.cert, { mode: 0o644 });
    const config: NodeAgentConfig = {
      nodeName: name,
      nodeIp: address,
      nodeDir: dir,
      kubeletKubeconfig: await file('kubelet', plane.clientConfig(identities.node(name), server)),
      kubeProxyKubeconfig: await file('kube-proxy', plane.clientConfig(identities.kubeProxy, server)),
      apiserver: { host: lan.gateway, port: apiServerPort },
      cniBinDir: findCniDir() ?? '/usr/lib/cni',
      restrictOomScoreAdj: !hasSysResource(),
      registryMirrors: this.#options.registryMirrors,
      clusterDns: clusterNetworks.dnsServiceIp,
      clusterDomain: clusterNetworks.domain,
      clusterCidr: clusterNetworks.podCidr,
      tlsCertFile: join(dir, 'kubelet.crt'),
      tlsPrivateKeyFile: join(dir, 'kubelet.key'),
      clientCaFile: join(dir, 'ca.crt'),
      cloudProvider: '',
    };
    const path = join(dir, 'agent.json');
    await atomicWrite(path, JSON.stringify(config, null, 2));
    const [command = process.execPath, ...args] = this.#options.program;
    await node.service(command, [...args, 'node-agent', '--config', path], 'agent');
  }
}
