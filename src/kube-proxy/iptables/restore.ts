// The input of `iptables-restore --noflush`: everything at first, then only the chains that changed. Pure.
import type { PortRules, RuleOptions } from './rules.ts';

/** The rules of all service ports by `name/protocol`. */
export type AllRules = ReadonlyMap<string, PortRules>;

const filterChains = ['KUBE-NODEPORTS', 'KUBE-SERVICES', 'KUBE-EXTERNAL-SERVICES', 'KUBE-FORWARD', 'KUBE-PROXY-FIREWALL'];
const natChains = ['KUBE-SERVICES', 'KUBE-NODEPORTS', 'KUBE-POSTROUTING', 'KUBE-MARK-MASQ'];

/** Rules in the kernel's own chains that lead into ours: table, chain, whether they must come first, and the rule. */
export const jumps: readonly { table: 'filter' | 'nat'; chain: string; first: boolean; rule: string[] }[] = [
  jump('filter', 'INPUT', 'KUBE-EXTERNAL-SERVICES', 'kubernetes externally-visible service portals', true),
  jump('filter', 'FORWARD', 'KUBE-EXTERNAL-SERVICES', 'kubernetes externally-visible service portals', true),
  jump('filter', 'INPUT', 'KUBE-NODEPORTS', 'kubernetes health check service ports', false),
  jump('filter', 'FORWARD', 'KUBE-SERVICES', 'kubernetes service portals', true),
  jump('filter', 'OUTPUT', 'KUBE-SERVICES', 'kubernetes service portals', true),
  jump('filter', 'FORWARD', 'KUBE-FORWARD', 'kubernetes forwarding rules', false),
  jump('filter', 'INPUT', 'KUBE-PROXY-FIREWALL', 'kubernetes load balancer firewall', true),
  jump('filter', 'OUTPUT', 'KUBE-PROXY-FIREWALL', 'kubernetes load balancer firewall', true),
  jump('filter', 'FORWARD', 'KUBE-PROXY-FIREWALL', 'kubernetes load balancer firewall', true),
  jump('nat', 'OUTPUT', 'KUBE-SERVICES', 'kubernetes service portals', false),
  jump('nat', 'PREROUTING', 'KUBE-SERVICES', 'kubernetes service portals', false),
  jump('nat', 'POSTROUTING', 'KUBE-POSTROUTING', 'kubernetes postrouting rules', false),
];

function jump(table: 'filter' | 'nat', chain: string, target: string, comment: string, onlyNew: boolean) {
  const match = onlyNew ? ['-m', 'conntrack', '--ctstate', 'NEW'] : [];
  return { table, chain, first: true, rule: [...match, '-m', 'comment', '--comment', comment, '-j', target] };
}

const declare = (chain: string): string => `:${chain} - [0:0]`;
const all = (rules: AllRules, pick: (port: PortRules) => readonly string[]): string[] => [...rules.values()].flatMap(pick);

function filterTable(
  rules: AllRules,
  healthCheckPorts: readonly { name: string; port: number }[],
  { masqueradeMark: mark }: RuleOptions,
): string[] {
  return [
    '*filter',
    ...filterChains.map(declare),
    ...healthCheckPorts.map(
      ({ name, port }) =>
        `-A KUBE-NODEPORTS -m comment --comment "${name} health check node port" -m tcp -p tcp --dport ${port} -j ACCEPT`,
    ),
    ...all(rules, (port) => port.filterServices),
    ...all(rules, (port) => port.filterExternalServices),
    ...all(rules, (port) => port.filterFirewall),
    '-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP',
    `-A KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark ${mark}/${mark} -j ACCEPT`,
    '-A KUBE-FORWARD -m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
    'COMMIT',
  ];
}

export interface RestoreInput {
  text: string;
  /** Chains of service ports that exist after it was applied. */
  chains: Set<string>;
}

/**
 * Text that brings the tables from `before` (chains in place; absent: unknown, write all) to `rules`. Shared chains are always rewritten,
 * chains of ports only when they changed; chains that went are emptied here and can be deleted in the same transaction.
 */
export function restoreInput(
  rules: AllRules,
  options: RuleOptions & { healthCheckPorts: readonly { name: string; port: number }[] },
  before?: { rules: AllRules; chains: ReadonlySet<string> },
  stale: readonly string[] = [],
): RestoreInput {
  const { masqueradeMark: mark, randomFully } = options;
  const chains = new Set(all(rules, (port) => port.chains.map(({ name }) => name)));
  const changed = [...rules].filter(([key, port]) => before?.rules.get(key) !== port).flatMap(([, port]) => port.chains);
  const gone = [...new Set([...(before?.chains ?? []), ...stale])].filter((name) => !chains.has(name));
  const text = [
    ...filterTable(rules, options.healthCheckPorts, options),
    '*nat',
    ...natChains.map(declare),
    ...changed.map(({ name }) => declare(name)),
    ...gone.map(declare),
    `-A KUBE-POSTROUTING -m mark ! --mark ${mark}/${mark} -j RETURN`,
    `-A KUBE-POSTROUTING -j MARK --xor-mark ${mark}`,
    `-A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE${randomFully ? ' --random-fully' : ''}`,
    `-A KUBE-MARK-MASQ -j MARK --or-mark ${mark}`,
    ...changed.flatMap((chain) => chain.rules),
    ...all(rules, (port) => port.services),
    ...all(rules, (port) => port.nodePorts),
    '-A KUBE-SERVICES -m comment --comment "kubernetes service nodeports; NOTE: this must be the last rule in this chain" -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS',
    ...gone.map((name) => `-X ${name}`),
    'COMMIT',
    '',
  ].join('\n');
  return { text, chains };
}

/** Every chain that a proxy of upstream's shape makes, to recognise leftovers. */
export const isOwnChain = (name: string): boolean => /^KUBE-(SVC|SVL|SEP|EXT|FW)-[A-Z2-7]{16}$/.test(name);
export const sharedChains = { filter: filterChains, nat: natChains };
