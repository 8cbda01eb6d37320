// The one load balancer that many Services share, with the pieces of one of them as they should be, or without them. Pure: a change is a new value.
import type { FrontendIPConfiguration, LoadBalancer, LoadBalancingRule, Probe } from '@azure/arm-network';
import type { Service } from 'sagong/cloud-provider';
import { lastOf, sameText } from '../ids.ts';
import { isPieceName, ownsPiece, sharedProbeName } from '../names.ts';

export interface Pieces {
  frontends: FrontendIPConfiguration[];
  rules: LoadBalancingRule[];
  probes: Probe[];
  pools: readonly string[];
}

type Named = { name?: string };
const named = <T extends Named>(list: readonly T[] | undefined, name: string | undefined): T | undefined =>
  list?.find((one) => sameText(one.name, name));

/** Whether what is wanted is there, in all fields that are named. References are compared without case. */
function isSame(wanted: unknown, there: unknown): boolean {
  if (typeof wanted === 'string' && typeof there === 'string') return sameText(wanted, there);
  if (Array.isArray(wanted))
    return Array.isArray(there) && wanted.length === there.length && wanted.every((one, at) => isSame(one, there[at]));
  if (typeof wanted !== 'object' || wanted === null) return wanted === there;
  if (typeof there !== 'object' || there === null) return false;
  return Object.entries(wanted).every(([key, value]) => isSame(value, (there as Record<string, unknown>)[key]));
}

/** The list with these pieces in the place of those that the Service has; undefined: it is like that already. */
function replaced<T extends Named>(there: readonly T[] = [], wanted: readonly T[], isOwn: (one: T) => boolean): T[] | undefined {
  const old = there.filter((one) => isOwn(one) || named(wanted, one.name));
  const same = old.length === wanted.length && wanted.every((one) => isSame(one, named(old, one.name)));
  if (same) return undefined;
  const kept = there.filter((one) => !old.includes(one));
  return [...kept, ...wanted.map((one) => ({ ...named(old, one.name), ...one }))];
}

/** Rules of others, outbound rules and NAT rules, that use a frontend. */
export function usedByOthers(balancer: LoadBalancer, frontendId: string | undefined, service: Service): boolean {
  const uses = (one: { frontendIPConfiguration?: { id?: string } }): boolean =>
    sameText(one.frontendIPConfiguration?.id, frontendId);
  const { loadBalancingRules = [], inboundNatRules = [], inboundNatPools = [], outboundRules = [] } = balancer;
  return (
    loadBalancingRules.some((rule) => uses(rule) && !ownsPiece(service, rule.name)) ||
    inboundNatRules.some(uses) ||
    inboundNatPools.some(uses) ||
    outboundRules.some(({ frontendIPConfigurations = [] }) => frontendIPConfigurations.some(({ id }) => sameText(id, frontendId)))
  );
}

/** Frontends that the Service has of its own, and those of others that its rules use. */
export function frontendsOf(balancer: LoadBalancer | undefined, service: Service): FrontendIPConfiguration[] {
  const used = (balancer?.loadBalancingRules ?? [])
    .filter(({ name }) => ownsPiece(service, name))
    .map(({ frontendIPConfiguration }) => frontendIPConfiguration?.id?.toLowerCase());
  return (balancer?.frontendIPConfigurations ?? []).filter(
    ({ name, id }) => ownsPiece(service, name) || used.includes(id?.toLowerCase()),
  );
}

export const hasPieces = (balancer: LoadBalancer | undefined, service: Service): boolean =>
  [balancer?.frontendIPConfigurations, balancer?.loadBalancingRules, balancer?.probes].some((list) =>
    list?.some(({ name }) => ownsPiece(service, name)),
  );

/** A port that another rule of the same frontend has, or nothing. */
function refuseTaken(balancer: LoadBalancer, wanted: readonly LoadBalancingRule[], service: Service): void {
  for (const rule of wanted) {
    const frontend = rule.frontendIPConfiguration?.id;
    const same = (other: LoadBalancingRule): boolean =>
      sameText(other.frontendIPConfiguration?.id, frontend) &&
      other.frontendPort === rule.frontendPort &&
      (sameText(other.protocol, rule.protocol) || sameText(other.protocol, 'All') || sameText(rule.protocol, 'All'));
    const taken = [
      ...(balancer.loadBalancingRules ?? []).filter(({ name }) => !ownsPiece(service, name)),
      ...(balancer.inboundNatRules ?? []),
    ].find((other) => same(other));
    if (taken) throw new Error(`port ${rule.frontendPort} of frontend ${lastOf(frontend)} is taken by rule ${taken.name}`);
    const pool = (balancer.inboundNatPools ?? []).find(
      (one) =>
        sameText(one.frontendIPConfiguration?.id, frontend) &&
        sameText(one.protocol, rule.protocol) &&
        (rule.frontendPort ?? 0) >= (one.frontendPortRangeStart ?? 0) &&
        (rule.frontendPort ?? 0) <= (one.frontendPortRangeEnd ?? 0),
    );
    if (pool)
      throw new Error(`port ${rule.frontendPort} of frontend ${lastOf(frontend)} is taken by inbound NAT pool ${pool.name}`);
  }
}

const failed = ({ provisioningState }: LoadBalancer): boolean => provisioningState === 'Failed';

/** The load balancer with the pieces of the Service as they should be; undefined when nothing is to be done. Throws for a port that is taken. */
export function withPieces(balancer: LoadBalancer, service: Service, wanted: Pieces, rulesMax: number): LoadBalancer | undefined {
  refuseTaken(balancer, wanted.rules, service);
  const own = (one: Named): boolean => ownsPiece(service, one.name);
  // A frontend that others use as well stays until they have gone.
  const ownFrontend = (one: FrontendIPConfiguration): boolean => own(one) && !usedByOthers(balancer, one.id, service);
  const frontends = replaced(balancer.frontendIPConfigurations, wanted.frontends, ownFrontend);
  const rules = replaced(balancer.loadBalancingRules, wanted.rules, own);
  const probes = replaced(balancer.probes, wanted.probes, own);
  const pools = wanted.pools.filter((name) => !named(balancer.backendAddressPools, name));
  if (!frontends && !rules && !probes && pools.length === 0 && !failed(balancer)) return undefined;
  if (rules && rules.length > rulesMax)
    throw new Error(`the load balancer would have ${rules.length} rules; ${rulesMax} are allowed`);
  const changed = {
    ...balancer,
    frontendIPConfigurations: frontends ?? balancer.frontendIPConfigurations,
    loadBalancingRules: rules ?? balancer.loadBalancingRules,
    probes: probes ?? balancer.probes,
    backendAddressPools: [...(balancer.backendAddressPools ?? []), ...pools.map((name) => ({ name }))],
  };
  return withoutIdleProbe(changed);
}

/** The shared probe goes with the last rule that uses it. */
function withoutIdleProbe(balancer: LoadBalancer): LoadBalancer {
  const isUsed = (balancer.loadBalancingRules ?? []).some(({ probe }) => sameText(lastOf(probe?.id), sharedProbeName));
  if (isUsed || !named(balancer.probes, sharedProbeName)) return balancer;
  return { ...balancer, probes: balancer.probes?.filter(({ name }) => !sameText(name, sharedProbeName)) };
}

/** The load balancer without the pieces of the Service; undefined when the Service has none in it. */
export function withoutPieces(balancer: LoadBalancer, service: Service): LoadBalancer | undefined {
  const mine = frontendsOf(balancer, service);
  // Frontends that somebody made by hand are not ours to remove.
  const going = mine.filter(({ name, id }) => isPieceName(name) && !usedByOthers(balancer, id, service));
  const others = <T extends Named>(list: readonly T[] | undefined): T[] | undefined =>
    list?.filter(({ name }) => !ownsPiece(service, name));
  const [rules, probes] = [others(balancer.loadBalancingRules), others(balancer.probes)];
  const isClean =
    going.length === 0 && rules?.length === balancer.loadBalancingRules?.length && probes?.length === balancer.probes?.length;
  if (isClean) return undefined;
  return withoutIdleProbe({
    ...balancer,
    frontendIPConfigurations: balancer.frontendIPConfigurations?.filter((one) => !going.includes(one)),
    loadBalancingRules: rules,
    probes,
  });
}
