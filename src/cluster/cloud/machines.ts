// The nodes of a cluster as instances of its cloud: what a node needs to boot is written to its disk, then the cloud is asked for the
// instance, whose user data is the node's agent. Works the same for real and for simulated instances.
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ClientConfig, kubeconfigFor, writeKubeconfig } from '#client';
import type { Instance } from '#cloud';
import { type CloudClient, listAll } from '#cloud/client';
import { atomicWrite, removeTree } from '#host';
import type { ProxyMode } from '#kube-proxy';
import { findCniDir, hasSysResource } from '../capabilities.ts';
import { type ClusterPki, clientConfigFor } from '../certificates/certificates.ts';
import type { ComponentArgs } from '../flags/component-args.ts';
import {
  controlPlaneConfigPath,
  controlPlaneDir,
  agentConfigPath,
  nodeDir,
  systemImagePath,
  systemImagesDir,
} from '../state/paths.ts';
import { type Identity, identities } from '../certificates/identities.ts';
import type { NodeAgentConfig } from '../nodes/node-agent-config.ts';
import type { RegistryMirror } from '../nodes/index.ts';
import type { KeptFlags } from '../flags/index.ts';
import type { NodeMount } from '../state/settings.ts';
import { clusterNetworks } from '../state/networks.ts';
import { type ClusterNetwork, clusterTag, nodePlace, placeNamed, roleTag } from './network.ts';
import { argsOf, type NodeArgs, writePolicyIdentity } from './node-choices.ts';
import { programFolders } from './program-folders.ts';
import { runAt } from './run-at.ts';

export interface MachinesOptions {
  cluster: string;
  dataDir: string;
  pki: ClusterPki;
  /** Where nodes look for the apiserver. */
  server: { host: string; port: number };
  /** How to run this program: executable and first arguments. */
  program: readonly string[];
  registryMirrors: readonly RegistryMirror[];
  /** `pods`: the cluster's own programs are pods. */
  layout?: KeptFlags['layout'] | undefined;
  /** Whether there are nodes beside those of the control plane; default: true. */
  workers?: boolean;
  /** The range of the addresses of all pods; default: `clusterNetworks.podCidr`. */
  podCidr?: string;
  /** Whether new nodes enforce network policies. */
  networkPolicy?: boolean;
  /** The mode of kube-proxy on new nodes. */
  proxyMode?: ProxyMode | undefined;
  /** Who makes the pod network of new nodes. */
  cni?: KeptFlags['cni'] | undefined;
  /** A user's flags of kubelet and kube-proxy. */
  componentArgs?: ComponentArgs;
  /** Further ones of a node's kubelet, by the node's name. */
  nodeArgs?: NodeArgs;
  /** Whether new nodes have public addresses. */
  publicAddresses?: boolean;
  /** Instances are kubelets in the cluster's process: they read nothing from a disk. */
  simulated: boolean;
  /** Folders of this machine that a new node sees. */
  mountsOf?(name: string): readonly NodeMount[];
  /** Beside the cluster's own. */
  tags?: Readonly<Record<string, string>>;
  /** Type of the instances; default: the cloud's smallest. */
  instanceType?: string;
}

type Place = ReturnType<typeof nodePlace>;
/** Instances asked for at the same time. */
const requestsAtOnce = 32;

interface Booted {
  dataDir: string;
  program: readonly string[];
  name: string;
  pods: boolean;
  mounts?: readonly NodeMount[];
}
/** What the instance of a node runs. */
export function nodeUserData({ dataDir, program, name, pods, mounts = [] }: Booted) {
  const { command, shows } = programFolders(program);
  return {
    command: [...command, 'node-agent', '--config', agentConfigPath(dataDir, name)],
    directory: nodeDir(dataDir, name),
    shows: [...shows, ...(pods ? [systemImagesDir(dataDir)] : [])],
    ...(mounts.length > 0 && { mounts: mounts.map(({ source, target, readOnly }) => ({ source, target, readOnly })) }),
  };
}

export class Machines {
  readonly #cloud: CloudClient;
  readonly #network: ClusterNetwork;
  readonly #options: MachinesOptions;

  constructor(cloud: CloudClient, network: ClusterNetwork, options: MachinesOptions) {
    this.#cloud = cloud;
    this.#network = network;
    this.#options = options;
  }

  /** The cluster's instances that are not gone. */
  async list(): Promise<Instance[]> {
    const all = await listAll((page) => this.#cloud.listInstances({ tags: { [clusterTag]: this.#options.cluster }, ...page }));
    return all
      .filter(({ tags }) => tags[roleTag] === undefined)
      .filter(({ state }) => state !== 'terminated' && state !== 'shutting-down')
      .sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
  }
  /** Asks for the instances of these nodes that do not exist. Instances that were stopped stay so. */
  async ensure(names: readonly string[]): Promise<Instance[]> {
    const known = new Map((await this.list()).map((instance) => [instance.name, instance]));
    const free = this.#places([...known.values()], names);
    const made: Instance[] = [];
    for (let at = 0; at < names.length; at += requestsAtOnce)
      made.push(
        ...(await Promise.all(
          names
            .slice(at, at + requestsAtOnce)
            .map(async (name) => known.get(name) ?? this.#run(name, placeNamed(name) ?? free.next().value)),
        )),
      );
    return made;
  }
  /** One more node, at the first free place. Who adds another one at the same time may take that sooner: then it is the next one. */
  async add(name: string): Promise<Instance> {
    const named = placeNamed(name);
    if (named) return this.#run(name, named);
    for (;;) {
      const place = this.#places(await this.list(), []).next().value;
      try {
        return await this.#run(name, place);
      } catch (error) {
        const isTaken = (one: Instance): boolean => one.privateAddress === place.address && one.name !== name;
        if (!(await this.list()).some(isTaken)) throw error;
      }
    }
  }
  /** Removes what a node kept, once its instance is gone. */
  removeDisk(name: string): Promise<void> {
    return removeTree(nodeDir(this.#options.dataDir, name));
  }

  /** Free places for nodes, without end; those of nodes that are named after theirs are not free. */
  *#places(instances: readonly Instance[], names: readonly string[]): Generator<Place, never> {
    const named = names.flatMap((name) => placeNamed(name)?.address ?? []);
    const taken = new Set([...instances.map(({ privateAddress }) => privateAddress), ...named]);
    for (let index = 0; ; index++) {
      const place = nodePlace(index, this.#network.subnets.length);
      if (!taken.has(place.address)) yield place;
    }
  }
  async #run(name: string, { subnet, address }: Place): Promise<Instance> {
    const { cluster, dataDir, program, layout, simulated, instanceType, publicAddresses = false } = this.#options;
    const mounts = this.#options.mountsOf?.(name) ?? [];
    const { vpc, subnets, group } = this.#network;
    if (!simulated) await this.#prepareDisk(name, address);
    return runAt(this.#cloud, {
      name,
      subnetId: (subnets[subnet] as { id: string }).id,
      privateAddress: address,
      assignPublicAddress: publicAddresses,
      securityGroupIds: [group.id],
      // Pods are behind the node.
      sourceDestCheck: false,
      userData: nodeUserData({ dataDir, program, name, pods: layout === 'pods', mounts }),
      tags: { ...this.#options.tags, [clusterTag]: cluster, Name: `${vpc.name}/${name}` },
      ...(instanceType !== undefined && { type: instanceType }),
    });
  }
  /** The disk of a machine of the control plane, which is a node as well; made once. */
  async prepareControlPlane(name: string, address: string): Promise<void> {
    const { dataDir, workers = true } = this.#options;
    if (existsSync(agentConfigPath(dataDir, name))) return;
    const controlPlane = controlPlaneConfigPath(controlPlaneDir(dataDir, name, 'pods'));
    await this.#prepareDisk(name, address, { controlPlane, tainted: workers });
  }
  /** Identities and configuration, as a vendor's boot image and user data would bring them. */
  async #prepareDisk(name: string, address: string, plane: { controlPlane?: string; tainted?: boolean } = {}): Promise<void> {
    const {
      dataDir,
      layout,
      pki,
      registryMirrors,
      networkPolicy = false,
      proxyMode,
      cni,
      podCidr = clusterNetworks.podCidr,
    } = this.#options;
    const dir = nodeDir(dataDir, name);
    const { host, port } = this.#options.server;
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const kubeconfig = async (label: string, identity: Identity): Promise<string> => {
      const path = join(dir, `${label}.kubeconfig`);
      const config: ClientConfig = clientConfigFor(pki, identity, `https://${host}:${port}`);
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
      ownRoot: true,
      kubeletKubeconfig: await kubeconfig('kubelet', identities.node(name)),
      kubeProxyKubeconfig: await kubeconfig('kube-proxy', identities.kubeProxy),
      dnsKubeconfig: await kubeconfig('coredns', identities.dns),
      ...(layout === 'pods' && { pods: { image: systemImagePath(dataDir), ...plane } }),
      ...(proxyMode && { proxyMode }),
      ...(cni === 'none' && { cni }),
      ...(networkPolicy && {
        networkPolicyKubeconfig: await writePolicyIdentity({ nodeName: name, nodeDir: dir, apiserver: { host, port } }, pki),
      }),
      apiserver: { host, port },
      cniBinDir: findCniDir() ?? '/usr/lib/cni',
      restrictOomScoreAdj: process.platform === 'linux' && !hasSysResource(),
      registryMirrors,
      clusterDns: clusterNetworks.dnsServiceIp,
      clusterDomain: clusterNetworks.domain,
      clusterCidr: podCidr,
      tlsCertFile: join(dir, 'kubelet.crt'),
      tlsPrivateKeyFile: join(dir, 'kubelet.key'),
      clientCaFile: join(dir, 'ca.crt'),
      cloudProvider: 'external',
      ...argsOf(name, this.#options.componentArgs, this.#options.nodeArgs),
    };
    await atomicWrite(agentConfigPath(dataDir, name), JSON.stringify(config, null, 2));
  }
}
