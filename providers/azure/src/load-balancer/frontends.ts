// Frontends of Services: with a public IP outside, with an address of a subnet inside, of their own or shared with others.
import type { FrontendIPConfiguration, LoadBalancer, Subnet } from '@azure/arm-network';
import { familyOf, isAbsent } from 'sagong/cloud-provider/kit';
import type { Cloud } from '../cloud.ts';
import { sameText } from '../ids.ts';
import { ownsPiece } from '../names.ts';
import type { FamilyPlan, Plan } from './plan.ts';
import type { PublicIps } from './public-ips.ts';
import { readRanges } from './ranges.ts';

type Config = FrontendIPConfiguration;

export interface Placed {
  config: Config;
  /** Not the one of another Service. */
  isOwn: boolean;
}

export const prefixesOf = ({ addressPrefix, addressPrefixes }: Subnet): string[] =>
  addressPrefixes ?? (addressPrefix ? [addressPrefix] : []);
/** An address within a range adds nothing to it. */
export const isWithin = (address: string, ranges: readonly string[]): boolean =>
  ranges.some((range) => readRanges([range, `${address}/${familyOf(address) === 'IPv6' ? 128 : 32}`], 'subnet').length === 1);

/** The address that the status shows, for when a frontend must be made again. */
function lastAddress({ service }: Plan, { family }: FamilyPlan, subnet: Subnet): string | undefined {
  const shown = (service.status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip);
  const ranges = prefixesOf(subnet).filter((range) => familyOf(range.split('/')[0] ?? '') === family);
  return shown.find((ip) => familyOf(ip) === family && isWithin(ip, ranges));
}

/** Frontends that have the address which is wanted, and are not of the Service itself. */
function sharedWith(there: LoadBalancer, { service, families }: Plan, config: Config): Config | undefined {
  const asked = families.find(({ frontend }) => frontend === config.name)?.ip;
  return (there.frontendIPConfigurations ?? []).find((one) => {
    if (ownsPiece(service, one.name)) return false;
    if (config.publicIPAddress) return sameText(one.publicIPAddress?.id, config.publicIPAddress.id);
    return asked !== undefined && sameText(one.privateIPAddress, asked);
  });
}
const known = (there: LoadBalancer | undefined, name: string | undefined): Config | undefined =>
  there?.frontendIPConfigurations?.find((one) => sameText(one.name, name));

/** Whether the frontend that is there keeps its address with what is wanted. */
function keepsAddress(old: Config, config: Config): boolean {
  if (config.publicIPAddress) return sameText(old.publicIPAddress?.id, config.publicIPAddress.id);
  return config.privateIPAddress === undefined || sameText(old.privateIPAddress, config.privateIPAddress);
}

/** Where a frontend goes on this load balancer. */
export function placed(there: LoadBalancer, plan: Plan, config: Config): Placed {
  const shared = sharedWith(there, plan, config);
  if (shared) return { config: shared, isOwn: false };
  const old = known(there, config.name);
  if (old) {
    // An address that was given by chance stays, unless the frontend moves to another subnet.
    const moves = plan.internal && config.privateIPAddress === undefined && !sameText(old.subnet?.id, config.subnet?.id);
    const anew: Config = moves ? { privateIPAddress: undefined, privateIPAllocationMethod: 'Dynamic' } : {};
    return { config: { ...config, ...anew, id: old.id }, isOwn: true };
  }
  const isDynamic = plan.internal && config.privateIPAddress === undefined;
  return { config: isDynamic ? { ...config, privateIPAllocationMethod: 'Dynamic' } : config, isOwn: true };
}

/** IDs of frontends that will have the same address as now. */
export const stayingIds = (there: LoadBalancer | undefined, plan: Plan, own: readonly Config[]): string[] =>
  own.flatMap((config) => {
    const shared = there && sharedWith(there, plan, config);
    const old = shared ?? known(there, config.name);
    return old?.id && (shared || keepsAddress(old, config)) ? [old.id] : [];
  });

export interface Frontends {
  /** One for each family, in their order. Makes the public IPs. */
  wanted(cluster: string, plan: Plan, signal?: AbortSignal): Promise<Config[]>;
  addressOf(config: Config, signal?: AbortSignal): Promise<string | undefined>;
}

export function createFrontends({ arm, settings: { network } }: Cloud, publicIps: PublicIps): Frontends {
  async function subnetNamed(name: string, signal?: AbortSignal): Promise<Subnet> {
    if (network.name === '' || name === '')
      throw new Error('an internal load balancer needs vnetName and subnetName in the configuration');
    return arm.subnet(network.group, network.name, name, signal).catch((error: unknown) => {
      if (!isAbsent(error)) throw error;
      throw new Error(`subnet ${network.name}/${name} does not exist`, { cause: error });
    });
  }
  return {
    async wanted(cluster, plan, signal) {
      const subnet = plan.internal ? await subnetNamed(plan.subnet ?? network.subnet, signal) : undefined;
      const configs: Config[] = [];
      for (const of of plan.families) {
        const { frontend: name, family, ip } = of;
        if (!subnet) {
          configs.push({ name, publicIPAddress: { id: (await publicIps.ensure(cluster, plan, of, signal)).id } });
          continue;
        }
        const fixed = ip ?? lastAddress(plan, of, subnet);
        configs.push({
          name,
          subnet: { id: subnet.id },
          ...(family === 'IPv6' && { privateIPAddressVersion: 'IPv6' }),
          ...(fixed !== undefined && { privateIPAddress: fixed, privateIPAllocationMethod: 'Static' }),
        });
      }
      return configs;
    },
    async addressOf({ privateIPAddress, publicIPAddress }, signal) {
      if (!publicIPAddress) return privateIPAddress;
      return publicIPAddress.ipAddress ?? (await publicIps.at(publicIPAddress.id, signal))?.ipAddress;
    },
  };
}
