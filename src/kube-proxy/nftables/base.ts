// What every nftables ruleset of the proxy has, whatever the Services: hooks, and maps that answer where a packet goes. Pure.
// The order of hooks and the names of maps follow upstream's nftables mode (KEP-3866); there each Service has chains of its own, here a map has its endpoints,
// because transactions with many chains are slow in the kernel.
import type { DataplaneOptions } from '../dataplane.ts';
import { table } from './nft.ts';

const address = 'ipv4_addr . inet_proto . inet_service';
const endpoint = 'ip daddr . th dport';

export type Declaration = readonly [kind: 'map' | 'set', text: string];

/** Where a packet goes by what it asked for and by the number it drew. */
export const endpointsOf: Readonly<Record<'ip' | 'node', Declaration>> = {
  ip: ['map', `typeof ip daddr . meta l4proto . th dport . numgen random mod 2 : ${endpoint};`],
  node: ['map', `typeof meta l4proto . th dport . numgen random mod 2 : ${endpoint};`],
};

/** Maps and sets by name, with their declaration. */
export const sets: Readonly<Record<string, Declaration>> = {
  'service-ips': ['map', `type ${address} : verdict;`],
  'service-nodeports': ['map', 'type inet_proto . inet_service : verdict;'],
  'cluster-ips': ['set', 'type ipv4_addr;'],
  'no-endpoint-services': ['map', `type ${address} : verdict;`],
  'no-endpoint-nodeports': ['map', 'type inet_proto . inet_service : verdict;'],
  'firewall-ips': ['set', `type ${address};`],
  'firewall-allowed': ['set', `type ${address} . ipv4_addr; flags interval;`],
  'hairpin-connections': ['set', 'type ipv4_addr . ipv4_addr;'],
};

const toService = 'ip daddr . meta l4proto . th dport';
const toNode = 'fib daddr type local ip daddr != 127.0.0.0/8 meta l4proto . th dport';

/** Chains by name: what they hook into, if anything, and their rules. */
const chains = ({
  masqueradeMark: mark,
}: DataplaneOptions): readonly [name: string, hook: string, rules: readonly string[]][] => [
  ['mark-for-masquerade', '', [`meta mark set mark or ${mark}`]],
  ['reject-chain', '', ['reject']],
  ['drop-chain', '', ['drop']],
  ['services', '', [`${toService} vmap @service-ips`, `${toNode} vmap @service-nodeports`]],
  ['nat-prerouting', 'type nat hook prerouting priority dstnat;', ['jump services']],
  ['nat-output', 'type nat hook output priority -100;', ['jump services']],
  [
    'nat-postrouting',
    'type nat hook postrouting priority srcnat;',
    [
      'ct status dnat ip saddr . ip daddr @hairpin-connections masquerade fully-random',
      `meta mark & ${mark} == 0 return`,
      `meta mark set mark xor ${mark}`,
      'masquerade fully-random',
    ],
  ],
  ['firewall-check', '', [`${toService} @firewall-ips ${toService} . ip saddr != @firewall-allowed drop`]],
  ['filter-prerouting', 'type filter hook prerouting priority dstnat - 10;', ['ct state new jump firewall-check']],
  ['filter-output-pre-dnat', 'type filter hook output priority -110;', ['ct state new jump firewall-check']],
  [
    'endpoints-check',
    '',
    [`${toService} vmap @no-endpoint-services`, `${toNode} vmap @no-endpoint-nodeports`, 'ip daddr @cluster-ips reject'],
  ],
  ['filter-input', 'type filter hook input priority filter;', ['ct state new jump endpoints-check']],
  [
    'filter-forward',
    'type filter hook forward priority filter;',
    // Packets that belong to no connection would leave as they are, with addresses that the other end does not know.
    ['ct state new jump endpoints-check', 'ct state invalid drop'],
  ],
  ['filter-output', 'type filter hook output priority filter;', ['ct state new jump endpoints-check']],
];

/** Makes the table, in place of what was there. */
export const baseText = (options: DataplaneOptions): string[] => [
  `add table ${table}`,
  `delete table ${table}`,
  `add table ${table}`,
  ...Object.entries(sets).map(([name, [kind, declaration]]) => `add ${kind} ${table} ${name} { ${declaration} }`),
  ...chains(options).map(([name, hook]) => `add chain ${table} ${name}${hook === '' ? '' : ` { ${hook} }`}`),
  ...chains(options).flatMap(([name, , rules]) => rules.map((rule) => `add rule ${table} ${name} ${rule}`)),
];
