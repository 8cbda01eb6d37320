// An external load balancer: a forwarding rule of the region, a target pool, a legacy health check, firewall rules. The forwarding rule comes last: once
// it is there, so is everything else (cloud-provider-gcp gce_loadbalancer_external.go).
import type { LoadBalancerStatus, Node } from 'sagong/cloud-provider';
import { fineIfAbsent, undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import type { ForwardingRule, TargetPool } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import type { Host } from '../instances/hosts.ts';
import { nameIn } from '../links.ts';
import { denyFirewall, externalHealthFirewall, serviceDescription } from '../names.ts';
import { holdAddress, isOwnersAddress, releaseAddress } from './addresses.ts';
import { deleteFirewall, ensureDenyFirewall, ensureTrafficFirewall } from './firewalls.ts';
import { deleteExternalCheck, ensureExternalCheck, ensureExternalCheckFirewall, leftSharedCheck } from './health-checks.ts';
import type { ExternalPlan } from './plan.ts';
import { spannedRange } from './ports.ts';
import { ensurePool, mustBeMadeAgain, poolOf, updatePool } from './target-pools.ts';

/** Whether the rule is as planned. Of a Service that names no network tier the rule keeps the one it has. */
export function ruleFits(rule: ForwardingRule, plan: ExternalPlan): boolean {
  const { requestedAddress, ports, tier, tierIsGiven } = plan;
  return (
    (requestedAddress === '' || rule.IPAddress === requestedAddress) &&
    rule.portRange === spannedRange(ports.numbers) &&
    rule.IPProtocol === ports.protocol &&
    (!tierIsGiven || (rule.networkTier ?? 'PREMIUM') === tier)
  );
}

/** The address that the rule has, or will have. It is held while there is no rule to hold it. */
async function addressFor(cloud: Cloud, plan: ExternalPlan, rule: ForwardingRule | undefined, stays: boolean): Promise<string> {
  const { name, service, requestedAddress, tier, tierIsGiven } = plan;
  const current = rule?.IPAddress ?? '';
  if (stays) return current;
  const currentTier = rule?.networkTier === 'STANDARD' ? 'STANDARD' : 'PREMIUM';
  const networkTier = tierIsGiven || !rule ? tier : currentTier;
  if (await isOwnersAddress(cloud, plan, networkTier, current)) return requestedAddress;
  // An address does not change its tier: another tier means another address.
  const kept = requestedAddress || (currentTier === networkTier ? current : '');
  return holdAddress(cloud, name, service, { address: kept, addressType: 'EXTERNAL', networkTier });
}

async function makeRule(cloud: Cloud, plan: ExternalPlan, address: string, tier: string | undefined): Promise<void> {
  const { api, settings, resources } = cloud;
  await resources.forwardingRules.insert({
    name: plan.name,
    description: serviceDescription(plan.service),
    IPAddress: address,
    IPProtocol: plan.ports.protocol,
    portRange: spannedRange(plan.ports.numbers),
    target: api.link(settings.project, { region: settings.region }, 'targetPools', plan.name),
    loadBalancingScheme: 'EXTERNAL',
    networkTier: plan.tierIsGiven ? plan.tier : (tier ?? plan.tier),
  });
}

/** A health check that the pool had before, when the Service's traffic policy was another one. */
async function deleteFormerChecks(cloud: Cloud, plan: ExternalPlan, pool: TargetPool | undefined): Promise<void> {
  const { healthCheck, name } = plan;
  const former = (pool?.healthChecks ?? []).map(nameIn).filter((one) => one !== healthCheck.name);
  // Also what an earlier attempt left, which the pool no longer shows.
  if (healthCheck.shared && (await cloud.resources.httpHealthChecks.get(name).catch(undefinedIfAbsent))) former.push(name);
  const ruleOf = (check: string): string => externalHealthFirewall(check, plan.clusterId);
  former.push(...(await leftSharedCheck(cloud, plan, cloud.resources.httpHealthChecks, ruleOf)));
  for (const one of new Set(former)) await deleteExternalCheck(cloud, plan, { name: one, shared: one !== name });
}

/**
 * Changes the backends, and lets in to new ones what the load balancer sends them: they may be the first, or have other tags. Rejects when there is no
 * load balancer.
 */
export async function updateExternal(cloud: Cloud, plan: ExternalPlan, nodes: readonly Node[]): Promise<void> {
  const { resources, hosts, flags, signal } = cloud;
  const pool = await poolOf(cloud, plan.name);
  if (!pool) throw new Error(`load balancer ${plan.name} not found`);
  const found = await hosts.ofNodes(nodes, signal);
  const { IPAddress: address = '' } = (await resources.forwardingRules.get(plan.name).catch(undefinedIfAbsent)) ?? {};
  // Without a rule it is not whole; what makes it so is tried again by itself. With another health check it is that of a later Service than this one.
  if (address !== '' && pool.healthChecks?.some((link) => nameIn(link) === plan.healthCheck.name)) {
    await ensureTrafficFirewall(cloud, plan, address, found);
    await ensureExternalCheckFirewall(cloud, plan, address, found);
    if (flags.denyFirewall) await ensureDenyFirewall(cloud, plan, address, found);
  }
  await updatePool(cloud, pool, found);
}

/** Makes it, or brings it in line. The address stays, whatever else changes. */
export async function ensureExternal(
  cloud: Cloud,
  plan: ExternalPlan,
  rule: ForwardingRule | undefined,
  hosts: readonly Host[],
): Promise<LoadBalancerStatus> {
  const { resources, flags } = cloud;
  const { name, service } = plan;
  const pool = await poolOf(cloud, name);
  const remake = pool !== undefined && mustBeMadeAgain(pool, plan);
  const stays = rule !== undefined && ruleFits(rule, plan) && pool !== undefined && !remake;
  const address = await addressFor(cloud, plan, rule, stays);
  if (!flags.denyFirewall && flags.denyFirewallCleanup) await deleteFirewall(cloud, service, denyFirewall(name));
  await ensureTrafficFirewall(cloud, plan, address, hosts);
  if (rule && !stays) await resources.forwardingRules.delete(name).catch(fineIfAbsent);
  await ensureExternalCheck(cloud, plan, address, hosts);
  if (remake) await resources.targetPools.delete(name).catch(fineIfAbsent);
  await ensurePool(cloud, plan, remake ? undefined : pool, hosts);
  if (!stays) await makeRule(cloud, plan, address, rule?.networkTier);
  await releaseAddress(cloud, name);
  await deleteFormerChecks(cloud, plan, pool);
  if (flags.denyFirewall) await ensureDenyFirewall(cloud, plan, address, hosts);
  return { ingress: [{ ip: address }] };
}
