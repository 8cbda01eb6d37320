// What a Service wants of its NodeBalancer. Pure.
import type { Service } from 'sagong/cloud-provider';
import { refuseIpv6Only } from 'sagong/cloud-provider/kit';
import { annotation, booleanOf, idOf, read, wordOf } from '../annotations.ts';
import type { FirewallRules } from '../api/types.ts';
import { type BalancerType, balancerTypes, type FlagValues } from '../config/flags.ts';
import { throttleMax } from '../limits.ts';
import { balancerLabel, firewallTag, serviceTag } from '../names.ts';
import { firewallRulesOf } from './acl.ts';
import { type PortPlan, portPlan } from './ports.ts';
import { type VpcPlan, vpcPlan } from './vpc-plan.ts';

export interface BalancerPlan {
  service: Service;
  label: string;
  tags: string[];
  throttle: number;
  type: BalancerType;
  /** The Service says so; otherwise what is there stays. */
  typeIsGiven: boolean;
  ports: PortPlan[];
  /** An existing firewall, which goes before rules. */
  firewallId?: number;
  rules?: FirewallRules;
  reservedAddress?: string;
  usesIpv6: boolean;
  vpcs: VpcPlan;
}

/** Values out of range are the nearest ones inside, as upstream has it. */
function throttleOf(service: Service): number {
  const asked = read(service).integer(annotation.throttle) ?? 0;
  return Math.min(Math.max(asked, 0), throttleMax);
}

function portsOf(service: Service): PortPlan[] {
  const plans = (service.spec?.ports ?? []).map((port) => portPlan(service, port));
  const taken = new Set<string>();
  for (const { config } of plans) {
    const key = `${config.protocol === 'udp' ? 'UDP' : 'TCP'} ${config.port}`;
    if (taken.has(key)) throw new Error(`a NodeBalancer cannot serve port ${config.port} twice`);
    taken.add(key);
  }
  return plans;
}

export const preserves = (service: Service): boolean => booleanOf(service, annotation.preserve) ?? false;
export const releasesAddress = (service: Service): boolean => booleanOf(service, annotation.retainAddress) === false;

/** Throws for a Service that cannot be served, with what its owner must change. */
export function balancerPlan(cluster: string, service: Service, flags: FlagValues): BalancerPlan {
  const label = balancerLabel(flags.prefix, service);
  const ports = portsOf(service);
  const firewallId = idOf(service, annotation.firewallId);
  const rules = firewallId === undefined ? firewallRulesOf(service, ports, label) : undefined;
  const type = wordOf(service, annotation.type, balancerTypes);
  const reservedAddress = read(service).text(annotation.reservedAddress);
  const usesIpv6 = booleanOf(service, annotation.ipv6Backends) ?? flags.ipv6Backends;
  if (!usesIpv6) refuseIpv6Only(service);
  const wished = [cluster, ...flags.balancerTags, ...read(service).list(annotation.tags)].filter((tag) => tag !== '');
  const own = [serviceTag(service), ...(firewallId === undefined ? [] : [firewallTag(firewallId)])];
  return {
    service,
    label,
    tags: [...new Set([...wished, ...own])],
    throttle: throttleOf(service),
    type: type ?? flags.defaultType,
    typeIsGiven: type !== undefined,
    ports,
    ...(firewallId !== undefined && { firewallId }),
    ...(rules && { rules }),
    ...(reservedAddress !== undefined && { reservedAddress }),
    usesIpv6,
    vpcs: vpcPlan(service, flags, usesIpv6),
  };
}
