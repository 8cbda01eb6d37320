// Security groups and source/destination checks as chains of the router's FORWARD. A packet that begins a connection must be let out by a group of
// the interface it comes from, and let in by one of the interface it goes to. Members of a group are known by the link a packet comes
// from or goes to, so that pods behind a member count as it. Marks instead of jumps from the first part to the second keep the number of
// paths through the chains small, which the kernel checks one by one.
import {
  loadBalancerMark,
  type NetworkInterface,
  routerToEdge,
  routerToInterface,
  type SecurityGroup,
  type SecurityGroupRule,
} from '../../model/index.ts';
import type { Rules } from './types.ts';

/** The mark of a packet that a security group lets out. */
const letOut = '0x40000000/0x40000000';
const short = (id: string): string => id.slice(id.indexOf('-') + 1).slice(0, 16);
const chain = (kind: 'IN' | 'OUT' | 'FROM' | 'TO', groupId: string): string => `VPC-${kind}-${short(groupId)}`;

function match({ protocol, fromPort, toPort }: SecurityGroupRule): string {
  if (protocol === 'all') return '';
  if (protocol === 'icmp' || (fromPort === undefined && toPort === undefined)) return `-p ${protocol} `;
  const from = fromPort ?? 1;
  const to = toPort ?? 65_535;
  return `-p ${protocol} -m ${protocol} --dport ${from === to ? from : `${from}:${to}`} `;
}

const cidrMatch = (flag: '-s' | '-d', cidr: string): string => (cidr.endsWith('/0') ? '' : `${flag} ${cidr} `);
const pass = `-j MARK --set-xmark ${letOut}`;

function ingressRules(group: SecurityGroup, known: ReadonlySet<string>): string[] {
  return group.ingress.flatMap((rule) => {
    if (rule.cidr) return [`${match(rule)}${cidrMatch('-s', rule.cidr)}-j ACCEPT`];
    return rule.groupId && known.has(rule.groupId) ? [`${match(rule)}-j ${chain('FROM', rule.groupId)}`] : [];
  });
}

function egressRules(group: SecurityGroup, known: ReadonlySet<string>): string[] {
  return group.egress.flatMap((rule) => {
    if (rule.cidr) return [`${match(rule)}${cidrMatch('-d', rule.cidr)}${pass}`];
    return rule.groupId && known.has(rule.groupId) ? [`${match(rule)}-j ${chain('TO', rule.groupId)}`] : [];
  });
}

/** Packets that are neither from nor to an interface's own address. */
const addressChecks = (interfaces: readonly NetworkInterface[]): string[] =>
  interfaces
    .filter(({ sourceDestCheck }) => sourceDestCheck)
    .flatMap(({ id, privateAddress }) => [
      `! -s ${privateAddress}/32 -i ${routerToInterface(id)} -j DROP`,
      `! -d ${privateAddress}/32 -o ${routerToInterface(id)} -j DROP`,
    ]);

/** The filter table of a VPC's router. `interfaces`: those that hang on it. */
export function filterRules(groups: readonly SecurityGroup[], interfaces: readonly NetworkInterface[]): Rules {
  const known = new Set(groups.map(({ id }) => id));
  const groupsOf = (item: NetworkInterface): string[] => item.securityGroupIds.filter((id) => known.has(id));
  const links = interfaces.map((item) => ({ link: routerToInterface(item.id), groups: groupsOf(item) }));
  const members = new Map<string, string[]>(groups.map(({ id }) => [id, []]));
  for (const { link, groups: ids } of links) for (const id of ids) members.get(id)?.push(link);
  const named = (direction: 'ingress' | 'egress'): Set<string> =>
    new Set(
      groups.flatMap((group) => group[direction].flatMap(({ groupId }) => (groupId && known.has(groupId) ? [groupId] : []))),
    );
  const chains = new Map<string, readonly string[]>();
  for (const id of named('ingress'))
    chains.set(
      chain('FROM', id),
      (members.get(id) ?? []).map((link) => `-i ${link} -j ACCEPT`),
    );
  for (const id of named('egress'))
    chains.set(
      chain('TO', id),
      (members.get(id) ?? []).map((link) => `-o ${link} ${pass}`),
    );
  for (const group of groups) {
    chains.set(chain('IN', group.id), ingressRules(group, known));
    chains.set(chain('OUT', group.id), egressRules(group, known));
  }
  chains.set('VPC-CHECK', addressChecks(interfaces));
  chains.set(
    'VPC-OUT',
    links.flatMap(({ link, groups: ids }) => ids.map((id) => `-i ${link} -j ${chain('OUT', id)}`)),
  );
  chains.set(
    'VPC-IN',
    links.flatMap(({ link, groups: ids }) => ids.map((id) => `-o ${link} -j ${chain('IN', id)}`)),
  );
  chains.set('VPC-FORWARD', [
    `-m connmark --mark 0x${loadBalancerMark.toString(16)}/0xffff -j ACCEPT`,
    '-j VPC-CHECK',
    '-m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
    // The backbone has no business between two of its own places.
    `-i ${routerToEdge} -o ${routerToEdge} -j DROP`,
    `-i ${routerToEdge} ${pass}`,
    '-j VPC-OUT',
    `-m mark ! --mark ${letOut} -j DROP`,
    `-o ${routerToEdge} -j ACCEPT`,
    '-j VPC-IN',
    '-j DROP',
  ]);
  return { hooks: ['FORWARD -j VPC-FORWARD'], chains };
}
