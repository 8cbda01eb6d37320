// A managed control plane in the process of `sagong up`: it is present at both interfaces in the customer's network, and at an instance in the provider's,
// which the load balancer leads to.
import type { Instance, LoadBalancer, NetworkInterface } from '#cloud';
import type { CloudClient } from '#cloud/client';
import type { NetnsSockets } from '#host';
import type { Clock } from '#utils';
import type { Dial, WireServer } from '#wire';
import type { ControlPlane } from '../control-plane.ts';
import { managedApiPort as port } from '../control-planes/names.ts';
import { presenceAt } from './endpoint.ts';
import type { ManagedPlane } from './managed-endpoint.ts';
import { type ClusterNetwork, clusterTag, controlPlanePlace, ensureControlPlaneGroup, roleTag } from '../cloud/network.ts';
import { runAt } from '../cloud/run-at.ts';

const settledTimeoutMs = 30_000;
const settledPollMs = 25;

interface ManagedProcessOptions {
  cluster: string;
  /** Shown in the command line of helpers. */
  dataDir: string;
  clock: Clock;
  service: () => CloudClient;
}

/** One place where the control plane is served. */
interface Presence {
  sockets: NetnsSockets;
  address: string;
  served: WireServer;
}

export class ManagedProcess implements ManagedPlane {
  readonly machines = undefined;
  readonly way = undefined;
  readonly #options: ManagedProcessOptions;
  #places: { netns: string; address: string }[] = [];
  #presences: Presence[] = [];
  #dialled = 0;

  constructor(options: ManagedProcessOptions) {
    this.#options = options;
  }
  /** The two interfaces take turns. */
  readonly dial: Dial = async ({ host, port: kubeletPort }) => {
    const inside = this.#presences.filter(({ address }) => address !== this.#places.at(-1)?.address);
    const one = inside[this.#dialled++ % inside.length];
    if (!one) throw new Error("the nodes' network is not up yet");
    return one.sockets.connect(host, kubeletPort);
  };

  async open(provider: ClusterNetwork, _: ClusterNetwork, interfaces: readonly NetworkInterface[]): Promise<LoadBalancer> {
    const service = this.#options.service();
    const instance = await this.#ensureInstance(provider);
    const [own] = (await service.listInterfaces({ instanceId: instance.id })).items;
    this.#places = [
      ...interfaces.map(({ netns = '', privateAddress: address }) => ({ netns, address })),
      { netns: own?.netns ?? '', address: instance.privateAddress },
    ];
    return this.#ensureBalancer(instance);
  }
  async connect(plane: ControlPlane | undefined): Promise<void> {
    if (!plane) return;
    const settled = await Promise.allSettled(this.#places.map((place) => this.#present(plane, place)));
    // Where one place fails, `close` still finds the others.
    this.#presences = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const failed = settled.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
    if (failed) throw failed.reason;
  }
  async close(): Promise<void> {
    for (const { served, sockets } of this.#presences.splice(0)) {
      await served.close({ graceMs: 0 });
      sockets.close();
    }
  }

  async #present(plane: ControlPlane, { netns, address }: { netns: string; address: string }): Promise<Presence> {
    const { sockets, handle } = await presenceAt({ netns, address, port }, this.#options.dataDir);
    try {
      return { sockets, address, served: await plane.serveOn({ handle }) };
    } catch (error) {
      sockets.close();
      throw error;
    }
  }
  async #ensureInstance(network: ClusterNetwork): Promise<Instance> {
    const cloud = this.#options.service();
    const tags = { [clusterTag]: this.#options.cluster, [roleTag]: 'control-plane' };
    const all = (await cloud.listInstances({ tags, vpcId: network.vpc.id })).items;
    const known = all.find(({ state }) => state !== 'terminated' && state !== 'shutting-down');
    // A start that was killed in its middle has left it pending.
    if (known) return this.#settled(known.id);
    const group = await ensureControlPlaneGroup(cloud, network, port);
    const { subnet, address } = controlPlanePlace(0, network.subnets.length, network.vpc.cidr);
    const made = await runAt(cloud, {
      name: 'control-plane',
      subnetId: network.subnets[subnet]?.id ?? '',
      privateAddress: address,
      securityGroupIds: [group.id],
      tags,
    });
    return this.#settled(made.id);
  }
  /** The instance, once it runs. */
  async #settled(instanceId: string): Promise<Instance> {
    const { clock, service } = this.#options;
    const deadlineMs = clock.monotonic() + settledTimeoutMs;
    for (;;) {
      const instance = await service().getInstance({ instanceId });
      if (instance.state === 'running') return instance;
      if (instance.state === 'stopped') await service().startInstance({ instanceId });
      if (clock.monotonic() > deadlineMs) throw new Error(`the control plane's instance is still ${instance.state}`);
      await clock.sleep(settledPollMs);
    }
  }
  async #ensureBalancer({ id, subnetId }: Instance): Promise<LoadBalancer> {
    const cloud = this.#options.service();
    const name = `${this.#options.cluster}-control-plane`;
    const [known] = (await cloud.listLoadBalancers({ name })).items;
    return (
      known ??
      cloud.createLoadBalancer({
        name,
        kind: 'proxy',
        subnetIds: [subnetId],
        listeners: [{ protocol: 'tcp', port, targetPort: port }],
        healthCheck: { protocol: 'tcp', port },
        targets: [{ instanceId: id }],
        tags: { [clusterTag]: this.#options.cluster },
      })
    );
  }
}
