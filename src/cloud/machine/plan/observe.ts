// What a namespace contains, read from the JSON of iproute2 and from iptables-save: how a later process finds what an earlier one made.
import { routingProtocol } from '../../model/index.ts';
import { routeEntry } from './routes.ts';
import { chainPrefix, loopbackLabel, mainTable, type NamespaceState, type Peer, type Table } from './types.ts';

const boundary = '=====';

/** A shell script to run inside the namespace; `parseState` reads its output. */
export const observeCommand = [
  // All families: of one alone, links without an address are not shown.
  'ip -d -j addr show',
  `echo ${boundary}; ip -4 -N -j route show table all proto ${routingProtocol}`,
  `echo ${boundary}; ip -4 -N -j rule show`,
  `echo ${boundary}; iptables-save`,
].join('\n');

interface LinkJson {
  ifname: string;
  ifalias?: string;
  addr_info?: { family: string; local: string; prefixlen: number; label?: string }[];
}
interface RouteJson {
  type?: string;
  dst: string;
  gateway?: string;
  dev?: string;
  table?: string;
  prefsrc?: string;
}
interface RuleJson {
  priority: number;
  iif?: string;
  table?: string;
  action?: string;
  suppress_prefixlen?: number;
  protocol?: string;
}

const list = <T>(text: string | undefined): T[] => (text?.trim() ? (JSON.parse(text) as T[]) : []);
const kinds: Record<string, 'blackhole' | 'unreachable'> = { 6: 'blackhole', 7: 'unreachable' };

function peerOf(alias: string | undefined): Peer | undefined {
  const [netns, link] = alias?.split('/') ?? [];
  return netns && link ? { netns, link } : undefined;
}

const addressesOf = ({ ifname, addr_info = [] }: LinkJson): string[] =>
  addr_info
    .filter(({ family, label }) => family === 'inet' && (ifname !== 'lo' || label === loopbackLabel))
    .map(({ local, prefixlen }) => `${ifname} ${local}/${prefixlen}`);

const routeOf = ({ type = '1', dst, gateway, dev, table, prefsrc }: RouteJson): [string, string] => {
  const kind = kinds[type];
  return routeEntry({
    destination: dst,
    table: table === undefined ? mainTable : Number(table),
    ...(kind && { kind }),
    ...(gateway && { via: gateway }),
    ...(dev && !kind && { link: dev }),
    ...(prefsrc && { source: prefsrc }),
  });
};

function ruleOf({ priority, iif, table, action, suppress_prefixlen }: RuleJson): string {
  return [
    `pref ${priority}`,
    ...(iif ? [`iif ${iif}`] : []),
    action === '7' ? 'unreachable' : `lookup ${table}`,
    ...(suppress_prefixlen === undefined ? [] : [`suppress_prefixlength ${suppress_prefixlen}`]),
  ].join(' ');
}

function tablesOf(save: string): NamespaceState['tables'] {
  const tables = new Map<Table, { hooks: string[]; chains: Map<string, undefined> }>();
  let current: { hooks: string[]; chains: Map<string, undefined> } | undefined;
  for (const line of save.split('\n')) {
    if (line.startsWith('*')) {
      current = { hooks: [], chains: new Map() };
      tables.set(line.slice(1) as Table, current);
    } else if (line.startsWith(`:${chainPrefix}`)) current?.chains.set(line.slice(1, line.indexOf(' ')), undefined);
    else if (/^-A [A-Z]+ -j VPC-/.test(line)) current?.hooks.push(line.slice(3));
  }
  return tables;
}

/**
 * `makesLinks`: links named as ours are ours. Elsewhere they are of programs that live there. Throws when the output is not that of
 * `observeCommand`.
 */
export function parseState(output: string, makesLinks: boolean): NamespaceState {
  const [links, routes, rules, save = ''] = output.split(`${boundary}\n`);
  const found = list<LinkJson>(links);
  const own = String(routingProtocol);
  return {
    links: new Map(
      found.filter(({ ifname }) => makesLinks && /^[rv]-/.test(ifname)).map(({ ifname, ifalias }) => [ifname, peerOf(ifalias)]),
    ),
    addresses: new Set(found.flatMap(addressesOf)),
    // Setting them again does no harm; reading each would take longer.
    sysctls: new Map(),
    routes: new Map(list<RouteJson>(routes).map(routeOf)),
    rules: new Set(
      list<RuleJson>(rules)
        .filter(({ protocol }) => protocol === own)
        .map(ruleOf),
    ),
    tables: tablesOf(save),
  };
}
