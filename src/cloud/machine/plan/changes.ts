// The steps from what a namespace contains to what it is to contain. Only differences: what stays is not touched, so its traffic passes on.
import {
  chainPrefix,
  loopbackLabel,
  type NamespacePlan,
  type NamespaceState,
  type Peer,
  type Rules,
  type Table,
} from './types.ts';
import { routingProtocol } from '../../model/index.ts';

export interface Change {
  /** Kernel settings of the namespace as a whole, set before its links are made: pairs of path and value. */
  sysctls: readonly [string, string][];
  /** Input of `iptables-restore --noflush`; empty: none. */
  rules: string;
  /** Lines of `ip -batch`. */
  ip: readonly string[];
  linkSysctls: readonly [string, string][];
}

export const isEmpty = ({ sysctls, rules, ip, linkSysctls }: Change): boolean =>
  sysctls.length === 0 && rules === '' && ip.length === 0 && linkSysctls.length === 0;

const samePeer = (one: Peer | undefined, other: Peer | undefined): boolean =>
  one !== undefined && one.netns === other?.netns && one.link === other.link;

/** Links that are there but not wanted so, or lead to a namespace that goes. Deleted first: their other ends vanish with them. */
export function leftoverLinks(have: NamespaceState, want: NamespacePlan | undefined, gone: ReadonlySet<string>): string[] {
  return [...have.links].flatMap(([link, peer]) =>
    want && samePeer(peer, want.links.get(link)) && peer && !gone.has(peer.netns) ? [] : [link],
  );
}

/** What is left of a namespace's state when links have vanished: the kernel takes their addresses, routes and settings along. */
export function without(state: NamespaceState, links: ReadonlySet<string>): NamespaceState {
  const vanished = [...links];
  const at = (text: string): boolean => links.has(text.slice(0, text.indexOf(' ')));
  const through = (route: string): boolean => vanished.some((link) => `${route} `.includes(` dev ${link} `));
  const setting = (path: string): boolean => vanished.some((link) => path.includes(`/${link}/`));
  return {
    ...state,
    links: new Map([...state.links].filter(([link]) => !links.has(link))),
    addresses: new Set([...state.addresses].filter((address) => !at(address))),
    routes: new Map([...state.routes].filter(([, route]) => !through(route))),
    sysctls: new Map([...state.sysctls].filter(([path]) => !setting(path))),
  };
}

/** `order` of namespaces where programs have links and addresses of their own, whatever they call them. */
const places = 2;
const ownLink = /^(lo|edge|[rv]-.*)$/;
const linkOf = (address: string): string => address.slice(0, address.indexOf(' '));
const addressWords = (address: string): string => {
  const [link = '', value = ''] = address.split(' ');
  return `${value} dev ${link}${link === 'lo' ? ` label ${loopbackLabel}` : ''}`;
};

function linkLines(have: NamespaceState, want: NamespacePlan): string[] {
  return [...want.links].flatMap(([link, peer]) =>
    have.links.has(link)
      ? []
      : [
          `link add ${link} type veth peer name ${peer.link} netns ${peer.netns}`,
          `link set ${link} alias ${peer.netns}/${peer.link}`,
          `link set ${link} up`,
        ],
  );
}

function addressLines(have: NamespaceState, want: NamespacePlan): string[] {
  const added = [...want.addresses].filter((address) => !have.addresses.has(address));
  const isOurs = (address: string): boolean => want.order !== places && ownLink.test(linkOf(address));
  const removed = [...have.addresses].filter((address) => !want.addresses.has(address) && isOurs(address));
  const up = new Set(added.length === 0 ? [] : ['lo', ...added.map(linkOf)]);
  return [
    ...removed.map((address) => `addr del ${addressWords(address)}`),
    ...added.map((address) => `addr replace ${addressWords(address)}`),
    ...[...up].map((link) => `link set ${link} up`),
  ];
}

function routeLines(have: NamespaceState, want: NamespacePlan): string[] {
  const added = [...want.routes].filter(([key, route]) => have.routes.get(key) !== route);
  const removed = [...have.routes.keys()].filter((key) => !want.routes.has(key));
  return [
    ...added.map(([, route]) => `route replace ${route} proto ${routingProtocol}${route.includes(' via ') ? ' onlink' : ''}`),
    ...removed.map((key) => {
      const [table, destination] = key.split(' ');
      return `route del ${destination} table ${table} proto ${routingProtocol}`;
    }),
  ];
}

function ruleLines(have: NamespaceState, want: NamespacePlan): string[] {
  const added = [...want.rules].filter((rule) => !have.rules.has(rule));
  const removed = [...have.rules].filter((rule) => !want.rules.has(rule));
  return [
    ...added.map((rule) => `rule add ${rule} protocol ${routingProtocol}`),
    ...removed.map((rule) => `rule del ${rule} protocol ${routingProtocol}`),
  ];
}

const startsWith = (rules: readonly string[], start: readonly string[]): boolean =>
  start.length <= rules.length && start.every((rule, i) => rules[i] === rule);

/** One table's differences: chains are emptied and filled again in one transaction, or only appended to. */
function tableText(table: Table, have: ReturnType<NamespaceState['tables']['get']>, want: Rules | undefined): string {
  const declared: string[] = [];
  const lines: string[] = [];
  for (const [chain, rules] of want?.chains ?? []) {
    const known = have?.chains.get(chain);
    const appends = known !== undefined && startsWith(rules, known);
    if (!appends) declared.push(`:${chain} - [0:0]`);
    for (const rule of appends ? rules.slice(known.length) : rules) lines.push(`-A ${chain} ${rule}`);
  }
  for (const hook of want?.hooks ?? []) if (!have?.hooks.includes(hook)) lines.push(`-A ${hook}`);
  for (const chain of have?.chains.keys() ?? []) {
    if (want?.chains.has(chain) || !chain.startsWith(chainPrefix)) continue;
    declared.push(`:${chain} - [0:0]`);
    lines.push(`-X ${chain}`);
  }
  return declared.length + lines.length === 0 ? '' : `${[`*${table}`, ...declared, ...lines, 'COMMIT'].join('\n')}\n`;
}

/** What has to be changed in a namespace. `have` must be without the links that `leftoverLinks` names. */
export function changes(have: NamespaceState, want: NamespacePlan): Change {
  const sysctls = [...want.sysctls].filter(([path, value]) => have.sysctls.get(path) !== value);
  const ofLink = ([path]: [string, string]): boolean => !/^(ipv4\/\w+|bridge\/.*|ipv4\/conf\/(all|default)\/\w+)$/.test(path);
  return {
    sysctls: sysctls.filter((entry) => !ofLink(entry)),
    rules: (['filter', 'nat'] as const).map((table) => tableText(table, have.tables.get(table), want.tables.get(table))).join(''),
    ip: [...linkLines(have, want), ...addressLines(have, want), ...routeLines(have, want), ...ruleLines(have, want)],
    linkSysctls: sysctls.filter(ofLink),
  };
}
