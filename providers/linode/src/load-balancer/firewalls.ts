// Cloud Firewalls of NodeBalancers: one that an annotation names, or one of our own with the rules that the Service asks for. A firewall that no manager
// has made is attached and detached, and never changed or deleted.
import type { Service } from 'sagong/cloud-provider';
import { isRefused } from '../api/errors.ts';
import type { Firewall, FirewallRules } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { firewallIdIn, isServiceTag, serviceTag } from '../names.ts';
import { isMade, saysTheSame } from './acl.ts';
import { appearing } from './appear.ts';
import type { BalancerPlan } from './plan.ts';

const isOwn = ({ tags }: Firewall, service: Service): boolean => tags.includes(serviceTag(service));
/** Made for this Service, or by upstream's manager, which notes no Service. One that is tagged for another Service is that one's alone. */
const isManaged = (firewall: Firewall, service: Service): boolean =>
  isOwn(firewall, service) || (isMade(firewall.rules) && !firewall.tags.some(isServiceTag));

/** The firewalls that were made for a Service, attached or not. */
export const ownFirewalls = async ({ api, unsettled }: Cloud, service: Service): Promise<Firewall[]> =>
  (await api.firewalls({ tags: serviceTag(service) })).filter(
    (firewall) => isOwn(firewall, service) && !unsettled.isDeleted(`firewall ${firewall.id}`),
  );

/** Makes it, or finds the one that is there under its label. */
async function makeFirewall(cloud: Cloud, { service, label, tags }: BalancerPlan, rules: FirewallRules): Promise<Firewall> {
  const { api } = cloud;
  const made = await appearing(cloud, {
    what: `firewall ${label}`,
    make: () => api.createFirewall({ label, tags, rules }),
    find: async () =>
      (await api.firewalls({ label })).find((one) => one.label === label && !cloud.unsettled.isDeleted(`firewall ${one.id}`)),
  });
  if (!isManaged(made, service)) throw new Error(`the label ${label} is that of a firewall (${made.id}) of somebody else's`);
  return made;
}

async function withRules(cloud: Cloud, firewall: Firewall, rules: FirewallRules): Promise<number> {
  if (!saysTheSame(firewall.rules, rules)) await cloud.api.setRules(firewall.id, rules);
  return firewall.id;
}

/** The firewall that a new NodeBalancer is made with, so that it is never open to all; undefined: none is asked for. */
export async function firewallForNew(cloud: Cloud, plan: BalancerPlan): Promise<number | undefined> {
  if (plan.firewallId !== undefined || !plan.rules) return plan.firewallId;
  const [own] = await ownFirewalls(cloud, plan.service);
  return withRules(cloud, own ?? (await makeFirewall(cloud, plan, plan.rules)), plan.rules);
}

async function detach({ api }: Cloud, firewall: Firewall, balancer: number): Promise<void> {
  const devices = await api.devices(firewall.id);
  for (const { id, entity } of devices)
    if (entity.type === 'nodebalancer' && entity.id === balancer) await api.detach(firewall.id, id);
}

/**
 * Deletes what a manager has made, once nothing else uses it. `without`: NodeBalancers that it was detached from, which the API may show for a while
 * longer.
 */
async function deleteUnused(
  { api, unsettled }: Cloud,
  service: Service,
  firewall: Firewall,
  without: readonly number[],
): Promise<void> {
  if (!isManaged(firewall, service)) return;
  const others = (await api.devices(firewall.id)).filter(
    ({ entity }) => entity.type !== 'nodebalancer' || !without.includes(entity.id),
  );
  if (others.length > 0) return;
  await api.deleteFirewall(firewall.id);
  unsettled.deleted(`firewall ${firewall.id}`);
}

/** The one that is to be attached; makes it where need be. */
async function wantedFirewall(cloud: Cloud, plan: BalancerPlan, attached: readonly Firewall[]): Promise<number | undefined> {
  if (plan.firewallId !== undefined || !plan.rules) return plan.firewallId;
  const there = attached.find((one) => isManaged(one, plan.service)) ?? (await ownFirewalls(cloud, plan.service))[0];
  return withRules(cloud, there ?? (await makeFirewall(cloud, plan, plan.rules)), plan.rules);
}

/**
 * Brings the firewalls of a NodeBalancer in line. The new one is attached before the old one is detached. One that somebody attached by hand stays
 * where the Service asks for nothing. `tags`: those that the NodeBalancer had.
 */
export async function ensureFirewall(cloud: Cloud, plan: BalancerPlan, balancer: number, tags: readonly string[]): Promise<void> {
  const { api } = cloud;
  const { service } = plan;
  const attached = (await api.firewallsOf(balancer)).filter(({ id }) => !cloud.unsettled.isDeleted(`firewall ${id}`));
  const wanted = await wantedFirewall(cloud, plan, attached);
  const byAnnotation = firewallIdIn(tags);
  const surplus = attached.filter((one) => {
    if (one.id === wanted) return false;
    return wanted !== undefined || one.id === byAnnotation || isManaged(one, service);
  });
  if (wanted !== undefined && !attached.some(({ id }) => id === wanted))
    await api.attach(wanted, balancer).catch(async (error: unknown) => {
      // Where only one firewall may be active on a NodeBalancer, the old one must go first.
      if (!isRefused(error) || surplus.length === 0) throw error;
      for (const one of surplus) await detach(cloud, one, balancer);
      await api.attach(wanted, balancer);
    });
  for (const one of surplus) await detach(cloud, one, balancer);
  const unused = wanted === undefined || plan.firewallId !== undefined ? await ownFirewalls(cloud, service) : [];
  const leftovers = new Map([...surplus, ...unused].filter(({ id }) => id !== wanted).map((one) => [one.id, one]));
  for (const one of leftovers.values()) await deleteUnused(cloud, service, one, [balancer]);
}

/** Deletes the firewalls of a Service after its NodeBalancers, so that the Service is never served without its firewall. */
export async function deleteFirewalls(
  cloud: Cloud,
  service: Service,
  before: readonly Firewall[],
  balancers: readonly number[],
): Promise<void> {
  const all = new Map([...before, ...(await ownFirewalls(cloud, service))].map((one) => [one.id, one]));
  for (const one of all.values()) await deleteUnused(cloud, service, one, balancers);
}
