// The router of a VPC. Each interface hangs on it by a veth of its own with a /32 route; proxy ARP makes the subnet look like a LAN. Route tables
// are kernel tables chosen by the link a packet comes from, after the VPC's own addresses, which always win.
import { edgeToRouter, type Route, routerToEdge, routerToInterface, type World } from '../../model/index.ts';
import { filterRules } from './groups.ts';
import { gatewayOf, nameServerOf } from './ipv4.ts';
import { stableNumbers } from './numbers.ts';
import { routeEntry } from './routes.ts';
import { type NamespacePlan, type Rules } from './types.ts';
import type { PlacedInterface, VpcView } from './view.ts';

/** Kernel settings of every namespace that forwards. All paths are allowed, because packets of pods are neither from nor to where they seem to be. */
export const forwarding: [string, string][] = [
  ['ipv4/ip_forward', '1'],
  ['ipv4/conf/all/rp_filter', '0'],
  ['ipv4/conf/default/rp_filter', '0'],
  ['ipv4/conf/all/send_redirects', '0'],
  ['ipv4/conf/default/send_redirects', '0'],
  ['ipv4/conf/all/accept_redirects', '0'],
];

/** Settings of the one link that is there before the settings for all links are made. */
const edgeSysctls: [string, string][] = [
  [`ipv4/conf/${routerToEdge}/rp_filter`, '0'],
  [`ipv4/conf/${routerToEdge}/send_redirects`, '0'],
];

/** Before the tables of links: main, but not its default route. */
const localRule = 'pref 100 lookup 254 suppress_prefixlength 0';
const firstTable = 1_000;
const tableCount = 1_000_000;

/** Answers for others' addresses, and without the pause that is there for several proxies on one wire. */
const linkSysctls = (link: string): [string, string][] => [
  [`ipv4/conf/${link}/proxy_arp`, '1'],
  [`ipv4/neigh/${link}/proxy_delay`, '0'],
];

/** The interface that a route leads to, if it is on the machine. */
function nextHop({ target }: Route, placed: ReadonlyMap<string, PlacedInterface>, world: World): PlacedInterface | undefined {
  if (target.kind === 'interface') return placed.get(target.id);
  if (target.kind !== 'instance') return undefined;
  const ids = world.instances.get(target.id)?.interfaceIds ?? [];
  const found = ids.flatMap((id) => placed.get(id) ?? []);
  return found.find(({ item }) => item.attachment?.deviceIndex === 0) ?? found[0];
}

function tableRoutes(view: VpcView, world: World, tables: ReadonlyMap<string, number>): [string, string][] {
  const placed = new Map(view.interfaces.map((entry) => [entry.item.id, entry]));
  return view.routeTables.flatMap(({ id, routes }) => {
    const table = tables.get(id) ?? 0;
    return routes.flatMap((route): [string, string][] => {
      if (route.target.kind === 'local') return [];
      const { destination } = route;
      if (route.state === 'blackhole') return [routeEntry({ destination, table, kind: 'blackhole' })];
      if (route.target.kind === 'internet-gateway')
        return [routeEntry({ destination, table, via: view.edgeAddress, link: routerToEdge })];
      const hop = nextHop(route, placed, world);
      if (!hop) return [routeEntry({ destination, table, kind: 'blackhole' })];
      return [routeEntry({ destination, table, via: hop.item.privateAddress, link: routerToInterface(hop.item.id) })];
    });
  });
}

/** Public addresses, one to one; all others leave as the router itself, and then as the edge. */
function natRules({ interfaces, routerAddress }: VpcView): Rules {
  const open = interfaces.flatMap(({ item }) =>
    item.publicAddress ? [{ own: item.privateAddress, open: item.publicAddress }] : [],
  );
  return {
    hooks: ['PREROUTING -j VPC-DNAT', 'POSTROUTING -j VPC-SNAT'],
    chains: new Map([
      ['VPC-DNAT', open.map((pair) => `-d ${pair.open}/32 -i ${routerToEdge} -j DNAT --to-destination ${pair.own}`)],
      ['VPC-PUBLIC', open.map((pair) => `-s ${pair.own}/32 -j SNAT --to-source ${pair.open}`)],
      ['VPC-SNAT', [`-o ${routerToEdge} -j VPC-PUBLIC`, `-o ${routerToEdge} -j SNAT --to-source ${routerAddress}`]],
    ]),
  };
}

export function routerPlan(view: VpcView, world: World): NamespacePlan {
  const { vpc, subnets, interfaces, edgeAddress, routerAddress } = view;
  const tables = new Map(
    [
      ...stableNumbers(
        view.routeTables.map(({ id }) => id),
        tableCount,
      ),
    ].map(([id, number]) => [id, firstTable + number]),
  );
  const links = interfaces.map(({ item, subnet, place }) => ({ link: routerToInterface(item.id), item, subnet, place }));
  return {
    order: 1,
    links: new Map(links.map(({ link, place }) => [link, place])),
    addresses: new Set([
      `${routerToEdge} ${routerAddress}/30`,
      `lo ${nameServerOf(vpc.cidr)}/32`,
      ...subnets.map(({ cidr }) => `lo ${gatewayOf(cidr)}/32`),
    ]),
    sysctls: new Map([...forwarding, ...edgeSysctls, ...links.flatMap(({ link }) => linkSysctls(link))]),
    routes: new Map([
      routeEntry({ destination: 'default', via: edgeAddress, link: routerToEdge }),
      routeEntry({ destination: vpc.cidr, kind: 'unreachable' }),
      ...links.map(({ link, item, subnet }) =>
        routeEntry({ destination: item.privateAddress, link, source: gatewayOf(subnet.cidr) }),
      ),
      ...tableRoutes(view, world, tables),
    ]),
    rules: new Set([
      localRule,
      // Answers from outside to what lies behind an instance, pods for example, whose route may be in any table.
      ...view.routeTables.map(({ id }) => `pref 200 iif ${routerToEdge} lookup ${tables.get(id)} suppress_prefixlength 0`),
      `pref 300 iif ${routerToEdge} unreachable`,
      ...links.flatMap(({ link, subnet }) => {
        const table = tables.get(subnet.routeTableId);
        return table === undefined ? [] : [`pref 200 iif ${link} lookup ${table}`, `pref 300 iif ${link} unreachable`];
      }),
    ]),
    tables: new Map([
      [
        'filter',
        filterRules(
          view.securityGroups,
          interfaces.map(({ item }) => item),
        ),
      ],
      ['nat', natRules(view)],
    ]),
  };
}

/** The link, in the edge's network namespace, that leads to a VPC's router. */
export const routerPeer = ({ vpc, netns }: VpcView): [string, { netns: string; link: string }] => [
  edgeToRouter(vpc.id),
  { netns, link: routerToEdge },
];
