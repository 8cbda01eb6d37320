// Rules of a network security group that let clients through to load balancers, in the form that upstream gives them: those with the same sources,
// protocol and ports are one rule for many addresses. A change is a new list. Pure.
import { familyOf } from 'sagong/cloud-provider/kit';
import { createHash } from 'node:crypto';
import type { SecurityRule } from '@azure/arm-network';
import { priorityMax, priorityMin, securityAddressesMax, securityRulesMax } from '../limits.ts';
import type { Family } from '../names.ts';

/** `Tcp`, `Udp`; `*` for SCTP, which security rules do not know. */
export type RuleProtocol = 'Tcp' | 'Udp' | '*';
export const ruleProtocols: Readonly<Record<string, RuleProtocol>> = { TCP: 'Tcp', UDP: 'Udp', SCTP: '*' };

export interface Allowance {
  protocol: RuleProtocol;
  family: Family;
  sources: readonly string[];
  ports: readonly number[];
  destinations: readonly string[];
}

const namePrefix = 'k8s-azure-lb';
const isManaged = ({ name = '', priority = 0 }: SecurityRule): boolean =>
  name.startsWith(namePrefix) && priority >= priorityMin && priority <= priorityMax;

const listed = (one: string | undefined, many: readonly string[] | undefined): string[] => [
  ...(one ? [one] : []),
  ...(many ?? []),
];
export const destinationsOf = ({ destinationAddressPrefix, destinationAddressPrefixes }: SecurityRule): string[] =>
  listed(destinationAddressPrefix, destinationAddressPrefixes);
const sourcesOf = ({ sourceAddressPrefix, sourceAddressPrefixes }: SecurityRule): string[] =>
  listed(sourceAddressPrefix, sourceAddressPrefixes);
/** The ports of a rule; undefined where it has ranges, which the provider does not write. */
function portsOf({ destinationPortRange, destinationPortRanges }: SecurityRule): number[] | undefined {
  const all = listed(destinationPortRange, destinationPortRanges).map(Number);
  return all.every(Number.isInteger) ? all : undefined;
}

const withDestinations = (rule: SecurityRule, addresses: readonly string[]): SecurityRule => {
  const all = [...new Set(addresses)].sort();
  return {
    ...rule,
    destinationAddressPrefix: all.length === 1 ? all[0] : undefined,
    destinationAddressPrefixes: all.length === 1 ? undefined : all,
  };
};

/** Sources and ports in the order of their text, as upstream sorts them: the name follows from it. */
export function allowName({ protocol, family, sources, ports }: Omit<Allowance, 'destinations'>): string {
  const text = [protocol, sources.toSorted().join(','), ports.map(String).sort().join(',')].join('_');
  return `${namePrefix}_allow_${family}_${createHash('md5').update(text).digest('hex')}`;
}
export const denyName = (family: Family): string => `${namePrefix}_deny-all_${family}`;

/** Whether a port at an address is somebody else's; without a port, whether anything there is. */
export type Kept = (address: string, protocol?: RuleProtocol, port?: number) => boolean;

export class SecurityRules {
  readonly #before: readonly SecurityRule[];
  readonly #rules: Map<string, SecurityRule>;

  constructor(rules: readonly SecurityRule[] = []) {
    this.#before = rules;
    this.#rules = new Map(rules.map((rule) => [rule.name ?? '', rule]));
  }
  /** Lets clients through. */
  allow(allowance: Allowance): void {
    const { protocol, sources, ports, destinations } = allowance;
    if (destinations.length === 0 || ports.length === 0 || sources.length === 0) return;
    const name = allowName(allowance);
    const known = this.#rules.get(name);
    const sorted = sources.toSorted();
    const rule: SecurityRule = {
      ...known,
      name,
      priority: known?.priority ?? this.#freePriority('lowest'),
      protocol,
      access: 'Allow',
      direction: 'Inbound',
      sourcePortRange: '*',
      sourceAddressPrefix: sorted.length === 1 ? sorted[0] : undefined,
      sourceAddressPrefixes: sorted.length === 1 ? undefined : sorted,
      destinationPortRange: undefined,
      destinationPortRanges: [...new Set(ports.map(String))].sort(),
    };
    this.#rules.set(name, withDestinations(rule, [...(known ? destinationsOf(known) : []), ...destinations]));
  }
  /** Keeps everybody else out, also those of the own network. */
  deny(family: Family, destinations: readonly string[]): void {
    if (destinations.length === 0) return;
    const name = denyName(family);
    const known = this.#rules.get(name);
    const rule: SecurityRule = {
      ...known,
      name,
      priority: known?.priority ?? this.#freePriority('highest'),
      protocol: '*',
      access: 'Deny',
      direction: 'Inbound',
      sourcePortRange: '*',
      sourceAddressPrefix: '*',
      destinationPortRange: '*',
      destinationPortRanges: undefined,
    };
    this.#rules.set(name, withDestinations(rule, [...(known ? destinationsOf(known) : []), ...destinations]));
  }
  /** Takes addresses out of all rules, but for the ports that are kept there. */
  clear(addresses: readonly string[], kept: Kept): void {
    for (const rule of [...this.#rules.values()].filter(isManaged))
      for (const address of destinationsOf(rule).filter((one) => addresses.includes(one)))
        this.#clearOne(rule.name ?? '', address, kept);
  }
  /** Takes these ports away from the addresses of which `isOwn` says that it may; other ports there, and other addresses, stay. */
  clearPorts(protocol: RuleProtocol, ports: readonly number[], isOwn: (address: string) => boolean): void {
    const others: Kept = (_address, _protocol, port) => port === undefined || !ports.includes(port);
    for (const rule of [...this.#rules.values()].filter(isManaged)) {
      if (rule.access !== 'Allow' || rule.protocol !== protocol) continue;
      for (const address of destinationsOf(rule).filter(isOwn)) this.#clearOne(rule.name ?? '', address, others);
    }
  }
  #clearOne(name: string, address: string, kept: Kept): void {
    const rule = this.#rules.get(name) as SecurityRule;
    const protocol = rule.protocol as RuleProtocol;
    const left = withDestinations(
      rule,
      destinationsOf(rule).filter((one) => one !== address),
    );
    if (rule.access === 'Deny') {
      if (!kept(address)) this.#rules.set(name, left);
      return;
    }
    const ports = portsOf(rule);
    if (!ports) return;
    const others = ports.filter((port) => kept(address, protocol, port));
    if (others.length === ports.length) return;
    this.#rules.set(name, left);
    const family = familyOf(address);
    if (family) this.allow({ protocol, family, sources: sourcesOf(rule), ports: others, destinations: [address] });
  }
  #freePriority(from: 'lowest' | 'highest'): number {
    const taken = new Set([...this.#rules.values()].map(({ priority }) => priority));
    const all = Array.from({ length: priorityMax - priorityMin }, (_, index) => priorityMin + index);
    const free = (from === 'lowest' ? all : all.reverse()).find((priority) => !taken.has(priority));
    if (free === undefined) throw new Error('security rule priority exhausted');
    return free;
  }
  /** The new list; undefined: it is as it was. Throws for one that Azure would not take. */
  changed(): SecurityRule[] | undefined {
    // A rule for application security groups, or for a range, may have no addresses.
    const rules = [...this.#rules.values()].filter(
      (rule) => !isManaged(rule) || destinationsOf(rule).length > 0 || rule.destinationApplicationSecurityGroups,
    );
    const same = rules.length === this.#before.length && rules.every((rule) => sameRule(rule, this.#before));
    if (same) return undefined;
    const count = (of: (rule: SecurityRule) => readonly string[]): number =>
      rules.reduce((sum, rule) => sum + of(rule).length, 0);
    const tooMany = (what: string, there: number, max: number): void => {
      if (there > max) throw new Error(`exceeds the maximum number of ${what} (${there} > ${max})`);
    };
    tooMany('rules', rules.length, securityRulesMax);
    tooMany('source IP addresses', count(sourcesOf), securityAddressesMax);
    tooMany('destination IP addresses', count(destinationsOf), securityAddressesMax);
    return rules;
  }
}

function sameRule(rule: SecurityRule, before: readonly SecurityRule[]): boolean {
  const old = before.find(({ name }) => name === rule.name);
  if (old === rule) return true;
  if (!old) return false;
  const text = (one: SecurityRule): string =>
    JSON.stringify([
      one.priority,
      one.protocol,
      one.access,
      one.direction,
      one.sourcePortRange,
      sourcesOf(one).sort(),
      destinationsOf(one).sort(),
      listed(one.destinationPortRange, one.destinationPortRanges).sort(),
    ]);
  return text(old) === text(rule);
}
