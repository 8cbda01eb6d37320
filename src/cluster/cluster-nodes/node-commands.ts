// `sagong node`: nodes as what they are in the cloud, instances that are added, switched off and on, and terminated. Asks the cloud's API, as a
// vendor's command line would; what becomes of the Node objects is the cloud-controller-manager's business.
import type { Instance } from '#cloud';
import { type CloudClient, CloudApiError, createCloudClient } from '#cloud/client';
import { removeTree } from '#host';
import type { Clock } from '#utils';
import { openPki } from '../certificates/certificates.ts';
import { prepareControlPlanes } from '../control-planes/boot.ts';
import { machinesOptions } from './machines-options.ts';
import { controlPlaneDir, clusterMark, clusterPaths, nodeDir } from '../state/paths.ts';
import { ControlPlaneMachines } from '../control-planes/machines.ts';
import { apiPort, isControlPlane } from '../control-planes/names.ts';
import { parseRegistryMirror } from '../nodes/index.ts';
import { runningProcess } from '../state/run-state.ts';
import { changeSettings, type ClusterSettings, loadSettings, nodeNames } from '../state/settings.ts';
import { clusterNetworks, narrowNodesMax } from '../state/networks.ts';
import { textTable } from '../terminal/text-table.ts';
import { selfManagedServer } from '../endpoint/endpoint.ts';
import { vendorNodeNames, vendorTags } from '../cloud/emulation.ts';
import { Machines } from '../cloud/machines.ts';
import { managedServer } from '../endpoint/managed-server.ts';
import { type ClusterNetwork, ensureNetwork } from '../cloud/network.ts';
import { asManager } from '../cloud/as-manager.ts';
import { openCloudSettings } from '../cloud/settings.ts';
import { serviceAccount } from '../cloud/names.ts';

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
  if (settings.nodes.length === 0 && !settings.controlPlanes)
    throw new Error('this cluster is a control plane alone and has no cloud; start it again with: sagong up --nodes 1');
  const cloudSettings = await openCloudSettings(dataDir, () => Promise.resolve(new Set()));
  const { port, ca, customerToken, serviceToken } = cloudSettings;
  const as = (token: string): CloudClient => createCloudClient({ url: `https://127.0.0.1:${port}`, token, ca });
  return new Commands(
    { cloud: as(customerToken), service: asManager(as(serviceToken), serviceAccount) },
    settings,
    program,
    clock,
  );
}

class Commands implements NodeCommands {
  readonly #cloud: CloudClient;
  /** The client of the account that manages control planes. */
  readonly #service: CloudClient;
  readonly #settings: ClusterSettings;
  readonly #program: readonly string[];
  readonly #clock: Clock;

  constructor(
    { cloud, service }: { cloud: CloudClient; service: CloudClient },
    settings: ClusterSettings,
    program: readonly string[],
    clock: Clock,
  ) {
    this.#cloud = cloud;
    this.#service = service;
    this.#settings = settings;
    this.#program = program;
    this.#clock = clock;
  }
  async list(): Promise<string> {
    const planes = (await (await this.#controlPlanes())?.list()) ?? [];
    const nodes = await (await this.#machines()).list();
    const row = (one: Instance, ...role: string[]) => [
      one.name,
      one.id,
      one.type,
      one.zone,
      one.state,
      one.privateAddress,
      ...role,
    ];
    const columns = ['NODE', 'INSTANCE', 'TYPE', 'ZONE', 'STATE', 'ADDRESS'];
    if (planes.length === 0)
      return textTable(
        columns,
        nodes.map((one) => row(one)),
      );
    const rows = [...planes.map((one) => row(one, 'control-plane')), ...nodes.map((one) => row(one, 'node'))];
    return textTable([...columns, 'ROLE'], rows);
  }
  async add(name?: string, instanceType?: string): Promise<string> {
    const planes = await this.#controlPlanes();
    if (planes && name !== undefined && isControlPlane(this.#settings, name)) return this.#replace(planes, name);
    const machines = await this.#machines(instanceType);
    const chosen = await this.#reserve(name, await machines.list());
    const instance = await machines.add(chosen).catch(async (error: unknown) => {
      await this.#noteNodes((nodes) => nodes.filter((node) => node !== chosen));
      throw error;
    });
    await this.#settled(instance, 'running');
    return chosen;
  }
  async stop(name: string): Promise<void> {
    const { id, cloud } = await this.#of(name);
    await this.#settled(await cloud.stopInstance({ instanceId: id }), 'stopped');
  }
  async start(name: string): Promise<void> {
    const { id, cloud } = await this.#of(name);
    await this.#settled(await cloud.startInstance({ instanceId: id }), 'running');
  }
  async reboot(name: string): Promise<void> {
    const { id, cloud } = await this.#of(name);
    const { initPid } = await cloud.getInstance({ instanceId: id });
    // As in other clouds, an instance stays `running` while it reboots; the identity of its first process distinguishes one boot from the next.
    const rebooted = ({ state, ...now }: Instance): boolean =>
      state === 'running' && (initPid === undefined || (now.initPid !== undefined && now.initPid !== initPid));
    await this.#settled(await cloud.rebootInstance({ instanceId: id }), 'running', rebooted);
  }
  async terminate(name: string): Promise<void> {
    const { dataDir, layout, nodes } = this.#settings;
    const machine = await this.#find(name);
    // A termination that was cut off may have got no further than the instance.
    if (!machine && !nodes.includes(name)) throw await this.#noneOf(name);
    if (machine) await this.#settled(await machine.cloud.terminateInstance({ instanceId: machine.id }), 'terminated');
    if (isControlPlane(this.#settings, name))
      return removeTree(layout === 'pods' ? nodeDir(dataDir, name) : controlPlaneDir(dataDir, name));
    await (await this.#machines()).removeDisk(name);
    await this.#noteNodes((all) => all.filter((node) => node !== name));
  }
  close(): void {
    this.#cloud.close();
    this.#service.close();
  }

  /**
   * Notes the node that is asked for, or the next free name, so that no command beside this one takes it. An addition that is cut off after this
   * the next start of the cluster finishes.
   */
  async #reserve(name: string | undefined, machines: readonly Instance[]): Promise<string> {
    const { dataDir, podCidr = clusterNetworks.podCidr, cloudEmulator, name: cluster } = this.#settings;
    if (name !== undefined && !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))
      throw new Error(`a node is named by lower case letters, digits and dashes, at most 63, not ${JSON.stringify(name)}`);
    const free = await vendorNodeNames(cloudEmulator, cluster, narrowNodesMax + machines.length);
    if (name !== undefined && free[0] !== nodeNames(cluster, 1)[0])
      throw new Error(`nodes of the emulated ${cloudEmulator} are named by their addresses: leave the name out`);
    let chosen = '';
    await this.#noteNodes((nodes) => {
      const names = new Set([...nodes, ...machines.map((machine) => machine.name)]);
      chosen = name ?? free.find((one) => !names.has(one)) ?? '';
      if (names.has(chosen)) throw new Error(`there is a node ${chosen} already`);
      if (names.size >= narrowNodesMax && podCidr === clusterNetworks.podCidr)
        throw new Error(
          `this cluster has addresses for the pods of ${narrowNodesMax} nodes; for more, stop it and start it again with: sagong up --data-dir ${dataDir} --nodes <number>`,
        );
      return [...nodes, chosen];
    });
    return chosen;
  }
  /** A new machine in the place of one that was terminated: its etcd joins the others. */
  async #replace(planes: ControlPlaneMachines, name: string): Promise<string> {
    if ((await planes.list()).some((one) => one.name === name)) throw new Error(`there is a machine ${name} already`);
    const pki = await openPki(clusterPaths(this.#settings.dataDir).pki);
    const options = { settings: this.#settings, pki, program: this.#program, machines: planes, clock: this.#clock };
    await prepareControlPlanes(options, [name]);
    const { address = '' } = planes.members.find((member) => member.name === name) ?? {};
    if (this.#settings.layout === 'pods') await (await this.#machines()).prepareControlPlane(name, address);
    const made = (await planes.ensure([name])).find((one) => one.name === name);
    if (made) await this.#settled(made, 'running');
    return name;
  }
  /** The machine, and who may do something to it. Rejects with a sentence that names all where there is none of that name. */
  async #of(name: string): Promise<{ id: string; cloud: CloudClient }> {
    const found = await this.#find(name);
    if (found) return found;
    throw await this.#noneOf(name);
  }
  async #find(name: string): Promise<{ id: string; cloud: CloudClient } | undefined> {
    const plane = (await (await this.#controlPlanes())?.list())?.find((one) => one.name === name);
    if (plane) return { id: plane.id, cloud: this.#settings.topology === 'managed' ? this.#service : this.#cloud };
    const node = (await (await this.#machines()).list()).find((one) => one.name === name);
    return node && { id: node.id, cloud: this.#cloud };
  }
  async #noneOf(name: string): Promise<Error> {
    const names = (all: readonly Instance[]): string => all.map((one) => one.name).join(', ') || 'none';
    const nodes = names(await (await this.#machines()).list());
    const planes = await (await this.#controlPlanes())?.list();
    return new Error(
      planes === undefined
        ? `there is no node ${name}; there are: ${nodes}`
        : `there is no machine ${name}; there are the control planes ${names(planes)} and the nodes ${nodes}`,
    );
  }
  /** Changes what the cluster keeps of its nodes, as it is by now: others may add some, too. */
  async #noteNodes(change: (nodes: readonly string[]) => string[]): Promise<void> {
    await changeSettings(this.#settings.dataDir, (now) => ({ ...now, nodes: change(now.nodes) }));
  }
  async #controlPlanes(): Promise<ControlPlaneMachines | undefined> {
    const options = machinesOptions(this.#settings, this.#program);
    if (!options) return undefined;
    if (!options.managed) return new ControlPlaneMachines(this.#cloud, await this.#network(), options);
    // Who runs this command is the provider, too.
    const { name: cluster } = this.#settings;
    const network = await ensureNetwork(this.#service, { cluster, internet: true, provider: true });
    return new ControlPlaneMachines(this.#service, network, options);
  }
  #network(): Promise<ClusterNetwork> {
    const { name: cluster, uplink, nodeAddresses } = this.#settings;
    return ensureNetwork(this.#cloud, { cluster, internet: uplink !== 'none', nodePorts: nodeAddresses === 'public' });
  }
  async #server(): Promise<{ host: string; port: number }> {
    if (this.#settings.topology === 'managed') return managedServer(clusterMark(this.#settings.dataDir));
    const planes = await this.#controlPlanes();
    return planes ? { host: (await planes.balancer()).address, port: apiPort } : selfManagedServer;
  }
  async #machines(instanceType?: string): Promise<Machines> {
    const {
      name,
      dataDir,
      runtime,
      podCidr,
      nodeAddresses,
      networkPolicy,
      proxyMode,
      cni,
      registryMirrors = [],
    } = this.#settings;
    const publicAddresses = nodeAddresses === 'public';
    const network = await this.#network();
    return new Machines(this.#cloud, network, {
      cluster: name,
      dataDir,
      pki: await openPki(clusterPaths(dataDir).pki),
      program: this.#program,
      server: await this.#server(),
      simulated: runtime === 'simulated',
      tags: await vendorTags(this.#settings),
      registryMirrors: registryMirrors.map(parseRegistryMirror),
      publicAddresses,
      networkPolicy: networkPolicy !== 'none',
      proxyMode,
      cni,
      layout: this.#settings.layout,
      workers: this.#settings.nodes.length > 0,
      ...(this.#settings.componentArgs && { componentArgs: this.#settings.componentArgs }),
      ...(podCidr !== undefined && { podCidr }),
      ...(instanceType !== undefined && { instanceType }),
    });
  }
  /** Waits until the instance has reached the state: the API answers as soon as it accepts a change. */
  async #settled(
    { id, name }: Instance,
    wanted: Instance['state'],
    isThere = ({ state }: Instance): boolean => state === wanted,
  ): Promise<void> {
    const deadline = this.#clock.monotonic() + settledTimeoutMs;
    for (;;) {
      const now = await this.#service.getInstance({ instanceId: id }).catch((error: unknown) => {
        if (wanted === 'terminated' && error instanceof CloudApiError && error.status === 404) return undefined;
        throw error;
      });
      if (!now || isThere(now)) return;
      if (this.#clock.monotonic() > deadline)
        throw new Error(`the instance of ${name} is still ${now.state}${now.stateReason ? `: ${now.stateReason}` : ''}`);
      await this.#clock.sleep(settledPollMs);
    }
  }
}
