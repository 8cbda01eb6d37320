// The nodes of a running cluster: its cloud, the network in it, the instances, and the parts of the control plane that live among them.
import { basename, relative } from 'node:path';
import type { Supervisor } from '#component-base';
import type { Instance } from '#cloud';
import { localCloud, localCloudProvider } from '#cloud/provider';
import type { CloudProvider } from '#cloud-provider';
import type { Dial } from '#wire';
import type { StatsSummary } from '#component-helpers/stats';
import type { Clock, Exec, Logger, Rng } from '#utils';
import { type ClusterPki, kubeletTrust } from '../certificates/certificates.ts';
import type { ControlPlane, PlaneAccess } from '../control-plane.ts';
import { bootControlPlanes } from '../control-planes/boot.ts';
import { BalancedEndpoint } from '../endpoint/balanced-endpoint.ts';
import type { ControlPlaneMachines } from '../control-planes/machines.ts';
import { ManagedPlanes } from '../endpoint/managed-planes.ts';
import { machinesOptions } from './machines-options.ts';
import { changeOnDisk } from '../nodes/disk.ts';
import { containerdPaths, parseRegistryMirror } from '../nodes/index.ts';
import { startDnsAddon } from '../add-ons/dns-addon.ts';
import { upDefaults } from '../flags/index.ts';
import { grantClusterRole } from '../objects/grant.ts';
import { identities } from '../certificates/identities.ts';
import { clusterMark, nodeDir } from '../state/paths.ts';
import { type ClusterSettings, nodesOf } from '../state/settings.ts';
import { SimulatedNodes } from '../nodes/simulated-nodes.ts';
import { startCloudControllerManager } from '../cloud/controller.ts';
import { type ControlPlaneEndpoint, SelfManagedEndpoint } from '../endpoint/endpoint.ts';
import type { EndpointAccess } from '../flags/endpoint-access.ts';
import { type Emulation, type EmulationDeps, loadVendorProvider, startEmulation, vendorTags } from '../cloud/emulation.ts';
import { Machines } from '../cloud/machines.ts';
import { ManagedEndpoint } from '../endpoint/managed-endpoint.ts';
import { ManagedProcess } from '../endpoint/managed-process.ts';
import { type ClusterNetwork, ensureNetwork } from '../cloud/network.ts';
import { networkPolicyGrant, updateNodes } from '../cloud/node-choices.ts';
import { writePodConfig } from '../cloud/settings.ts';
import { type ClusterCloud, startCloudProcess, startSimulatedCloud } from '../cloud/service.ts';
import { createSimulatedInstances, type SimulatedInstances } from '../cloud/simulated-instances.ts';

const kubeletPort = 10_250;
const kubeletTimeoutMs = 60_000;
const kubeletPollMs = 50;

const hasPower = ({ state }: Instance): boolean => state === 'pending' || state === 'running';

export interface ClusterNodesOptions {
  settings: ClusterSettings;
  /** How to run this program: executable and first arguments. */
  program: readonly string[];
  pki: ClusterPki;
}
export interface ClusterNodesDeps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
  exec: Exec;
  supervisor: Supervisor;
}

export class ClusterNodes {
  readonly #options: ClusterNodesOptions;
  readonly #deps: ClusterNodesDeps;
  /** What ends the parts that `connect` has started, the last first. */
  readonly #connected: (() => Promise<void> | void)[] = [];
  readonly #simulated: SimulatedInstances | undefined;
  #booted: Promise<void> | undefined;
  #cloud: ClusterCloud | undefined;
  #network: ClusterNetwork | undefined;
  /** Absent where instances are simulated: all is in one process. */
  readonly endpoint: ControlPlaneEndpoint | undefined;
  #instances: readonly Instance[] = [];
  #emulation: Emulation | undefined;

  constructor(options: ClusterNodesOptions, deps: ClusterNodesDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#simulated = options.settings.runtime === 'simulated' ? createSimulatedInstances() : undefined;
    this.endpoint = this.#simulated ? undefined : this.#endpointOf(options.settings);
  }
  /** Why the nodes have no way out of the machine, where they were to have one. */
  get noUplink(): string | undefined {
    return this.#cloud?.noUplink;
  }

  /** Where the emulated vendor answers, and the folder of its keys. */
  get emulated(): { url: string; dir: string } | undefined {
    return this.#emulation;
  }

  /** Starts the cloud with the cluster's network and instances; needs no apiserver. */
  boot(): Promise<void> {
    this.#booted = this.#boot();
    return this.#booted;
  }
  async #boot(): Promise<void> {
    const { settings, program, pki } = this.#options;
    const networkPolicy = settings.networkPolicy !== 'none';
    const { proxyMode, cni, componentArgs = {}, nodeArgs = {} } = settings;
    const choices = { networkPolicy, proxyMode, cni, componentArgs, nodeArgs };
    if (!this.#simulated) await updateNodes(settings.dataDir, pki, choices);
    const pods = settings.layout === 'pods';
    // Machines of an earlier start take it as soon as there is a cloud.
    if (pods) await (await import('../system-pods/image.ts')).ensureSystemImage(settings.dataDir, program);
    const cloud = this.#simulated
      ? await startSimulatedCloud(settings, this.#simulated, this.#deps)
      : await startCloudProcess(settings, program, this.#deps);
    this.#cloud = cloud;
    const publicAddresses = settings.nodeAddresses === 'public';
    this.#network = await ensureNetwork(cloud.client, {
      cluster: settings.name,
      internet: settings.uplink !== 'none',
      nodePorts: publicAddresses,
    });
    await this.endpoint?.open(this.#network);
    if (!this.#simulated) await writePodConfig(cloud.settings, this.#cloudConfig());
    const machines = new Machines(cloud.client, this.#network, {
      cluster: settings.name,
      dataDir: settings.dataDir,
      pki,
      server: this.endpoint?.server ?? { host: '127.0.0.1', port: settings.port },
      program,
      publicAddresses,
      ...(settings.podCidr !== undefined && { podCidr: settings.podCidr }),
      ...choices,
      layout: settings.layout,
      workers: settings.nodes.length > 0,
      simulated: settings.runtime === 'simulated',
      mountsOf: (name) => (settings.mounts ?? []).filter(({ node }) => settings.nodes[node] === name),
      tags: await vendorTags(settings),
      registryMirrors: (settings.registryMirrors ?? []).map(parseRegistryMirror),
    });
    const planes =
      this.endpoint && settings.controlPlanes
        ? await bootControlPlanes(
            { settings, pki, program, machines: this.endpoint.machines as ControlPlaneMachines, clock: this.#deps.clock },
            pods ? machines : undefined,
          )
        : [];
    this.#instances = [...(pods ? planes : []), ...(await machines.ensure(settings.nodes))].filter(hasPower);
  }
  /** Brings nodes and control plane together. Call it once, after `boot`. */
  async connect(plane: PlaneAccess, own: ControlPlane | undefined): Promise<void> {
    const { settings } = this.#options;
    const { endpoint } = this;
    if (this.#simulated && own) {
      const kubelets = new SimulatedNodes(own, { ...this.#deps, pki: this.#options.pki });
      this.#connected.push(() => kubelets.stop());
      this.#simulated.connect(kubelets);
    } else if (endpoint) {
      this.#connected.push(() => endpoint.close());
      await endpoint.connect(own);
      const admin = plane.client(identities.admin, 'sagong');
      await grantClusterRole(admin, networkPolicyGrant(settings.networkPolicy));
      if (settings.layout === 'pods') {
        const { startSystemPods } = await import('../system-pods/start.ts');
        const { server, podCidr } = plane;
        await startSystemPods(admin, {
          settings,
          server,
          podCidr,
          ca: this.#options.pki.authority.cert,
          kubeletTrust: kubeletTrust(this.#options.pki),
          clock: this.#deps.clock,
        });
      } else {
        const names = await startDnsAddon(plane, this.#deps);
        this.#connected.push(() => names.stop());
      }
    }
    if (settings.portMappings) {
      const { openPortMappings } = await import('../state/port-mappings.ts');
      const { dial } = this;
      const { logger } = this.#deps;
      const mapped = await openPortMappings(settings.portMappings, { addressOf: (node) => this.#addressOf(node), dial, logger });
      this.#connected.push(() => mapped.close());
    }
    this.#emulation = await this.#emulated();
    // Where the control plane is on machines, its manager is there, too.
    if (settings.cloudProvider !== 'local' || settings.controlPlanes) return;
    const { name: providerName, cloud: provider } = await this.#provider();
    for (const [serviceAccount, rules] of Object.entries(this.#emulation?.setup.rights ?? {}))
      await grantClusterRole(plane.client(identities.admin, 'sagong'), {
        role: `system:${serviceAccount}`,
        serviceAccount,
        rules,
      });
    const args = settings.componentArgs?.['cloud-controller-manager'] ?? [];
    const setup = { plane, cluster: settings.name, providerName, cloud: provider, args };
    const manager = await startCloudControllerManager(setup, this.#deps);
    this.#connected.push(() => manager.stop());
  }
  /** The vendor's API before the cloud, where the cluster has one. */
  async #emulated(): Promise<Emulation | undefined> {
    const { settings } = this.#options;
    if (settings.cloudEmulator === undefined) return undefined;
    const { client } = this.#running;
    const network = this.#network as ClusterNetwork;
    const emulation = await startEmulation(settings.cloudEmulator, { cloud: client, network, settings }, this.#deps);
    this.#connected.push(() => emulation.close());
    return emulation;
  }
  /** The provider that the cluster's manager uses. It reaches a local cloud with machines over HTTP, as any vendor's provider reaches its vendor. */
  async #provider(): Promise<{ name: string; cloud: CloudProvider }> {
    const deps = { ...this.#deps, logger: this.#deps.logger.with({ component: 'cloud-controller-manager' }) };
    if (!this.#emulation) return { name: localCloudProvider.name, cloud: await this.#localProvider(deps) };
    const vendor = await loadVendorProvider(this.#emulation, deps);
    if (this.#emulation.setup.routes !== 'local') return vendor;
    const { routes } = await this.#localProvider(deps);
    return { ...vendor, cloud: { ...vendor.cloud, ...(routes && { routes }) } };
  }
  async #localProvider(deps: EmulationDeps): Promise<CloudProvider> {
    const { url, settings: cloud, direct } = this.#running;
    const config = { url, tokenFile: cloud.customerTokenFile, caFile: cloud.caFile, ...this.#cloudConfig() };
    return direct
      ? localCloud({ ...deps, api: direct(), config })
      : localCloudProvider.create({ ...deps, configDir: cloud.dir, config });
  }
  /** The part of the provider's configuration that says for which cluster and in which network it works. */
  #cloudConfig() {
    const { vpc, routeTable, subnets } = this.#network as ClusterNetwork;
    return {
      clusterId: this.#options.settings.name,
      vpcId: vpc.id,
      routeTableId: routeTable.id,
      subnetIds: subnets.map(({ id }) => id),
      defaultLoadBalancerKind: 'proxy' as const,
    };
  }
  /**
   * Resolves when the kubelet of every node with power accepts connections: until then, what a Node says of itself may be of another life. Gives why for each node
   * whose kubelet does not in time; rejects with it where `all` have to, or none does.
   */
  async kubeletsAnswer(all: boolean, signal?: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const silent = new Map<string, string>();
    if (this.#simulated) return silent;
    const { clock } = this.#deps;
    const deadlineMs = clock.monotonic() + kubeletTimeoutMs;
    const answers = async ({ privateAddress: host }: Instance): Promise<boolean> => {
      try {
        const connection = await this.dial({ host, port: kubeletPort });
        connection.destroy();
        return true;
      } catch {
        return false;
      }
    };
    for (const instance of this.#instances)
      while (!(await answers(instance))) {
        signal?.throwIfAborted();
        if (clock.monotonic() > deadlineMs) {
          const logs = nodeDir(this.#options.settings.dataDir, instance.name);
          const seconds = kubeletTimeoutMs / 1000;
          silent.set(
            instance.name,
            `the kubelet of ${instance.name} does not answer after ${seconds} s; see the logs in ${logs}`,
          );
          break;
        }
        await clock.sleep(kubeletPollMs);
      }
    const [why] = silent.values();
    if (why !== undefined && (all || silent.size === this.#instances.length)) throw new Error(why);
    return silent;
  }
  /** What only the cluster's administrator may say of nodes, once they are there. */
  async mark(plane: PlaneAccess): Promise<void> {
    if (this.#options.settings.layout !== 'pods') return;
    const { markControlPlanes } = await import('../system-pods/start.ts');
    await markControlPlanes(plane.client(identities.admin, 'sagong'), this.#options.settings);
  }
  /** When the programs of each node with power that is not `silent` were started, by name: what its Node said before is of another life. */
  async bootTimes(silent: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, number>> {
    const { dataDir } = this.#options.settings;
    const heard = this.#instances.filter(({ name }) => !silent.has(name));
    const times = heard.map(async ({ name }) => {
      if (this.#simulated) return [name, 0] as const;
      // A pod of the node may have put another time there, or taken the file away: its Node's word is then as good as any.
      const disk = nodeDir(dataDir, name);
      const { dir, pidFile } = containerdPaths(disk);
      const startedMs = (await changeOnDisk(disk, relative(disk, dir), basename(pidFile))) ?? 0;
      return [name, Math.min(startedMs, this.#deps.clock.now())] as const;
    });
    return new Map(await Promise.all(times));
  }
  /** The address of the node with that number, from 0, while its machine is on. */
  #addressOf(node: number): string | undefined {
    const name = this.#options.settings.nodes[node];
    return this.#instances.find((instance) => instance.name === name)?.privateAddress;
  }
  /** The machines of the control plane, where it is on some. */
  get controlPlanes(): ControlPlaneMachines | undefined {
    return this.endpoint?.machines;
  }
  /** What a simulated node uses; undefined for real ones. */
  stats(name: string): Promise<StatsSummary> | undefined {
    return this.#simulated?.stats(name);
  }
  /** Reaches kubelets. */
  readonly dial: Dial = (target, signal) => {
    if (this.endpoint) return this.endpoint.dial(target, signal);
    if (this.#simulated) return this.#simulated.dial(target, signal);
    return Promise.reject(new Error("the nodes' network is not up yet"));
  };
  /** Another way to the control plane, on the living cluster. Rejects with a sentence where there is only one. */
  async setEndpointAccess(access: EndpointAccess): Promise<void> {
    if (!(this.endpoint instanceof ManagedEndpoint))
      throw new Error('only a managed control plane has endpoint modes; start a cluster with: sagong up --topology managed');
    await this.endpoint.setAccess(access);
  }
  /** An image archive into every node that runs. */
  async importImage(archive: Uint8Array): Promise<void> {
    const { dataDir } = this.#options.settings;
    if (this.#simulated) return;
    const { loadInto } = await import('../images/load-image.ts');
    await loadInto(dataDir, nodesOf(this.#options.settings), archive);
  }
  #endpointOf(settings: ClusterSettings): ControlPlaneEndpoint {
    const { name: cluster, dataDir, topology, endpointAccess } = settings;
    const { clock, logger } = this.#deps;
    const [customer, service] = [() => this.#running.client, () => this.#running.service];
    const machines = machinesOptions(settings, this.#options.program);
    if (topology !== 'managed')
      return machines ? new BalancedEndpoint(customer, machines) : new SelfManagedEndpoint(customer, dataDir);
    return new ManagedEndpoint({
      ...{ cluster, service },
      mark: clusterMark(dataDir),
      access: endpointAccess ?? upDefaults.endpointAccess,
      plane: machines?.managed
        ? new ManagedPlanes({ ...machines, managed: machines.managed, clock, logger, service, customer })
        : new ManagedProcess({ cluster, dataDir, clock, service }),
    });
  }
  get #running(): ClusterCloud {
    if (!this.#cloud) throw new Error('the cloud is not up yet');
    return this.#cloud;
  }
  /** Takes nodes and control plane apart; before the control plane stops, which the nodes' parts still talk to. */
  async disconnect(): Promise<void> {
    for (const step of this.#connected.splice(0).reverse()) await step();
  }
  /** Powers the instances off and ends the cloud. */
  async stop(): Promise<void> {
    await this.disconnect();
    // What is about to be made could not be taken away: it would be left over, and stand in the way of the next start.
    await this.#booted?.catch(() => {});
    await this.#cloud?.stop();
  }
}
