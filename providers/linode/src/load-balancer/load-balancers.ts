// Load balancers of Services: NodeBalancers.
import { type LoadBalancer, type Node, retryAfterOf, type Service, withoutForeignNodes } from 'sagong/cloud-provider';
import { during, sameSet, serviceKey, uidOf } from 'sagong/cloud-provider/kit';
import { isAddressRefused, isRefused } from '../api/errors.ts';
import type { NodeBalancer } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { balancerLabel, providerName, serviceTag } from '../names.ts';
import { appearing, notSettled } from './appear.ts';
import { backendsOf, existing } from './backends.ts';
import { ensureConfigs, type WantedConfig, wantedConfigs } from './configs.ts';
import { allBalancers, findBalancers } from './find.ts';
import { deleteFirewalls, ensureFirewall, firewallForNew, ownFirewalls } from './firewalls.ts';
import { type BalancerPlan, balancerPlan, preserves, releasesAddress } from './plan.ts';
import { warnOfFixed } from './service-notes.ts';
import { statusOf } from './status.ts';
import { backendSubnetId, vpcRequests } from './vpc-plan.ts';

/** Does it with these nodes; when the API refuses the address of one, its Linode may be gone, and the others are tried. */
async function withLiveNodes<T>(cloud: Cloud, nodes: readonly Node[], work: (nodes: readonly Node[]) => Promise<T>): Promise<T> {
  try {
    return await work(nodes);
  } catch (error) {
    if (!isAddressRefused(error)) throw error;
    const live = await existing(cloud, nodes);
    if (live.length === nodes.length) throw error;
    return work(live);
  }
}

async function configsFor(cloud: Cloud, plan: BalancerPlan, nodes: readonly Node[]) {
  const subnetId = await backendSubnetId(plan.vpcs, cloud.vpcs, cloud.flags, cloud.signal);
  const backends = backendsOf(cloud, nodes, { usesIpv6: plan.usesIpv6, subnetId });
  return { subnetId, configs: await wantedConfigs(cloud, plan, backends) };
}

interface Made {
  balancer: NodeBalancer;
  /** Just as it was asked for; otherwise it was there. */
  isNew: boolean;
}

/** Makes it whole in one request. */
async function create(cloud: Cloud, plan: BalancerPlan, nodes: readonly Node[]): Promise<Made> {
  const { api, settings, unsettled } = cloud;
  const { label, tags, throttle, type, reservedAddress, service } = plan;
  const { subnetId, configs } = await configsFor(cloud, plan, nodes);
  const vpcs = await vpcRequests(plan.vpcs, subnetId, cloud.vpcs, cloud.signal);
  unsettled.begin(uidOf(service));
  const firewallId = await firewallForNew(cloud, plan);
  const request = {
    label,
    region: settings.region,
    client_conn_throttle: throttle,
    tags,
    type,
    ...vpcs,
    ...(reservedAddress !== undefined && { ipv4: reservedAddress }),
    ...(firewallId !== undefined && { firewall_id: firewallId }),
    configs: configs.map(({ config, nodes: backends }: WantedConfig) => ({ ...config, nodes: backends })),
  };
  try {
    return await appearing(cloud, {
      what: `NodeBalancer ${label}`,
      make: async (): Promise<Made> => ({ balancer: await api.createBalancer(request), isNew: true }),
      find: async () => {
        const named = (await api.balancers({ label })).filter((one) => one.label === label);
        const balancer = named.find(({ id }) => !unsettled.isDeleted(`balancer ${id}`));
        return balancer && { balancer, isNew: false };
      },
    });
  } catch (error) {
    // The API refused the request, so no NodeBalancer was made; a firewall that was made before is found again by its tag.
    if (isRefused(error) && retryAfterOf(error) === undefined) unsettled.end(uidOf(service));
    throw error;
  }
}

/** Firewalls before ports: a new port is not open to those who are not let in. */
async function bringInLine(cloud: Cloud, plan: BalancerPlan, there: NodeBalancer, nodes: readonly Node[]): Promise<void> {
  await warnOfFixed(cloud, plan, there);
  const { configs } = await configsFor(cloud, plan, nodes);
  await ensureFirewall(cloud, plan, there.id, there.tags);
  const changes = {
    ...(there.client_conn_throttle !== plan.throttle && { client_conn_throttle: plan.throttle }),
    ...(!sameSet(there.tags, plan.tags) && { tags: plan.tags }),
  };
  if (Object.keys(changes).length > 0) await cloud.api.updateBalancer(there.id, changes);
  await ensureConfigs(cloud, there.id, configs);
}

async function deleteBalancer({ api, unsettled }: Cloud, id: number): Promise<void> {
  await api.deleteBalancer(id);
  unsettled.deleted(`balancer ${id}`);
}

async function deleteOld(cloud: Cloud, service: Service, old: readonly NodeBalancer[]): Promise<void> {
  if (!preserves(service)) for (const { id } of old) await deleteBalancer(cloud, id);
}

async function ensure(cloud: Cloud, cluster: string, service: Service, nodes: readonly Node[]) {
  const plan = balancerPlan(cluster, service, cloud.flags);
  const { current, old } = await findBalancers(cloud, service);
  const { balancer, isNew } = current
    ? { balancer: current, isNew: false }
    : await withLiveNodes(cloud, nodes, (live) => create(cloud, plan, live));
  if (!isNew) {
    cloud.unsettled.end(uidOf(service));
    await withLiveNodes(cloud, nodes, (live) => bringInLine(cloud, plan, balancer, live));
  }
  await deleteOld(cloud, service, old);
  return statusOf(service, balancer, cloud.settings, cloud.flags);
}

async function update(cloud: Cloud, cluster: string, service: Service, nodes: readonly Node[]): Promise<void> {
  const plan = balancerPlan(cluster, service, cloud.flags);
  const { current } = await findBalancers(cloud, service);
  if (!current) throw new Error(`LoadBalancer not found for service (${serviceKey(service)})`);
  await withLiveNodes(cloud, nodes, async (live) => {
    const { configs } = await configsFor(cloud, plan, live);
    await ensureConfigs(cloud, current.id, configs);
  });
}

/** Left to its owner, without the mark of a Service that is gone: another one may take it over. */
async function preserve({ api }: Cloud, service: Service, { id, tags }: NodeBalancer): Promise<void> {
  const tag = serviceTag(service);
  if (tags.includes(tag)) await api.updateBalancer(id, { tags: tags.filter((one) => one !== tag) });
}

async function remove(cloud: Cloud, service: Service): Promise<void> {
  const { api, unsettled } = cloud;
  const balancers = await allBalancers(cloud, service);
  if (preserves(service)) {
    for (const one of balancers) await preserve(cloud, service, one);
    return;
  }
  if (balancers.length === 0 && unsettled.has(uidOf(service))) throw notSettled('its NodeBalancer');
  const firewalls = [];
  for (const { id, ipv4 } of balancers) {
    firewalls.push(...(await api.firewallsOf(id)));
    // While it is still in use, so that its address is known; it goes with the NodeBalancer then.
    if (releasesAddress(service)) await api.releaseAddress(ipv4);
    await deleteBalancer(cloud, id);
    unsettled.end(uidOf(service));
  }
  const ids = balancers.map(({ id }) => id);
  await deleteFirewalls(cloud, service, firewalls, ids);
}

/** `open`: what is worked with in one call, bound to the caller's signal. */
export function createLoadBalancers(open: (signal?: AbortSignal) => Cloud): LoadBalancer {
  const inTurn = <T>(service: Service, signal: AbortSignal | undefined, work: (cloud: Cloud) => Promise<T>): Promise<T> => {
    const cloud = open(signal);
    const what = `load balancer of ${serviceKey(service)}`;
    return cloud.turn(uidOf(service), () => work(cloud), signal).catch(during(what));
  };
  return {
    async getLoadBalancer(_cluster, service, signal) {
      const cloud = open(signal);
      const [current] = await allBalancers(cloud, service);
      if (current) return statusOf(service, current, cloud.settings, cloud.flags);
      const isLeft = cloud.unsettled.has(uidOf(service)) || (await ownFirewalls(cloud, service)).length > 0;
      return isLeft ? {} : undefined;
    },
    getLoadBalancerName: (_cluster, service) => balancerLabel(open().flags.prefix, service),
    ensureLoadBalancer: (cluster, service, nodes, signal) =>
      inTurn(service, signal, (cloud) => ensure(cloud, cluster, service, withoutForeignNodes(providerName, nodes))),
    updateLoadBalancer: (cluster, service, nodes, signal) =>
      inTurn(service, signal, (cloud) => update(cloud, cluster, service, withoutForeignNodes(providerName, nodes))),
    ensureLoadBalancerDeleted: (_cluster, service, signal) => inTurn(service, signal, (cloud) => remove(cloud, service)),
  };
}
