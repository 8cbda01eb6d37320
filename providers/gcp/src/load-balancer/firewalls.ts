// Firewall rules that let traffic and health checks in to the nodes. In a network of another project they may be somebody else's to make: then an
// event says with which command (cloud-provider-gcp gce_util.go).
import { fineIfAbsent, undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import type { Service } from 'sagong/cloud-provider';
import { isForbidden } from '../api/errors.ts';
import type { Firewall } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { hostTags } from '../instances/host-tags.ts';
import type { Host } from '../instances/hosts.ts';
import { firewallPriority } from '../limits.ts';
import { denyFirewall, firewallDescription, trafficFirewall } from '../names.ts';
import { ensureResource } from './ensure-resource.ts';
import { firewallCommand, firewallDeletion } from './gcloud.ts';
import { sameFirewall, withTags } from './firewall-rules.ts';
import type { BalancerPlan } from './plan.ts';
import { portRanges } from './ports.ts';

interface FirewallWish
  extends Pick<Firewall, 'name' | 'description' | 'sourceRanges' | 'allowed' | 'denied' | 'destinationRanges'> {
  priority?: number;
  /** The rule serves several load balancers: tags that it has stay. */
  shared?: boolean;
}

/** Room for a rule that denies what the others do not allow. */
const allowPriority = ({ flags }: Cloud): number => (flags.denyFirewall ? firewallPriority - 1 : firewallPriority);

/** Lets a change of a firewall fail for want of rights in a shared network, with an event for its administrator. */
async function orTell(cloud: Cloud, service: Service, command: string, change: () => Promise<unknown>): Promise<void> {
  const { settings, writer } = cloud;
  try {
    await change();
  } catch (error) {
    if (!isForbidden(error) || settings.project === settings.networkProject) throw error;
    const message = `Firewall change required by security admin: \`${command}\``;
    await writer.event(service, 'Normal', 'LoadBalancerManualChange', message);
  }
}

async function ensureFirewall(cloud: Cloud, service: Service, hosts: readonly Host[], wish: FirewallWish): Promise<void> {
  const { settings, resources, turn, signal } = cloud;
  const { shared = false, ...rule } = wish;
  let targetTags = hostTags(settings, hosts);
  if (targetTags.length === 0) {
    // Without nodes there is nothing to open, and a rule without tags would open every instance of the network. One that is there is brought in line
    // all the same: it must let in nobody whom the Service allows no longer.
    const there = await resources.firewalls.get(wish.name ?? '').catch(undefinedIfAbsent);
    targetTags = there?.targetTags ?? [];
    if (targetTags.length === 0) return;
  }
  const wanted: Firewall = { priority: firewallPriority, ...rule, network: settings.network, targetTags };
  const compare = (there: Firewall) => {
    const aim = shared ? withTags(wanted, there.targetTags ?? []) : wanted;
    return sameFirewall(there, aim) ? undefined : aim;
  };
  const ensure = (): Promise<void> =>
    orTell(cloud, service, firewallCommand(wanted, settings.networkProject), () =>
      ensureResource(resources.firewalls, wanted, compare),
    );
  await (shared ? turn(`firewall ${wish.name}`, ensure, signal) : ensure());
}

/** Traffic from the clients that the Service allows, to its ports at its address. */
export const ensureTrafficFirewall = (cloud: Cloud, plan: BalancerPlan, address: string, hosts: readonly Host[]): Promise<void> =>
  ensureFirewall(cloud, plan.service, hosts, {
    name: trafficFirewall(plan.name),
    description: firewallDescription(plan.service, address),
    sourceRanges: plan.sourceRanges,
    destinationRanges: [address],
    allowed: [{ IPProtocol: plan.ports.protocol.toLowerCase(), ports: portRanges(plan.ports.numbers) }],
    priority: allowPriority(cloud),
  });

/** Makes the firewall of `--enable-l4-deny-firewall`, which lets nothing else reach the nodes by way of this address. */
export const ensureDenyFirewall = (cloud: Cloud, plan: BalancerPlan, address: string, hosts: readonly Host[]): Promise<void> =>
  ensureFirewall(cloud, plan.service, hosts, {
    name: denyFirewall(plan.name),
    description: firewallDescription(plan.service, address),
    sourceRanges: ['0.0.0.0/0'],
    destinationRanges: [address],
    denied: [{ IPProtocol: 'all' }],
    priority: firewallPriority,
  });

/** Makes the firewall rule that lets Google's health checks in. */
export const ensureHealthFirewall = (
  cloud: Cloud,
  plan: BalancerPlan,
  rule: { name: string; description: string },
  hosts: readonly Host[],
): Promise<void> =>
  ensureFirewall(cloud, plan.service, hosts, {
    ...rule,
    sourceRanges: cloud.flags.lbSourceRanges,
    allowed: [{ IPProtocol: 'tcp', ports: [String(plan.healthCheck.port)] }],
    priority: allowPriority(cloud),
    shared: plan.healthCheck.shared,
  });

/** Removes a rule; one that is not there is as good. */
export async function deleteFirewall(cloud: Cloud, service: Service, name: string): Promise<void> {
  const { resources, settings } = cloud;
  const there = await resources.firewalls.get(name).catch(undefinedIfAbsent);
  if (!there) return;
  await orTell(cloud, service, firewallDeletion(name, settings.networkProject), () =>
    resources.firewalls.delete(name).catch(fineIfAbsent),
  );
}
