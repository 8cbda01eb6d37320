// Rules of security groups as flat data: one protocol, one range of ports, one source. EC2 shows them grouped and compares them without their
// description. Pure.
import type { IpPermission } from '@aws-sdk/client-ec2';
import { canonicalRange } from 'sagong/cloud-provider/kit';

export interface Rule {
  /** `tcp`, `udp`, `icmp`; `-1`: all. */
  protocol: string;
  from?: number | undefined;
  to?: number | undefined;
  source: { cidr: string } | { cidr6: string } | { group: string } | { prefixList: string };
  description?: string | undefined;
}

/** A text that is equal for rules that are the same to EC2. */
export const ruleKey = ({ protocol, from, to, source }: Rule): string => JSON.stringify([protocol, from ?? -1, to ?? -1, source]);

/** All single rules in what EC2 shows. */
export const rulesIn = (permissions: readonly IpPermission[] = []): Rule[] =>
  permissions.flatMap(({ IpProtocol = '-1', FromPort, ToPort, IpRanges, Ipv6Ranges, UserIdGroupPairs, PrefixListIds }) => {
    const rule = (source: Rule['source'], description: string | undefined): Rule => ({
      protocol: IpProtocol,
      from: FromPort,
      to: ToPort,
      source,
      description,
    });
    return [
      ...(IpRanges ?? []).map((each) => rule({ cidr: each.CidrIp ?? '' }, each.Description)),
      ...(Ipv6Ranges ?? []).map((each) => rule({ cidr6: each.CidrIpv6 ?? '' }, each.Description)),
      ...(UserIdGroupPairs ?? []).map((each) => rule({ group: each.GroupId ?? '' }, each.Description)),
      ...(PrefixListIds ?? []).map((each) => rule({ prefixList: each.PrefixListId ?? '' }, each.Description)),
    ];
  });

function sourceField({ source, description }: Rule): Partial<IpPermission> {
  const more = description === undefined ? {} : { Description: description };
  if ('cidr' in source) return { IpRanges: [{ CidrIp: source.cidr, ...more }] };
  if ('cidr6' in source) return { Ipv6Ranges: [{ CidrIpv6: source.cidr6, ...more }] };
  if ('group' in source) return { UserIdGroupPairs: [{ GroupId: source.group, ...more }] };
  return { PrefixListIds: [{ PrefixListId: source.prefixList, ...more }] };
}

export const permissionsOf = (rules: readonly Rule[]): IpPermission[] =>
  rules.map((rule) => ({ IpProtocol: rule.protocol, FromPort: rule.from, ToPort: rule.to, ...sourceField(rule) }));

/** The rules of `left` that are not in `right`, each once. */
export function without(left: readonly Rule[], right: readonly Rule[]): Rule[] {
  const seen = new Set(right.map(ruleKey));
  return left.filter((rule) => {
    const key = ruleKey(rule);
    return !seen.has(key) && seen.add(key);
  });
}

/** `10.1.2.3/8` is `10.0.0.0/8` to EC2, which would otherwise be taken for another range for ever. What is no range is left to EC2 to refuse. */
export const canonicalCidr = (cidr: string): string => canonicalRange(cidr) ?? cidr.toLowerCase();

export const fromCidr = (cidr: string): Rule['source'] =>
  cidr.includes(':') ? { cidr6: canonicalCidr(cidr) } : { cidr: canonicalCidr(cidr) };

/** «Fragmentation needed» (RFC 792, type 3 code 4), without which paths with a smaller MTU stall. */
export const pathMtuRule = (cidr: string, description?: string): Rule => ({
  protocol: 'icmp',
  from: 3,
  to: 4,
  source: fromCidr(cidr),
  ...(description !== undefined && { description }),
});

/** The rules that let clients reach the ports of a load balancer. IPv6 ranges get no ICMP rule, because the protocol has another number there. */
export const frontRules = (ports: readonly { port: number; protocol: string }[], sources: readonly string[]): Rule[] =>
  without(
    [
      ...ports.flatMap(({ port, protocol }) =>
        sources.map((cidr): Rule => ({ protocol: protocol.toLowerCase(), from: port, to: port, source: fromCidr(cidr) })),
      ),
      ...sources.filter((cidr) => !cidr.includes(':')).map((cidr) => pathMtuRule(cidr)),
    ],
    [],
  );
