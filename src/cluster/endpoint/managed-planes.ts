// A managed control plane on machines in three zones of the provider's network: two have an apiserver and managers beside a member of etcd, and an interface
// in a subnet of the customer's; the others have a member alone. The process of `sagong up` has an interface in each of the two networks: it asks the control
// plane through its load balancer, and reaches nodes.
import type { LoadBalancer } from '#cloud';
import type { CloudClient } from '#cloud/client';
import type { NetnsSockets } from '#host';
import { type Clock, deepEqual, type Logger } from '#utils';
import type { Dial } from '#wire';
import { joinedNetns } from './endpoint.ts';
import type { ManagedPlane } from './managed-endpoint.ts';
import { type ClusterNetwork, ensureEndpoint, operatorAddress, providerCidr, vpcCidr } from '../cloud/network.ts';
import { endpointsLookMs } from '../control-planes/limits.ts';
import { ControlPlaneMachines, type ControlPlaneMachinesOptions, type ManagedMachines } from '../control-planes/machines.ts';

interface ManagedPlanesOptions extends ControlPlaneMachinesOptions {
  managed: ManagedMachines;
  clock: Clock;
  logger: Logger;
  /** The client of the account that manages control planes, and that of the cluster's owner. */
  service: () => CloudClient;
  customer: () => CloudClient;
}

export class ManagedPlanes implements ManagedPlane {
  readonly #options: ManagedPlanesOptions;
  readonly #over = new AbortController();
  #machines: ControlPlaneMachines | undefined;
  #netns = { provider: '', customer: '' };
  #sockets: Promise<{ provider: NetnsSockets; customer: NetnsSockets }> | undefined;

  constructor(options: ManagedPlanesOptions) {
    this.#options = options;
  }
  get machines(): ControlPlaneMachines {
    if (!this.#machines) throw new Error('the network of the control plane is not up yet');
    return this.#machines;
  }
  readonly dial: Dial = async ({ host, port }) => (await this.#joined()).customer.connect(host, port);
  readonly way: Dial = async ({ host, port }) => (await this.#joined()).provider.connect(host, port);

  async open(provider: ClusterNetwork, network: ClusterNetwork): Promise<LoadBalancer> {
    const [service, customer] = [this.#options.service(), this.#options.customer()];
    this.#machines = new ControlPlaneMachines(service, provider, this.#options);
    const description = 'sagong up';
    const [inProvider, inNetwork] = await Promise.all([
      ensureEndpoint(service, provider, { subnet: 0, address: operatorAddress(providerCidr), description }),
      ensureEndpoint(customer, network, { subnet: 0, address: operatorAddress(vpcCidr), description }),
    ]);
    this.#netns = { provider: inProvider.netns ?? '', customer: inNetwork.netns ?? '' };
    return this.#machines.balancer();
  }
  async connect(_: unknown, tell: (addresses: readonly string[]) => Promise<void>): Promise<void> {
    await this.#joined();
    void this.#watch(tell).catch(() => {});
  }
  async close(): Promise<void> {
    this.#over.abort();
    const sockets = await this.#sockets?.catch(() => undefined);
    sockets?.provider.close();
    sockets?.customer.close();
  }

  #joined(): Promise<{ provider: NetnsSockets; customer: NetnsSockets }> {
    this.#sockets ??= this.#join().catch((error: unknown) => {
      this.#sockets = undefined;
      throw error;
    });
    return this.#sockets;
  }
  async #join(): Promise<{ provider: NetnsSockets; customer: NetnsSockets }> {
    const { dataDir } = this.#options;
    const provider = await joinedNetns(this.#netns.provider, dataDir);
    try {
      return { provider, customer: await joinedNetns(this.#netns.customer, dataDir) };
    } catch (error) {
      provider.close();
      throw error;
    }
  }
  /** Points the endpoint's names to the interfaces whose apiserver the load balancer sees as healthy; to all of them where none is. */
  async #watch(tell: (addresses: readonly string[]) => Promise<void>): Promise<never> {
    const { managed, clock, logger } = this.#options;
    let told: readonly string[] = managed.interfaces;
    let failure = '';
    for (;;) {
      try {
        const now = await this.#well();
        if (!deepEqual(now, told)) {
          await tell(now);
          logger.info('the names of the control plane lead elsewhere', { addresses: now.join(' '), before: told.join(' ') });
          told = now;
        }
        failure = '';
      } catch (error) {
        const err = (error as Error).message;
        // Once for as long as it lasts.
        if (err !== failure && !this.#over.signal.aborted)
          logger.warn('the names of the control plane are not brought up to date', { err });
        failure = err;
      }
      await clock.sleep(endpointsLookMs, this.#over.signal);
    }
  }
  async #well(): Promise<readonly string[]> {
    const [all, { targets }] = await Promise.all([this.machines.list(), this.machines.balancer()]);
    const well = new Set(targets.filter(({ health }) => health === 'healthy').map(({ instanceId }) => instanceId));
    const found = all.filter(({ id }) => well.has(id)).flatMap(({ name }) => this.machines.sideOf(name).customer?.address ?? []);
    const { interfaces } = this.#options.managed;
    return found.length === 0 ? interfaces : interfaces.filter((address) => found.includes(address));
  }
}
