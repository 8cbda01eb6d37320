// Makes the local cloud have the load balancers and routes that a vendor's account asks for, and no others of its own: they are known by a tag, and
// routes by their names. What a crash has left is seen and put right by the next call.
import type { EmulatedBalancer, EmulatedHealthCheck, EmulatedRoute, MadeBalancer } from '#cloud-provider/emulator';
import { type CloudClient, isNotFound, listAll } from '../../client/index.ts';
import type { HealthCheck, LoadBalancer } from '../../model/index.ts';
import type { EmulatedNetwork } from '../emulator.ts';
import { healthIntervalMaxMs } from './limits.ts';

const tag = 'sagong.dev/emulated';

const healthOf = ({ intervalMs, timeoutMs, ...check }: EmulatedHealthCheck): HealthCheck => ({
  ...check,
  intervalMs: Math.min(intervalMs, healthIntervalMaxMs),
  timeoutMs: Math.min(timeoutMs, healthIntervalMaxMs),
});

/** What can be changed of one that exists. */
const frontOf = ({
  listeners,
  sourceRanges,
  healthCheck,
  proxyProtocol,
  affinityTimeoutSeconds,
  machines,
}: EmulatedBalancer) => ({
  listeners,
  sourceRanges,
  healthCheck: healthCheck ? healthOf(healthCheck) : null,
  proxyProtocol,
  affinityTimeoutSeconds: affinityTimeoutSeconds ?? null,
  targets: machines.map((instanceId) => ({ instanceId })),
});

const fineIfGone = (error: unknown): void => {
  if (!isNotFound(error)) throw error;
};

export class Projection {
  readonly #cloud: CloudClient;
  readonly #vendor: string;
  readonly #network: EmulatedNetwork;
  /** What each was last made to be, so that nothing is sent again. */
  readonly #done = new Map<string, string>();
  #routesDone = '';

  constructor(cloud: CloudClient, vendor: string, network: EmulatedNetwork) {
    this.#cloud = cloud;
    this.#vendor = vendor;
    this.#network = network;
  }
  /** The vendor's load balancers as they are, by key. */
  async made(): Promise<Map<string, LoadBalancer>> {
    const { vpcId } = this.#network;
    const own = await listAll((page) => this.#cloud.listLoadBalancers({ vpcId, tags: { [tag]: this.#vendor }, ...page }));
    return new Map(own.map((balancer) => [balancer.name.slice(this.#vendor.length + 1), balancer]));
  }
  /** Brings them to what is wanted; the keys of those that were made or changed. Rejects at the first refusal of the local cloud; called again, it goes on. */
  async apply(wanted: readonly EmulatedBalancer[], routes: readonly EmulatedRoute[] | undefined): Promise<string[]> {
    const made = await this.made();
    const keys = new Set(wanted.map(({ key }) => key));
    for (const [key, { id }] of made) if (!keys.has(key)) await this.#remove(key, id);
    const changed: string[] = [];
    for (const balancer of wanted) if (await this.#ensure(balancer, made.get(balancer.key))) changed.push(balancer.key);
    if (routes) await this.#setRoutes(routes);
    return changed;
  }
  async #remove(key: string, loadBalancerId: string): Promise<void> {
    this.#done.delete(key);
    await this.#cloud.deleteLoadBalancer({ loadBalancerId }).catch(fineIfGone);
  }
  /** Whether there was anything to do. */
  async #ensure(wanted: EmulatedBalancer, found: LoadBalancer | undefined): Promise<boolean> {
    const { key, kind, scheme, address } = wanted;
    const is = JSON.stringify(wanted);
    const isSame = found?.kind === kind && found.scheme === scheme && (address ?? found.address) === found.address;
    if (isSame) {
      if (this.#done.get(key) === is) return false;
      await this.#cloud.modifyLoadBalancer({ loadBalancerId: found.id, ...frontOf(wanted) });
    } else {
      if (found) await this.#remove(key, found.id);
      const { healthCheck, affinityTimeoutSeconds, ...front } = frontOf(wanted);
      await this.#cloud.createLoadBalancer({
        name: `${this.#vendor}-${key}`,
        kind,
        scheme,
        subnetIds: [...this.#network.subnetIds],
        ...front,
        ...(healthCheck && { healthCheck }),
        ...(affinityTimeoutSeconds !== null && { affinityTimeoutSeconds }),
        ...(address !== undefined && { address }),
        tags: { [tag]: this.#vendor },
      });
    }
    this.#done.set(key, is);
    return true;
  }
  async #setRoutes(wanted: readonly EmulatedRoute[]): Promise<void> {
    const is = JSON.stringify(wanted);
    if (this.#routesDone === is) return;
    const { routeTableId } = this.#network;
    const name = `emulated ${this.#vendor}`;
    const { routes } = await this.#cloud.getRouteTable({ routeTableId });
    const destinations = new Set(wanted.map(({ destination }) => destination));
    for (const route of routes)
      if (route.name === name && !destinations.has(route.destination))
        await this.#cloud.deleteRoute({ routeTableId, destination: route.destination }).catch(fineIfGone);
    for (const { destination, machine } of wanted) {
      const there = routes.find((route) => route.destination === destination);
      if (there?.target.kind === 'instance' && there.target.id === machine && there.name === name) continue;
      await this.#letPass(machine);
      await this.#cloud.putRoute({ routeTableId, destination, target: { kind: 'instance', id: machine }, name });
    }
    this.#routesDone = is;
  }
  /** Packets of pods carry other addresses than the instance's. */
  async #letPass(instanceId: string): Promise<void> {
    const [interfaceId] = (await this.#cloud.getInstance({ instanceId })).interfaceIds;
    if (interfaceId !== undefined) await this.#cloud.modifyInterface({ interfaceId, sourceDestCheck: false });
  }
}

export const madeOf = (balancers: ReadonlyMap<string, LoadBalancer>): Map<string, MadeBalancer> =>
  new Map([...balancers].map(([key, { address, state }]) => [key, { address, state }]));
