// Where a control plane of machines is found: at the address of the load balancer before them, by nodes, pods and people alike. An interface among
// the nodes is the way of `sagong up` to kubelets.
import type { CloudClient } from '#cloud/client';
import type { NetnsSockets } from '#host';
import type { Dial } from '#wire';
import { type ControlPlaneEndpoint, joinedNetns } from './endpoint.ts';
import { type ClusterNetwork, endpointAddress, ensureEndpoint } from '../cloud/network.ts';
import { ControlPlaneMachines, type ControlPlaneMachinesOptions } from '../control-planes/machines.ts';
import { apiPort } from '../control-planes/names.ts';

export class BalancedEndpoint implements ControlPlaneEndpoint {
  readonly #cloud: () => CloudClient;
  readonly #options: ControlPlaneMachinesOptions;
  #machines: ControlPlaneMachines | undefined;
  #address = '';
  #netns = '';
  #sockets: NetnsSockets | undefined;

  constructor(cloud: () => CloudClient, options: ControlPlaneMachinesOptions) {
    this.#cloud = cloud;
    this.#options = options;
  }
  get machines(): ControlPlaneMachines {
    if (!this.#machines) throw new Error('the network of the control plane is not up yet');
    return this.#machines;
  }
  get server(): { host: string; port: number } {
    return { host: this.#address, port: apiPort };
  }
  get advertised(): { address: string; port: number } {
    return { address: this.#address, port: apiPort };
  }
  get names(): { dnsNames: readonly string[]; ips: readonly string[] } {
    return { dnsNames: [], ips: [this.#address] };
  }
  get publicServer(): { url: string; serverName: string } {
    return { url: `https://${this.#address}:${apiPort}`, serverName: this.#address };
  }
  get sockets(): NetnsSockets {
    if (!this.#sockets) throw new Error("the nodes' network is not up yet");
    return this.#sockets;
  }
  readonly dial: Dial = async ({ host, port }) => this.sockets.connect(host, port);

  async open(network: ClusterNetwork): Promise<void> {
    this.#machines = new ControlPlaneMachines(this.#cloud(), network, this.#options);
    this.#address = (await this.#machines.balancer()).address;
    this.#netns = (await ensureEndpoint(this.#cloud(), network, { subnet: 0, address: endpointAddress })).netns ?? '';
  }
  async connect(): Promise<void> {
    this.#sockets = await joinedNetns(this.#netns, this.#options.dataDir);
  }
  async close(): Promise<void> {
    this.#sockets?.close();
  }
}
