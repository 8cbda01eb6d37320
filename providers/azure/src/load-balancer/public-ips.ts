// Public IPs of load balancers: made and given back by the provider, which knows its own by tags, or reserved by users, whose they stay.
import type { LoadBalancer, PublicIPAddress } from '@azure/arm-network';
import type { Service } from 'sagong/cloud-provider';
import { serviceKey, undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import type { Cloud } from '../cloud.ts';
import { lastOf, parseId, sameText } from '../ids.ts';
import { publicIpName } from '../names.ts';
import type { FamilyPlan, Plan } from './plan.ts';
import { familyOfIp, freshIp, givenBack, isMine, redressed } from './public-ip.ts';

export interface FoundIp {
  id: string;
  address: string;
}
/** `ids` are those that the Service's frontends name. */
export interface Release {
  group: string | undefined;
  ids: readonly string[];
  keep: readonly string[];
}

const found = (ip: PublicIPAddress | undefined, name: string): FoundIp => {
  if (!ip?.id || !ip.ipAddress) throw new Error(`public IP ${name} has no address yet`);
  return { id: ip.id, address: ip.ipAddress };
};

/** Public IPs of the cluster's group, and of all groups in which a frontend of these load balancers has one. */
export async function frontedIps(
  { arm, settings }: Pick<Cloud, 'arm' | 'settings'>,
  balancers: readonly LoadBalancer[],
  signal?: AbortSignal,
): Promise<PublicIPAddress[]> {
  const ids = balancers.flatMap(({ frontendIPConfigurations = [] }) =>
    frontendIPConfigurations.map(({ publicIPAddress }) => parseId(publicIPAddress?.id)?.group),
  );
  const groups = new Map([settings.group, ...ids].flatMap((group) => (group ? [[group.toLowerCase(), group] as const] : [])));
  const lists = await Promise.all(
    [...groups.values()].map((group) => arm.publicIps.list(group, signal).catch(undefinedIfAbsent)),
  );
  return lists.flatMap((list) => list ?? []);
}

export class PublicIps {
  readonly #cloud: Cloud;

  constructor(cloud: Cloud) {
    this.#cloud = cloud;
  }
  /** The public IP for one family of a Service, made or brought in line. */
  async ensure(cluster: string, plan: Plan, wanted: FamilyPlan, signal?: AbortSignal): Promise<FoundIp> {
    const { settings, stores } = this.#cloud;
    const group = plan.pipGroup ?? settings.group;
    const { pipName, pipPrefixId, ip, family } = wanted;
    if (pipName !== undefined) {
      const there = await this.#dress(group, pipName, plan, signal);
      if (!there)
        throw new Error(`PublicIP from annotation azure-pip-name(-IPv6)=${pipName} for service ${plan.key} doesn't exist`);
      if (familyOfIp(there) !== family) throw new Error(`public IP ${pipName} is not of ${family}`);
      return found(there, pipName);
    }
    if (pipPrefixId === undefined && ip !== undefined) {
      const { name = '' } = await this.#byAddress(group, ip, signal);
      return found(await this.#dress(group, name, plan, signal), name);
    }
    const name = publicIpName(cluster, plan.service, family, pipPrefixId);
    const change = (there: PublicIPAddress | undefined) =>
      redressed(there ?? freshIp(settings, cluster, plan, wanted), settings, plan);
    return found(await stores.publicIps.change(group, name, change, signal), name);
  }
  async at(id: string | undefined, signal?: AbortSignal): Promise<PublicIPAddress | undefined> {
    const parsed = parseId(id);
    return parsed && this.#cloud.arm.publicIps.get(parsed.group, parsed.names[0] ?? '', signal).catch(undefinedIfAbsent);
  }
  /** Whether one belongs to the Service by name or tag. */
  async anyOf(cluster: string, service: Service, group: string | undefined, signal?: AbortSignal): Promise<boolean> {
    return (await this.#candidates(cluster, service, group, signal)).some((ip) => isMine(ip, cluster, service));
  }
  /** Gives back what the Service has, but for what it keeps. */
  async release(cluster: string, service: Service, { group, ids, keep }: Release, signal?: AbortSignal): Promise<void> {
    const candidates = await this.#candidates(cluster, service, group, signal);
    const mine = candidates.filter((ip) => isMine(ip, cluster, service)).map(({ id = '' }) => id);
    const kept = (id: string): boolean => keep.some((one) => sameText(one, id));
    const going = new Map([...ids, ...mine].filter((id) => id !== '' && !kept(id)).map((id) => [id.toLowerCase(), id]));
    const change = (there: PublicIPAddress | undefined) => there && givenBack(there, cluster, serviceKey(service));
    for (const id of going.values())
      await this.#cloud.stores.publicIps.change(parseId(id)?.group ?? '', lastOf(id), change, signal);
  }
  /** Brings one that exists in line. Undefined: there is none. */
  #dress(group: string, name: string, plan: Plan, signal?: AbortSignal): Promise<PublicIPAddress | undefined> {
    const { settings, stores } = this.#cloud;
    return stores.publicIps.change(group, name, (there) => there && redressed(there, settings, plan), signal);
  }
  async #byAddress(group: string, address: string, signal?: AbortSignal): Promise<PublicIPAddress> {
    const there = (await this.#cloud.arm.publicIps.list(group, signal)).find(({ ipAddress }) => sameText(ipAddress, address));
    if (!there) throw new Error(`user supplied IP Address ${address} was not found in resource group ${group}`);
    return there;
  }
  /** Lists are a little late, so the usual names are asked for as well. */
  async #candidates(
    cluster: string,
    service: Service,
    group: string | undefined,
    signal?: AbortSignal,
  ): Promise<PublicIPAddress[]> {
    const { arm, settings } = this.#cloud;
    const groups = [...new Set([group ?? settings.group, settings.group])];
    const dual: Service = { ...service, spec: { ...service.spec, ipFamilies: ['IPv4', 'IPv6'] } };
    const usual = (['IPv4', 'IPv6'] as const).map((family) => publicIpName(cluster, dual, family, undefined));
    const named = await Promise.all(
      groups.flatMap((one) => usual.map((name) => arm.publicIps.get(one, name, signal).catch(undefinedIfAbsent))),
    );
    // A group that an annotation names may not exist.
    const lists = await Promise.all(groups.map((one) => arm.publicIps.list(one, signal).catch(undefinedIfAbsent)));
    return [...named, ...lists.flat()].filter((ip) => ip !== undefined);
  }
}
