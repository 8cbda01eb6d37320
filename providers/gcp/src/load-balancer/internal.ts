// An internal load balancer: a forwarding rule in a subnetwork, a backend service over groups of instances, a health check, firewall rules
// (cloud-provider-gcp gce_loadbalancer_internal.go).
import type { LoadBalancerStatus, Node } from 'sagong/cloud-provider';
import { fineIfAbsent, sameSet, undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import type { ForwardingRule } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { internalPortsMax } from '../limits.ts';
import { nameIn, sameLink } from '../links.ts';
import { internalHealthFirewall, serviceDescription } from '../names.ts';
import { isInUse } from '../api/errors.ts';
import { holdAddress, releaseAddress } from './addresses.ts';
import { backendServiceOf, ensureBackendService, updateBackends } from './backend-services.ts';
import { ensureTrafficFirewall } from './firewalls.ts';
import { deleteInternalCheck, ensureInternalCheck, ensureInternalCheckFirewall, leftSharedCheck } from './health-checks.ts';
import { ensureGroups, inSubnetwork } from './instance-groups.ts';
import type { InternalPlan } from './plan.ts';

interface Subnet {
  link: string;
  legacy: boolean;
}

/** The subnetwork that the address comes from: that of the annotation, else the cluster's. */
async function subnetOf({ api, settings, subnetworks, signal, writer }: Cloud, plan: InternalPlan): Promise<Subnet> {
  const found = await subnetworks.default(signal);
  if (found.legacy && (plan.subnet !== undefined || plan.globalAccess))
    await writer.event(
      plan.service,
      'Warning',
      'ILBOptionsIgnored',
      'Internal LoadBalancer options are not supported with Legacy Networks.',
    );
  if (found.legacy || plan.subnet === undefined) return found;
  return { link: api.link(settings.networkProject, { region: settings.region }, 'subnetworks', plan.subnet), legacy: false };
}

function wantedRule({ api, settings }: Cloud, plan: InternalPlan, subnet: Subnet, address: string): ForwardingRule {
  const ports = plan.ports.numbers.map(String);
  return {
    name: plan.name,
    description: serviceDescription(plan.service),
    IPProtocol: plan.ports.protocol,
    loadBalancingScheme: 'INTERNAL',
    backendService: api.link(settings.project, { region: settings.region }, 'backendServices', plan.backendService),
    network: settings.network,
    ...(address !== '' && { IPAddress: address }),
    ...(subnet.link !== '' && { subnetwork: subnet.link }),
    ...(ports.length > internalPortsMax ? { allPorts: true } : { ports }),
    ...(plan.globalAccess && !subnet.legacy && { allowGlobalAccess: true }),
  };
}

/** Whether the rule is as wanted, but for what can be changed in place. */
export const ruleFits = (there: ForwardingRule, wanted: ForwardingRule): boolean =>
  (!wanted.IPAddress || there.IPAddress === wanted.IPAddress) &&
  there.IPProtocol === wanted.IPProtocol &&
  there.loadBalancingScheme === wanted.loadBalancingScheme &&
  sameSet(there.ports, wanted.ports) &&
  (there.allPorts ?? false) === (wanted.allPorts ?? false) &&
  sameLink(there.backendService, wanted.backendService) &&
  (!wanted.subnetwork || sameLink(there.subnetwork, wanted.subnetwork));

/** The address to ask for: the Service's, else the one it has while it stays in its subnetwork. */
const addressToAskFor = ({ requestedAddress }: InternalPlan, rule: ForwardingRule | undefined, subnet: Subnet): string =>
  requestedAddress || (rule && (subnet.link === '' || sameLink(rule.subnetwork, subnet.link)) ? (rule.IPAddress ?? '') : '');

/** What the load balancer used before: of another protocol, affinity or traffic policy. */
async function deleteFormer(
  cloud: Cloud,
  plan: InternalPlan,
  formerService: string,
  formerChecks: readonly string[],
): Promise<void> {
  const { resources } = cloud;
  if (formerService !== '' && formerService !== plan.backendService)
    await resources.backendServices
      .delete(formerService)
      .catch(fineIfAbsent)
      .catch((error: unknown) => {
        if (!isInUse(error)) throw error;
      });
  const former = formerChecks.filter((name) => name !== plan.healthCheck.name);
  // Also what an earlier attempt left, which the backend service no longer shows.
  if (plan.healthCheck.shared && (await resources.healthChecks.get(plan.name).catch(undefinedIfAbsent))) former.push(plan.name);
  former.push(...(await leftSharedCheck(cloud, plan, resources.healthChecks, internalHealthFirewall)));
  for (const name of new Set(former)) await deleteInternalCheck(cloud, plan, { name, shared: name !== plan.name });
}

/** Makes it, or brings it in line. The address stays, unless another subnetwork is asked for. */
export async function ensureInternal(
  cloud: Cloud,
  plan: InternalPlan,
  rule: ForwardingRule | undefined,
  nodes: readonly Node[],
): Promise<LoadBalancerStatus> {
  const { resources, hosts, signal } = cloud;
  const { name, service } = plan;
  const subnet = await subnetOf(cloud, plan);
  const ask = addressToAskFor(plan, rule, subnet);
  const stays = rule !== undefined && ruleFits(rule, wantedRule(cloud, plan, subnet, ask));
  const wish = { address: ask, addressType: 'INTERNAL' as const, ...(subnet.link !== '' && { subnetwork: subnet.link }) };
  const address = stays || subnet.legacy ? ask : await holdAddress(cloud, name, service, wish);
  const wanted = wantedRule(cloud, plan, subnet, address);
  const members = inSubnetwork(nodes, (await cloud.subnetworks.default(signal)).link);
  const found = await hosts.ofNodes(members, signal);
  const groups = await ensureGroups(cloud, plan.clusterId, found, members);
  const formerService = nameIn(rule?.backendService);
  const former = formerService === '' ? undefined : await backendServiceOf(cloud, formerService);
  await ensureInternalCheck(cloud, plan);
  // A backend service changes its protocol only while no rule uses it.
  if (rule && !stays) await resources.forwardingRules.delete(name).catch(fineIfAbsent);
  await ensureBackendService(cloud, plan, groups);
  if (!stays) await resources.forwardingRules.insert(wanted);
  else if ((rule.allowGlobalAccess ?? false) !== (wanted.allowGlobalAccess ?? false))
    await resources.forwardingRules.patch(name, { allowGlobalAccess: wanted.allowGlobalAccess ?? false });
  const ip = address || ((await resources.forwardingRules.get(name)).IPAddress ?? '');
  await ensureTrafficFirewall(cloud, plan, ip, found);
  await ensureInternalCheckFirewall(cloud, plan, found);
  await releaseAddress(cloud, name);
  await deleteFormer(cloud, plan, formerService, (former?.healthChecks ?? []).map(nameIn));
  return { ingress: [{ ip }] };
}

/** Changes the backends, and lets in to new ones what the load balancer sends them. Rejects when there is no load balancer. */
export async function updateInternal(cloud: Cloud, plan: InternalPlan, nodes: readonly Node[]): Promise<void> {
  const { signal } = cloud;
  const there = await cloud.resources.backendServices.get(plan.backendService);
  const members = inSubnetwork(nodes, (await cloud.subnetworks.default(signal)).link);
  const found = await cloud.hosts.ofNodes(members, signal);
  const { IPAddress: address = '' } = (await cloud.resources.forwardingRules.get(plan.name).catch(undefinedIfAbsent)) ?? {};
  // With another health check it is that of a later Service than this one.
  if (address !== '' && there.healthChecks?.some((link) => nameIn(link) === plan.healthCheck.name)) {
    await ensureTrafficFirewall(cloud, plan, address, found);
    await ensureInternalCheckFirewall(cloud, plan, found);
  }
  await updateBackends(cloud, there, await ensureGroups(cloud, plan.clusterId, found, members));
}
