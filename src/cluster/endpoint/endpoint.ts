// Where a control plane is to be found, and from where it reaches its nodes. Two shapes: among the nodes, as when people run it themselves; or in
// a network of the provider's own, as in managed services (managed-endpoint.ts).
import type { Server } from 'node:net';
import { type NetnsSockets, joinNetns, systemClock } from '#host';
import type { Dial, WireServer } from '#wire';
import type { CloudClient } from '#cloud/client';
import type { ControlPlane } from '../control-plane.ts';
import type { ControlPlaneMachines } from '../control-planes/machines.ts';
import { type ClusterNetwork, endpointAddress, ensureEndpoint } from '../cloud/network.ts';

export interface ControlPlaneEndpoint {
  /** Where nodes look for the apiserver. */
  readonly server: { host: string; port: number };
  /** The address and port that the Service `kubernetes` leads to. */
  readonly advertised: { address: string; port: number };
  /** The names and addresses in the apiserver's certificate. */
  readonly names: { dnsNames: readonly string[]; ips: readonly string[] };
  /** Makes what it needs in the cloud. */
  open(network: ClusterNetwork): Promise<void>;
  /** Serves the control plane there, where it is in this process. */
  connect(own: ControlPlane | undefined): Promise<void>;
  /** Sockets among the nodes, at `advertised.address`; absent: the control plane is elsewhere. */
  readonly sockets?: NetnsSockets;
  readonly dial: Dial;
  /** How people reach it from the machine; undefined: not from there. */
  readonly publicServer: { url: string; serverName: string } | undefined;
  /** How the process of `sagong up` reaches it, where that is another way. */
  readonly way?: { url: string; serverName: string; dial: Dial } | undefined;
  /** The machines it is on, where it is on some. */
  readonly machines?: ControlPlaneMachines | undefined;
  close(): Promise<void>;
}

const selfManagedPort = 6443;

/** Where clients of a self-managed control plane look for it, among its nodes. */
export const selfManagedServer = { host: endpointAddress, port: selfManagedPort };

const presenceTimeoutMs = 30_000;
const presencePollMs = 50;

/** A server at an interface of ours. The cloud answers when it has accepted an interface; the machine has it a moment later. */
export async function presenceAt(
  { netns, address, port }: { netns: string; address: string; port: number },
  mark: string,
): Promise<{ sockets: NetnsSockets; handle: Server }> {
  const clock = systemClock();
  const deadlineMs = clock.monotonic() + presenceTimeoutMs;
  for (;;) {
    let sockets: NetnsSockets | undefined;
    try {
      sockets = await joinNetns(netns, mark);
      return { sockets, handle: await sockets.listen(address, port) };
    } catch (error) {
      sockets?.close();
      if (clock.monotonic() > deadlineMs) throw error;
    }
    await clock.sleep(presencePollMs);
  }
}

/** The network of an interface of ours, once it is there. */
export async function joinedNetns(netns: string, mark: string): Promise<NetnsSockets> {
  const clock = systemClock();
  const deadlineMs = clock.monotonic() + presenceTimeoutMs;
  for (;;) {
    try {
      return await joinNetns(netns, mark);
    } catch (error) {
      if (clock.monotonic() > deadlineMs) throw error;
    }
    await clock.sleep(presencePollMs);
  }
}

/** An interface of the cluster's own among its nodes. */
export class SelfManagedEndpoint implements ControlPlaneEndpoint {
  readonly server = selfManagedServer;
  readonly advertised = { address: endpointAddress, port: selfManagedPort };
  readonly names = { dnsNames: [], ips: [endpointAddress] };
  /** People use the apiserver's own port on loopback. */
  readonly publicServer = undefined;
  readonly #cloud: () => CloudClient;
  readonly #mark: string;
  #netns = '';
  #sockets: NetnsSockets | undefined;
  #served: WireServer | undefined;

  /** `mark` is shown in the command line of its helper. */
  constructor(cloud: () => CloudClient, mark: string) {
    this.#cloud = cloud;
    this.#mark = mark;
  }
  get sockets(): NetnsSockets {
    if (!this.#sockets) throw new Error("the nodes' network is not up yet");
    return this.#sockets;
  }
  readonly dial: Dial = async ({ host, port }) => this.sockets.connect(host, port);

  async open(network: ClusterNetwork): Promise<void> {
    const endpoint = await ensureEndpoint(this.#cloud(), network, { subnet: 0, address: endpointAddress });
    this.#netns = endpoint.netns ?? '';
  }
  async connect(plane: ControlPlane | undefined): Promise<void> {
    const { sockets, handle } = await presenceAt(
      { netns: this.#netns, address: endpointAddress, port: selfManagedPort },
      this.#mark,
    );
    this.#sockets = sockets;
    this.#served = await plane?.serveOn({ handle });
  }
  async close(): Promise<void> {
    await this.#served?.close({ graceMs: 0 });
    this.#sockets?.close();
  }
}
