// A load balancer as one Service wants it, for the shared write. Pure.
import type { FrontendIPConfiguration, LoadBalancer } from '@azure/arm-network';
import type { Node } from 'sagong/cloud-provider';
import { networkId, sameText } from '../ids.ts';
import { poolName } from '../names.ts';
import type { Settings } from '../settings.ts';
import { keptTags, sameTags } from '../tags.ts';
import { poolAddresses } from './backends.ts';
import { type Pieces, withPieces } from './balancer.ts';
import { placed } from './frontends.ts';
import type { Plan } from './plan.ts';
import { rulesOf } from './rules.ts';

export interface Desire {
  settings: Settings;
  cluster: string;
  /** The name of the load balancer. */
  name: string;
  plan: Plan;
  /** One for each family, in their order. */
  frontends: readonly FrontendIPConfiguration[];
  nodes: readonly Node[];
}

/** Whether the pools of load balancers are filled by somebody else. */
export const isPreConfigured = ({ preConfiguredPools }: Settings, internal: boolean): boolean =>
  preConfiguredPools === 'all' || preConfiguredPools === (internal ? 'internal' : 'external');

function piecesOf(base: LoadBalancer, { settings, cluster, name, plan, frontends }: Desire): Pieces {
  const balancerId = networkId(settings.networkSubscription, settings.balancer.group, 'loadBalancers', name);
  const pools = plan.families.map(({ family }) => poolName(cluster, family));
  const pieces: Pieces = { frontends: [], rules: [], probes: [], pools };
  for (const [index, { family }] of plan.families.entries()) {
    const { config, isOwn } = placed(base, plan, frontends[index] as FrontendIPConfiguration);
    if (isOwn) pieces.frontends.push(config);
    const frontendId = config.id ?? `${balancerId}/frontendIPConfigurations/${config.name}`;
    const poolId = `${balancerId}/backendAddressPools/${poolName(cluster, family)}`;
    const { rules, probes } = rulesOf(plan, family, settings, { balancerId, frontendId, poolId });
    pieces.rules.push(...rules);
    // The probe that all Services share is the same for both families.
    pieces.probes.push(...probes.filter((probe) => !pieces.probes.some((one) => one.name === probe.name)));
  }
  return pieces;
}

/** With the addresses of nodes in its pools, where pools are made of addresses; undefined: they are there. */
export function withAddresses(
  balancer: LoadBalancer,
  { settings, cluster, plan, nodes }: Pick<Desire, 'settings' | 'cluster' | 'plan' | 'nodes'>,
): LoadBalancer | undefined {
  if (!settings.poolOfAddresses || isPreConfigured(settings, plan.internal)) return undefined;
  let isChanged = false;
  const backendAddressPools = (balancer.backendAddressPools ?? []).map((pool) => {
    const family = plan.families.find((one) => sameText(poolName(cluster, one.family), pool.name))?.family;
    if (!family) return pool;
    const wanted = poolAddresses(settings, nodes, family);
    const text = (list: typeof wanted): string =>
      list
        .map(({ ipAddress }) => ipAddress)
        .sort()
        .join();
    if (text(wanted) === text(pool.loadBalancerBackendAddresses ?? [])) return pool;
    isChanged = true;
    return { ...pool, loadBalancerBackendAddresses: wanted };
  });
  return isChanged ? { ...balancer, backendAddressPools } : undefined;
}

/** The load balancer with what the Service asks for; undefined: it is like that. Throws for what cannot be had. */
export function desired(there: LoadBalancer | undefined, desire: Desire): LoadBalancer | undefined {
  const { settings, plan } = desire;
  const { extendedLocation, location } = settings;
  const fresh: LoadBalancer = { location, sku: { name: 'Standard' }, ...(extendedLocation && { extendedLocation }) };
  const base = there ?? fresh;
  const withAll = withPieces(base, plan.service, piecesOf(base, desire), settings.rulesMax);
  const withHosts = withAddresses(withAll ?? base, desire);
  const isTagged = Object.keys(settings.tags).length > 0;
  const tags = isTagged ? keptTags(base.tags, settings.tags, settings.systemTags) : base.tags;
  if (!withAll && !withHosts && sameTags(tags, base.tags)) return undefined;
  return { ...(withHosts ?? withAll ?? base), tags };
}
