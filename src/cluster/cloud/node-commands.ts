// `sagong node`: nodes as what they are in the cloud, instances that are added, switched off and on, and terminated. Asks the cloud's API, as a
// vendor's command line would; what becomes of the Node objects is the cloud-controller-manager's business.
import type { Instance } from '#cloud';
import { type CloudClient, CloudApiError, createCloudClient } from '#cloud/client';
import type { Clock } from '#utils';
import { openPki } from '../certificates.ts';
import { parseRegistryMirror } from '../nodes/index.ts';
import { clusterMark, clusterPaths } from '../paths.ts';
import { runningProcess } from '../run-state.ts';
import { type ClusterSettings, clusterNetworks, loadSettings, narrowNodesMax, nodeNames, saveSettings } from '../settings.ts';
import { textTable } from '../text-table.ts';
import { selfManagedServer } from './endpoint.ts';
import { Machines } from './machines.ts';
import { managedServer } from './managed-endpoint.ts';
import { ensureNetwork } from './network.ts';
import { openCloudSettings } from './settings.ts';

export interface NodeCommandOptions {
  dataDir: string;
  /** How to run this program: executable and first arguments. */
  program: readonly string[];
  clock: Clock;
}

export interface NodeCommands {
  list(): Promise<string>;
  /** Resolves with the new node's name when its instance runs. */
  add(name?: string, instanceType?: string): Promise<string>;
  stop(name: string): Promise<void>;
  start(name: string): Promise<void>;
  reboot(name: string): Promise<void>;
  terminate(name: string): Promise<void>;
  close(): void;
}

const settledTimeoutMs = 60_000;
const settledPollMs = 50;

/** Rejects with a sentence when the cluster does not run or has no cloud. */
export async function nodeCommands({ dataDir, program, clock }: NodeCommandOptions): Promise<NodeCommands> {
  const settings = await loadSettings(dataDir);
  if (!settings) throw new Error(`there is no cluster in ${dataDir}; start one with: sagong up`);
  if (!(await runningProcess(dataDir))?.ready)
    throw new Error(`the cluster in ${dataDir} does not run; start it with: sagong up --data-dir ${dataDir}`);
  if (settings.nodes.length === 0)
    throw new Error('this cluster is a control plane alone and has no cloud; start it again with: sagong up --nodes 1');
  const cloudSettings = await openCloudSettings(dataDir, () => Promise.resolve(new Set()));
  const cloud = createCloudClient({
    url: `https://127.0.0.1:${cloudSettings.port}`,
    token: cloudSettings.customerToken,
    ca: cloudSettings.ca,
  });
  return new Commands(cloud, settings, program, clock);
}

class Commands implements NodeCommands {
  readonly #cloud: CloudClient;
  readonly #settings: ClusterSettings;
  readonly #program: readonly string[];
  readonly #clock: Clock;

  constructor(cloud: CloudClient, settings: ClusterSettings, program: readonly string[], clock: Clock) {
    this.#cloud = cloud;
    this.#settings = settings;
    this.#program = program;
    this.#clock = clock;
  }
  async list(): Promise<string> {
    const instances = await (await this.#machines()).list();
    const rows = instances.map((one) => [one.name, one.id, one.type, one.zone, one.state, one.privateAddress]);
    return textTable(['NODE', 'INSTANCE', 'TYPE', 'ZONE', 'STATE', 'ADDRESS'], rows);
  }
  async add(name?: string, instanceType?: string): Promise<string> {
    const { dataDir, podCidr = clusterNetworks.podCidr } = this.#settings;
    const machines = await this.#machines(instanceType);
    const names = new Set([...this.#settings.nodes, ...(await machines.list()).map((instance) => instance.name)]);
    const chosen = name ?? nodeNames(this.#settings.name, names.size + 1).find((free) => !names.has(free)) ?? '';
    if (names.has(chosen)) throw new Error(`there is a node ${chosen} already`);
    if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(chosen))
      throw new Error(`a node is named by lower case letters, digits and dashes, at most 63, not ${JSON.stringify(chosen)}`);
    if (names.size >= narrowNodesMax && podCidr === clusterNetworks.podCidr)
      throw new Error(
        `this cluster has addresses for the pods of ${narrowNodesMax} nodes; for more, stop it and start it again with: sagong up --data-dir ${dataDir} --nodes <number>`,
      );
    const instance = await machines.add(chosen);
    await this.#settled(instance, 'running');
    await saveSettings({ ...this.#settings, nodes: [...this.#settings.nodes, chosen] });
    return chosen;
  }
  async stop(name: string): Promise<void> {
    const { id } = await (await this.#machines()).of(name);
    await this.#settled(await this.#cloud.stopInstance({ instanceId: id }), 'stopped');
  }
  async start(name: string): Promise<void> {
    const { id } = await (await this.#machines()).of(name);
    await this.#settled(await this.#cloud.startInstance({ instanceId: id }), 'running');
  }
  async reboot(name: string): Promise<void> {
    const { id } = await (await this.#machines()).of(name);
    await this.#settled(await this.#cloud.rebootInstance({ instanceId: id }), 'running');
  }
  async terminate(name: string): Promise<void> {
    const machines = await this.#machines();
    const { id } = await machines.of(name);
    await this.#settled(await this.#cloud.terminateInstance({ instanceId: id }), 'terminated');
    await machines.removeDisk(name);
    await saveSettings({ ...this.#settings, nodes: this.#settings.nodes.filter((node) => node !== name) });
  }
  close(): void {
    this.#cloud.close();
  }

  async #machines(instanceType?: string): Promise<Machines> {
    const {
      name,
      dataDir,
      uplink,
      runtime,
      topology,
      podCidr,
      nodeAddresses,
      networkPolicy,
      proxyMode,
      registryMirrors = [],
    } = this.#settings;
    const publicAddresses = nodeAddresses === 'public';
    const network = await ensureNetwork(this.#cloud, { cluster: name, internet: uplink !== 'none', nodePorts: publicAddresses });
    return new Machines(this.#cloud, network, {
      cluster: name,
      dataDir,
      pki: await openPki(clusterPaths(dataDir).pki),
      program: this.#program,
      server: topology === 'managed' ? managedServer(clusterMark(dataDir)) : selfManagedServer,
      simulated: runtime === 'simulated',
      registryMirrors: registryMirrors.map(parseRegistryMirror),
      publicAddresses,
      networkPolicy: networkPolicy !== 'none',
      proxyMode,
      ...(podCidr !== undefined && { podCidr }),
      ...(instanceType !== undefined && { instanceType }),
    });
  }
  /** The API answers when a change is accepted; states tell its progress. */
  async #settled({ id, name }: Instance, wanted: Instance['state']): Promise<void> {
    const deadline = this.#clock.monotonic() + settledTimeoutMs;
    for (;;) {
      const now = await this.#cloud.getInstance({ instanceId: id }).catch((error: unknown) => {
        if (wanted === 'terminated' && error instanceof CloudApiError && error.status === 404) return undefined;
        throw error;
      });
      if (!now || now.state === wanted) return;
      if (this.#clock.monotonic() > deadline)
        throw new Error(`the instance of ${name} is still ${now.state}${now.stateReason ? `: ${now.stateReason}` : ''}`);
      await this.#clock.sleep(settledPollMs);
    }
  }
}
