// Whom a network security group lets in to an address and a port, by its rules and Azure's default ones
// (https://learn.microsoft.com/azure/virtual-network/network-security-groups-overview#default-security-rules). Pure.
import { BlockList } from 'node:net';
import { Refusal } from 'sagong/cloud-provider/test-server';
import { type Part, partsOf, type Resource } from './resource.ts';

export interface Target {
  address: string;
  protocol: 'tcp' | 'udp';
  port: number;
}

const listed = ({ properties = {} }: Part, one: string, many: string): string[] => {
  const single = properties[one] as string | undefined;
  return [...(single ? [single] : []), ...((properties[many] as string[] | undefined) ?? [])];
};

function lies(address: string, prefix: string): boolean {
  const [network = '', bits = '32'] = prefix.split('/');
  if (!/^[\d.]+$/.test(network)) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(bits));
  return list.check(address);
}

function isFor(rule: Part, { address, protocol, port }: Target): boolean {
  const { direction, protocol: of } = rule.properties ?? {};
  const covers = (text: string): boolean => {
    const [from = 0, to = from] = text.split('-').map(Number);
    return text === '*' || (from <= port && port <= to);
  };
  return (
    direction === 'Inbound' &&
    ['*', protocol].includes(String(of).toLowerCase()) &&
    listed(rule, 'destinationPortRange', 'destinationPortRanges').some(covers) &&
    listed(rule, 'destinationAddressPrefix', 'destinationAddressPrefixes').some(
      (prefix) => prefix === '*' || lies(address, prefix),
    )
  );
}

/** IPv4 ranges. `network`: what the tag VirtualNetwork stands for; `isInside`: the address is of that network. */
export function letIn(group: Resource | undefined, target: Target, network: readonly string[], isInside: boolean): string[] {
  const ranges = new Set<string>();
  const add = (source: string): void => {
    if (source === '*' || source === 'Internet') ranges.add('0.0.0.0/0');
    else if (source === 'VirtualNetwork') for (const range of network) ranges.add(range);
    else if (/^[\d.]+(\/\d+)?$/.test(source)) ranges.add(source.includes('/') ? source : `${source}/32`);
    // Checks of the local cloud come anyway, and nobody comes by IPv6.
    else if (source !== 'AzureLoadBalancer' && !source.includes(':'))
      throw new Refusal(400, 'SecurityRuleInvalidAddressPrefix', `The local cloud has no service tag ${source}.`);
  };
  const rules = partsOf(group, 'securityRules').filter((rule) => isFor(rule, target));
  for (const rule of rules.sort((a, b) => Number(a.properties?.['priority']) - Number(b.properties?.['priority']))) {
    const sources = listed(rule, 'sourceAddressPrefix', 'sourceAddressPrefixes');
    if (rule.properties?.['access'] === 'Allow') for (const source of sources) add(source);
    else if (sources.includes('*')) return [...ranges].sort();
    else
      throw new Refusal(
        400,
        'SecurityRuleInvalidAccess',
        `The local cloud cannot deny some clients only, as rule ${rule.name} does.`,
      );
  }
  if (isInside) add('VirtualNetwork');
  return [...ranges].sort();
}
