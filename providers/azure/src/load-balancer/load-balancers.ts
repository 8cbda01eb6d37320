// Load balancers of Services: a frontend, rules and probes in the cluster's one load balancer for its side, inside or outside; a public IP; rules in the
// security group; machines in the pool. Each is found again by its name, so that any step may fail and be made again.
import type { LoadBalancer as Balancer } from '@azure/arm-network';
import type { LoadBalancer, LoadBalancerStatus, Node, Service } from 'sagong/cloud-provider';
import { annotationsOf, familyOf, serviceKey } from 'sagong/cloud-provider/kit';
import type { Cloud } from '../cloud.ts';
import { sameText } from '../ids.ts';
import { internalSuffix, ownsPiece, servicePrefix } from '../names.ts';
import { annotation, prefix } from './annotations.ts';
import { type Backends, eligible } from './backends.ts';
import { frontendsOf, hasPieces, withoutPieces } from './balancer.ts';
import { type Desire, desired, isPreConfigured, withAddresses } from './desired.ts';
import { createFrontends, type Frontends, stayingIds } from './frontends.ts';
import { hasDirect, pipGroupOf, type Plan, planOf } from './plan.ts';
import { frontedIps, type PublicIps } from './public-ips.ts';
import type { Reached, Security } from './security.ts';

export interface LoadBalancersDeps {
  cloud: Cloud;
  backends: Backends;
  publicIps: PublicIps;
  security: Security;
}

/** What the names of the two load balancers of a cluster end with. */
const both = ['', internalSuffix] as const;
type Side = (typeof both)[number];
type Sides = Readonly<Partial<Record<Side, Balancer>>>;

const sideOf = ({ internal }: Plan): Side => (internal ? internalSuffix : '');
const oppositeOf = ({ internal }: Plan): Side => (internal ? '' : internalSuffix);
const present = (sides: Sides): Balancer[] => both.flatMap((side) => sides[side] ?? []);
/** Addresses beside those of its frontends that it has, or has had: its status still shows them. */
function furtherAddresses(service: Service, reached: readonly Reached[]): string[] {
  const shown = (service.status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip);
  const all = new Set([...annotationsOf(service, prefix).list(annotation.additionalIps), ...shown]);
  return [...all].filter((address) => familyOf(address) !== undefined && !reached.some((one) => one.address === address));
}
const publicIdsOf = (sides: Sides, service: Service): string[] =>
  present(sides).flatMap((balancer) =>
    frontendsOf(balancer, service).flatMap(({ publicIPAddress }) => publicIPAddress?.id ?? []),
  );

class Balancers {
  readonly #deps: LoadBalancersDeps;
  readonly #frontends: Frontends;

  constructor(deps: LoadBalancersDeps) {
    this.#deps = deps;
    this.#frontends = createFrontends(deps.cloud, deps.publicIps);
  }
  get #settings(): Cloud['settings'] {
    return this.#deps.cloud.settings;
  }
  #nameOf(cluster: string, side: Side): string {
    return `${this.#settings.balancer.name ?? cluster}${side}`;
  }
  #change(
    cluster: string,
    side: Side,
    change: (there: Balancer | undefined) => Balancer | 'gone' | undefined,
    signal?: AbortSignal,
  ) {
    const { stores } = this.#deps.cloud;
    return stores.loadBalancers.change(this.#settings.balancer.group, this.#nameOf(cluster, side), change, signal);
  }
  async #sidesOf(cluster: string, signal?: AbortSignal): Promise<Sides> {
    const { stores } = this.#deps.cloud;
    const { group } = this.#settings.balancer;
    const [outer, inner] = await Promise.all(
      both.map((side) => stores.loadBalancers.read(group, this.#nameOf(cluster, side), signal)),
    );
    return { ...(outer && { '': outer }), ...(inner && { [internalSuffix]: inner }) };
  }
  /** Where the Service is reached now, and by which frontends. */
  async #reached(balancers: readonly Balancer[], service: Service, signal?: AbortSignal): Promise<Reached[]> {
    const all = balancers.flatMap((balancer) => frontendsOf(balancer, service));
    const found = await Promise.all(
      all.map(async (one) => ({ address: await this.#frontends.addressOf(one, signal), frontendIds: [one.id ?? ''] })),
    );
    return found.flatMap(({ address, frontendIds }) => (address ? [{ address, frontendIds }] : []));
  }
  /** The frontends at these addresses. */
  async #frontendsAt(balancers: readonly Balancer[], addresses: readonly string[], signal?: AbortSignal) {
    if (addresses.length === 0) return [];
    const ips = await frontedIps(this.#deps.cloud, balancers, signal);
    const all = balancers.flatMap(({ frontendIPConfigurations = [] }) => frontendIPConfigurations);
    return addresses.map((address) => {
      const ipIds = ips.filter(({ ipAddress }) => ipAddress === address).map(({ id }) => id);
      const isAt = (one: (typeof all)[number]): boolean =>
        one.privateIPAddress === address || ipIds.some((id) => sameText(id, one.publicIPAddress?.id));
      return { address, frontends: all.filter(isAt) };
    });
  }
  /** An address that somebody names may be another Service's: then its frontend is known, and nothing of that Service is closed. */
  async #further(
    balancers: readonly Balancer[],
    service: Service,
    reached: readonly Reached[],
    signal?: AbortSignal,
  ): Promise<Reached[]> {
    const found = await this.#frontendsAt(balancers, furtherAddresses(service, reached), signal);
    return found.map(({ address, frontends }) => ({ address, frontendIds: frontends.flatMap(({ id }) => id ?? []) }));
  }
  /** Throws for a further address of which another Service has the frontend: rules name addresses alone, and would open that one's ports. */
  async #refuseOthersAddresses(
    { service, additionalIps }: Plan,
    balancers: readonly Balancer[],
    signal?: AbortSignal,
  ): Promise<void> {
    for (const { address, frontends } of await this.#frontendsAt(balancers, additionalIps, signal))
      if (frontends.some(({ name }) => !ownsPiece(service, name)))
        throw new Error(`annotation ${prefix}${annotation.additionalIps}: ${address} is the address of another service`);
  }
  async #settle(cluster: string, plan: Plan, balancer: Balancer, nodes: readonly Node[], signal?: AbortSignal): Promise<void> {
    if (this.#settings.poolOfAddresses || isPreConfigured(this.#settings, plan.internal)) return;
    const families = plan.families.map(({ family }) => family);
    await this.#deps.backends.settle(cluster, balancer, families, nodes, signal);
  }
  /** Takes the Service off a load balancer, and removes that with its last frontend. */
  async #removeFrom(cluster: string, side: Side, service: Service, signal?: AbortSignal): Promise<void> {
    const change = (there: Balancer | undefined): Balancer | 'gone' | undefined => {
      const left = there && withoutPieces(there, service);
      if (!left || (left.frontendIPConfigurations ?? []).length > 0) return left;
      return isPreConfigured(this.#settings, side === internalSuffix) ? left : 'gone';
    };
    await this.#change(cluster, side, change, signal);
  }
  async ensure(cluster: string, service: Service, given: readonly Node[], signal?: AbortSignal): Promise<LoadBalancerStatus> {
    const { security, publicIps } = this.#deps;
    const settings = this.#settings;
    const plan = planOf(service);
    const [side, opposite] = [sideOf(plan), oppositeOf(plan)];
    const nodes = eligible(settings, given);
    const before = await this.#sidesOf(cluster, signal);
    await this.#refuseOthersAddresses(plan, present(before), signal);
    const frontends = await this.#frontends.wanted(cluster, plan, signal);
    const desire: Desire = { settings, cluster, name: this.#nameOf(cluster, side), plan, frontends, nodes };
    // What cannot be had is refused before a rule is closed for it.
    desired(before[side], desire);
    const staying = stayingIds(before[side], plan, frontends);
    const reached = await this.#reached(present(before), service, signal);
    const lost = reached.filter(({ frontendIds }) => !staying.some((id) => frontendIds.some((one) => sameText(one, id))));
    // First closed: nobody could tell afterwards which addresses, and which ports of nodes, they were.
    const further = await this.#further(present(before), service, reached, signal);
    await security.change({ service, balancers: present(before), clear: [...lost, ...further], next: plan }, signal);
    const balancer = await this.#change(cluster, side, (there) => desired(there, desire), signal);
    if (!balancer) throw new Error(`load balancer ${desire.name} is gone`);
    await this.#settle(cluster, plan, balancer, nodes, signal);
    const now = await this.#reached([balancer], service, signal);
    const addresses = plan.families.flatMap(
      ({ family }) => now.find(({ address }) => familyOf(address) === family)?.address ?? [],
    );
    if (addresses.length < plan.families.length)
      throw new Error(`load balancer ${desire.name} has no address for ${plan.key} yet`);
    const balancers = [balancer, ...(before[opposite] ? [before[opposite]] : [])];
    await security.change(
      {
        service,
        balancers,
        clear: [...now, ...(await this.#further(balancers, service, now, signal))],
        open: { plan, addresses, nodes },
      },
      signal,
    );
    if (hasPieces(before[opposite], service)) await this.#removeFrom(cluster, opposite, service, signal);
    const keep = frontends.flatMap(({ publicIPAddress }) => publicIPAddress?.id ?? []);
    await publicIps.release(cluster, service, { group: plan.pipGroup, ids: publicIdsOf(before, service), keep }, signal);
    return { ingress: [...addresses, ...plan.additionalIps].map((ip) => ({ ip })) };
  }
  async update(cluster: string, service: Service, given: readonly Node[], signal?: AbortSignal): Promise<void> {
    const plan = planOf(service);
    const settings = this.#settings;
    const sides = await this.#sidesOf(cluster, signal);
    const balancer = sides[sideOf(plan)];
    if (!balancer?.loadBalancingRules?.some(({ name }) => ownsPiece(service, name))) return;
    const nodes = eligible(settings, given);
    if (settings.poolOfAddresses) {
      const change = (there: Balancer | undefined) => there && withAddresses(there, { settings, cluster, plan, nodes });
      await this.#change(cluster, sideOf(plan), change, signal);
    } else await this.#settle(cluster, plan, balancer, nodes, signal);
    if (!hasDirect(plan)) return;
    const now = await this.#reached(present(sides), service, signal);
    const open = { plan, addresses: now.map(({ address }) => address), nodes };
    await this.#deps.security.change({ service, balancers: present(sides), clear: now, open }, signal);
  }
  async remove(cluster: string, service: Service, signal?: AbortSignal): Promise<void> {
    const { security, publicIps } = this.#deps;
    const sides = await this.#sidesOf(cluster, signal);
    const reached = await this.#reached(present(sides), service, signal);
    const clear = [...reached, ...(await this.#further(present(sides), service, reached, signal))];
    if (this.#settings.securityGroup.name !== '') await security.change({ service, balancers: present(sides), clear }, signal);
    const ids = publicIdsOf(sides, service);
    for (const side of both) if (sides[side]) await this.#removeFrom(cluster, side, service, signal);
    await publicIps.release(cluster, service, { group: pipGroupOf(service), ids, keep: [] }, signal);
  }
  async get(cluster: string, service: Service, signal?: AbortSignal): Promise<LoadBalancerStatus | undefined> {
    const sides = await this.#sidesOf(cluster, signal);
    if (present(sides).some((balancer) => hasPieces(balancer, service))) {
      const reached = await this.#reached(present(sides), service, signal);
      return { ingress: reached.map(({ address }) => ({ ip: address })) };
    }
    return (await this.#deps.publicIps.anyOf(cluster, service, pipGroupOf(service), signal)) ? {} : undefined;
  }
}

export function createLoadBalancers(deps: LoadBalancersDeps): LoadBalancer {
  const balancers = new Balancers(deps);
  const { observe } = deps.cloud;
  return {
    getLoadBalancerName: (_cluster, service) => servicePrefix(service),
    getLoadBalancer: (cluster, service, signal) => balancers.get(cluster, service, signal),
    ensureLoadBalancer: (cluster, service, nodes, signal) =>
      observe('services_ensure_loadbalancer', serviceKey(service), () => balancers.ensure(cluster, service, nodes, signal)),
    updateLoadBalancer: (cluster, service, nodes, signal) =>
      observe('services_update_loadbalancer', serviceKey(service), () => balancers.update(cluster, service, nodes, signal)),
    ensureLoadBalancerDeleted: (cluster, service, signal) =>
      observe('services_ensure_loadbalancer_deleted', serviceKey(service), () => balancers.remove(cluster, service, signal)),
  };
}
