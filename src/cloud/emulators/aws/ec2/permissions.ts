// Rules of security groups in EC2's words and the local cloud's. EC2 has types of ICMP and many sources in one rule; the local cloud has a rule for
// each source, and keeps a type of ICMP in its description. Pure.
import type { SecurityGroupRule } from '../../../model/index.ts';
import { accountId } from '../account.ts';
import { invalid, missing, unsupported } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import type { Xml } from '../xml.ts';

const protocolNames: Readonly<Record<string, SecurityGroupRule['protocol']>> = {
  '-1': 'all',
  all: 'all',
  tcp: 'tcp',
  '6': 'tcp',
  udp: 'udp',
  '17': 'udp',
  icmp: 'icmp',
  '1': 'icmp',
};

const icmpType = /^\[icmp (-?\d+)\/(-?\d+)\] ?/;
/** Type and code; -1 is any. */
const icmpOf = ({ description = '' }: SecurityGroupRule): [number, number] => {
  const [, type = '-1', code = '-1'] = icmpType.exec(description) ?? [];
  return [Number(type), Number(code)];
};

type Traffic = Pick<SecurityGroupRule, 'protocol' | 'fromPort' | 'toPort'> & { icmp?: string };

function trafficOf(permission: Parameters): Traffic {
  const name = permission.need('IpProtocol').toLowerCase();
  const protocol = protocolNames[name];
  if (!protocol) throw unsupported(`the IP protocol ${name}`);
  if (protocol === 'all') return { protocol };
  const [from = -1, to = from] = [permission.integer('FromPort'), permission.integer('ToPort')];
  if (protocol === 'icmp') return from === -1 ? { protocol } : { protocol, icmp: `[icmp ${from}/${to}]` };
  if (from === -1 || (from === 0 && to === 65_535)) return { protocol };
  if (from === 0) throw unsupported('a range of ports that begins at 0 and is not the whole');
  if (from < 0 || to > 65_535 || to < from) throw invalid(`Invalid value '${from}-${to}' for a range of ports`);
  return { protocol, fromPort: from, toPort: to };
}

function rulesOf(permission: Parameters): SecurityGroupRule[] {
  const { icmp, ...traffic } = trafficOf(permission);
  const described = (text: string | undefined): { description?: string } => {
    const description = [icmp, text].filter(Boolean).join(' ');
    return description === '' ? {} : { description };
  };
  if (permission.parts('Ipv6Ranges').length > 0) throw unsupported('IPv6');
  if (permission.parts('PrefixListIds').length > 0) throw unsupported('prefix lists');
  const ranges = permission
    .parts('IpRanges')
    .map((range) => ({ ...traffic, cidr: range.need('CidrIp'), ...described(range.get('Description')) }));
  const groups = permission.parts('Groups').map((group) => {
    const groupId = group.get('GroupId');
    if (groupId === undefined) throw unsupported('a group named by anything but its id');
    return { ...traffic, groupId, ...described(group.get('Description')) };
  });
  return [...ranges, ...groups];
}

/** The rules that a request names, one for each source. Throws when there is none. */
export function rulesIn(parameters: Parameters): SecurityGroupRule[] {
  const flat = parameters.has('IpProtocol') ? flatRule(parameters) : [];
  const rules = [...parameters.parts('IpPermissions').flatMap(rulesOf), ...flat];
  if (rules.length === 0) throw missing('IpPermissions');
  return rules;
}

/** One rule without a list, as command lines send it. */
function flatRule(parameters: Parameters): SecurityGroupRule[] {
  const { icmp, ...traffic } = trafficOf(parameters);
  return [{ ...traffic, cidr: parameters.need('CidrIp'), ...(icmp !== undefined && { description: icmp }) }];
}

const keyOf = ({ protocol, fromPort, toPort }: SecurityGroupRule): string => `${protocol} ${fromPort} ${toPort ?? fromPort}`;
const sourceOf = ({ cidr, groupId }: SecurityGroupRule): string => cidr ?? groupId ?? '';

/** Whether the local cloud takes both for one: it does not look at types of ICMP. */
export const sameRule = (a: SecurityGroupRule, b: SecurityGroupRule): boolean =>
  keyOf(a) === keyOf(b) && sourceOf(a) === sourceOf(b);
export const sameIcmp = (a: SecurityGroupRule, b: SecurityGroupRule): boolean => icmpOf(a).join() === icmpOf(b).join();

function portsXml(rule: SecurityGroupRule): { fromPort?: number; toPort?: number } {
  if (rule.protocol === 'all') return {};
  if (rule.protocol === 'icmp') {
    const [fromPort, toPort] = icmpOf(rule);
    return { fromPort, toPort };
  }
  return { fromPort: rule.fromPort ?? 0, toPort: rule.fromPort === undefined ? 65_535 : (rule.toPort ?? rule.fromPort) };
}

/** Rules as EC2 shows them: one permission for each kind of traffic, with all its sources. */
export function permissionsXml(rules: readonly SecurityGroupRule[]): Xml {
  const byTraffic = new Map<string, SecurityGroupRule[]>();
  for (const rule of rules) {
    const key = [keyOf(rule), ...(rule.protocol === 'icmp' ? icmpOf(rule) : [])].join(' ');
    byTraffic.set(key, [...(byTraffic.get(key) ?? []), rule]);
  }
  const textOf = ({ description }: SecurityGroupRule): string | undefined => description?.replace(icmpType, '') || undefined;
  return [...byTraffic.values()].map((same) => {
    const [first] = same as [SecurityGroupRule];
    return {
      ipProtocol: first.protocol === 'all' ? '-1' : first.protocol,
      ...portsXml(first),
      groups: same.flatMap((rule) =>
        rule.groupId === undefined ? [] : [{ userId: accountId, groupId: rule.groupId, description: textOf(rule) }],
      ),
      ipRanges: same.flatMap((rule) => (rule.cidr === undefined ? [] : [{ cidrIp: rule.cidr, description: textOf(rule) }])),
      ipv6Ranges: [],
      prefixListIds: [],
    };
  });
}
