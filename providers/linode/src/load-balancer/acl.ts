// Who may reach a NodeBalancer, as rules of a Cloud Firewall: the annotation `firewall-acl`, else the Service's source ranges. Pure.
import { type Service, sourceRangesOf } from 'sagong/cloud-provider';
import { annotation, prefix, read } from '../annotations.ts';
import type { FirewallRule, FirewallRules } from '../api/types.ts';
import {
  addressesOfRuleMax,
  labelCharactersMax,
  portsOfRuleMax,
  ruleDescriptionCharactersMax,
  rulesOfFirewallMax,
} from '../limits.ts';
import type { PortPlan } from './ports.ts';

interface Addresses {
  ipv4: string[];
  ipv6: string[];
}
interface Acl {
  action: 'ACCEPT' | 'DROP';
  addresses: Addresses;
}

const name = prefix + annotation.firewallAcl;

/**
 * The fields of an object, named without regard to case, as Go reads them. Throws for anything else, and for a field that is not `known`: who
 * misspells a list must not get a firewall that lets everybody in.
 */
function fieldsOf<K extends string>(value: unknown, what: string, known: readonly K[]): Partial<Record<K, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`annotation ${name}: ${what} must be an object with ${known.join(' or ')}`);
  const named = Object.entries(value).map(([key, entry]): [K, unknown] => {
    const field = known.find((one) => one.toLowerCase() === key.toLowerCase());
    if (field === undefined)
      throw new Error(`annotation ${name}: ${what} has no field ${JSON.stringify(key)}: ${known.join(', ')}`);
    return [field, entry ?? undefined];
  });
  return Object.fromEntries(named) as Partial<Record<K, unknown>>;
}

function addressesIn(value: unknown, what: string): Addresses {
  const { ipv4 = [], ipv6 = [] } = fieldsOf(value, what, ['ipv4', 'ipv6']);
  const isList = (list: unknown): list is string[] => Array.isArray(list) && list.every((one) => typeof one === 'string');
  if (!isList(ipv4) || !isList(ipv6)) throw new Error(`annotation ${name}: ipv4 and ipv6 must be lists of addresses`);
  if (ipv4.length + ipv6.length === 0) throw new Error(`annotation ${name}: ${what} has no addresses`);
  return { ipv4, ipv6 };
}

function annotatedAcl(service: Service): Acl | undefined {
  const value = read(service).json(annotation.firewallAcl);
  if (value === undefined) return undefined;
  const { allowList, denyList } = fieldsOf(value, 'its value', ['allowList', 'denyList']);
  if ((allowList === undefined) === (denyList === undefined))
    throw new Error(`annotation ${name}: specify either an allowList or a denyList for a firewall`);
  return allowList === undefined
    ? { action: 'DROP', addresses: addressesIn(denyList, 'denyList') }
    : { action: 'ACCEPT', addresses: addressesIn(allowList, 'allowList') };
}

function rangesAcl(service: Service): Acl | undefined {
  const ranges = sourceRangesOf(service);
  if (ranges.includes('0.0.0.0/0')) return undefined;
  const [ipv4, ipv6] = [ranges.filter((one) => !one.includes(':')), ranges.filter((one) => one.includes(':'))];
  return { action: 'ACCEPT', addresses: { ipv4, ipv6 } };
}

const chunks = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));

/** One list of addresses for each rule. */
function addressLists({ ipv4, ipv6 }: Addresses): FirewallRule['addresses'][] {
  if (ipv4.length + ipv6.length === 0) return [];
  if (ipv4.length + ipv6.length <= addressesOfRuleMax)
    return [{ ...(ipv4.length > 0 && { ipv4 }), ...(ipv6.length > 0 && { ipv6 }) }];
  return [
    ...chunks(ipv4, addressesOfRuleMax).map((chunk) => ({ ipv4: chunk })),
    ...chunks(ipv6, addressesOfRuleMax).map((chunk) => ({ ipv6: chunk })),
  ];
}

const descriptionStart = 'Created by linode-ccm: ';

/** Whether a manager has made this firewall, this one or linode-cloud-controller-manager. */
export const isMade = ({ inbound }: Pick<FirewallRules, 'inbound'>): boolean =>
  inbound.some(({ description }) => description?.includes(descriptionStart));

/** The rules of the firewall that a Service asks for; undefined where it asks for none. Throws for what no firewall can say. */
export function firewallRulesOf(service: Service, ports: readonly PortPlan[], label: string): FirewallRules | undefined {
  const acl = annotatedAcl(service) ?? rangesAcl(service);
  if (!acl) return undefined;
  const isUdp = ({ config }: PortPlan): boolean => config.protocol === 'udp';
  const groups = [
    { protocol: 'TCP' as const, ports: ports.filter((port) => !isUdp(port)) },
    { protocol: 'UDP' as const, ports: ports.filter(isUdp) },
  ];
  const lists = addressLists(acl.addresses);
  const cut = (text: string): string =>
    text.length > ruleDescriptionCharactersMax ? `${text.slice(0, ruleDescriptionCharactersMax - 3)}...` : text;
  const inbound = groups.flatMap((group) =>
    chunks(group.ports, portsOfRuleMax).flatMap((some) =>
      lists.map((addresses, index): FirewallRule => {
        const number = lists.length > 1 ? `Rule ${index}, ` : '';
        return {
          action: acl.action,
          label: `${acl.action}-${service.metadata.name}`.slice(0, labelCharactersMax).replace(/[-.]+$/, ''),
          description: cut(`${number}${descriptionStart}${label}, for ${service.metadata.name}`),
          protocol: group.protocol,
          ports: some.map(({ config }) => config.port).join(','),
          addresses,
        };
      }),
    ),
  );
  if (inbound.length > rulesOfFirewallMax) throw new Error('too many IPs in this ACL, will exceed rules per firewall limit');
  return {
    inbound,
    inbound_policy: acl.action === 'ACCEPT' ? 'DROP' : 'ACCEPT',
    outbound: [],
    outbound_policy: 'ACCEPT',
  };
}

const sorted = (list: readonly string[] = []): string[] => list.toSorted();
const ruleKey = ({ action, protocol, ports, addresses }: FirewallRule): string =>
  JSON.stringify([
    action,
    protocol,
    sorted(ports.replaceAll(' ', '').split(',')),
    sorted(addresses.ipv4 ?? []),
    sorted(addresses.ipv6 ?? []),
  ]);

/** Whether a firewall lets through what it should, whatever its rules are called. */
export const saysTheSame = (there: FirewallRules, wanted: FirewallRules): boolean =>
  there.inbound_policy === wanted.inbound_policy &&
  JSON.stringify(there.inbound.map(ruleKey)) === JSON.stringify(wanted.inbound.map(ruleKey));
