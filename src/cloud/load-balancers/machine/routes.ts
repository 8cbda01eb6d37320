// Addresses, routes and routing rules of load balancers in routers and edge: what is wanted, what the kernel shows (`ip -j`), and the lines of
// `ip -batch` between the two. Pure.
import { edgeToRouter, routerToEdge } from '../../model/index.ts';
import { addressLabel, answerMark, backToEdge, indexOfTable, preference, protocol, tableOf, targetMark } from '../names.ts';
import type { VpcPlan } from '../plan.ts';

export interface RouterState {
  /** Addresses on the loopback device. */
  addresses: ReadonlySet<string>;
  /** The router's own end of the link to the edge, with its prefix length. */
  edgeLink: { address: string; length: number } | undefined;
  /** Default routes by the index of their table, as the words of `ip route` behind `default`. */
  routes: ReadonlyMap<number, string>;
  /** Rules, as the words of `ip` behind `rule add`. */
  rules: ReadonlySet<string>;
  /** Whether the table of local addresses is still the first. */
  localFirst: boolean;
}

interface AddressJson {
  ifname?: string;
  addr_info?: { local?: string; prefixlen?: number; label?: string }[];
}
interface RouteJson {
  dst?: string;
  gateway?: string;
  dev?: string;
  table?: string | number;
}
interface RuleJson {
  priority?: number;
  fwmark?: string;
  fwmask?: string;
  iif?: string;
  table?: string | number;
  protocol?: string | number;
}

/** Prints what `parseRouter` reads; to be run in the router. */
export const observeRouter = [
  'ip -N -j -4 addr show dev lo',
  'echo "=="',
  `ip -N -j -4 addr show dev ${routerToEdge} 2>/dev/null || echo "[]"`,
  'echo "=="',
  `ip -N -j -4 route show table all proto ${protocol}`,
  'echo "=="',
  'ip -N -j -4 rule show',
].join('\n');

function list<T>(text: string | undefined): T[] {
  const value: unknown = JSON.parse(text?.trim() || '[]');
  return Array.isArray(value) ? (value as T[]) : [];
}

const markText = (value: string): string => `0x${(Number.parseInt(value, 16) >>> 0).toString(16)}`;
/** Canonical, so that what is wanted and what is found compare as text. */
const ruleText = ({ pref, iif, mark, table }: { pref: number; iif?: boolean; mark?: string; table: number }): string =>
  [`pref ${pref}`, ...(iif ? ['iif lo'] : []), ...(mark ? [`fwmark ${mark}`] : []), `lookup ${table}`].join(' ');
const localTable = 255;

/** Throws when the output is not that of `observeRouter`. */
export function parseRouter(output: string): RouterState {
  const [onLo, onEdge, routes, rules] = output.split('==\n');
  const edge = list<AddressJson>(onEdge).flatMap(({ addr_info = [] }) => addr_info)[0];
  const found = list<RuleJson>(rules);
  return {
    addresses: new Set(
      list<AddressJson>(onLo)
        .flatMap(({ addr_info = [] }) => addr_info)
        .flatMap(({ local, label }) => (local && label === addressLabel ? [local] : [])),
    ),
    edgeLink: edge?.local ? { address: edge.local, length: edge.prefixlen ?? 32 } : undefined,
    routes: new Map(
      list<RouteJson>(routes).flatMap(({ dst, gateway, dev, table }) => {
        const index = indexOfTable(Number(table));
        return dst === 'default' && index !== undefined ? [[index, `via ${gateway} dev ${dev}`] as const] : [];
      }),
    ),
    rules: new Set(
      found
        .filter((rule) => String(rule.protocol) === String(protocol))
        .map(({ priority = 0, iif, fwmark, fwmask, table }) =>
          ruleText({
            pref: priority,
            iif: iif === 'lo',
            ...(fwmark && { mark: `${markText(fwmark)}${fwmask && fwmask !== '0xffffffff' ? `/${markText(fwmask)}` : ''}` }),
            table: Number(table),
          }),
        ),
    ),
    localFirst: found.some(({ priority, table }) => priority === 0 && Number(table) === localTable),
  };
}

/** The other host of a link with two. */
export function otherEnd({ address, length }: { address: string; length: number }): string | undefined {
  const octets = address.split('.').map(Number);
  const last = octets[3] ?? 0;
  if (length === 31) octets[3] = last ^ 1;
  else if (length === 30 && (last & 3) !== 0 && (last & 3) !== 3) octets[3] = last ^ 3;
  else return undefined;
  return octets.join('.');
}

/**
 * Numbers for the links of `places`: those in use are kept, as connections carry them; others get free ones. `freed`: numbers whose link
 * is gone.
 */
export function allocate(
  state: Pick<RouterState, 'routes'>,
  { places }: Pick<VpcPlan, 'places'>,
): { indexes: Map<string, number>; freed: number[] } {
  const words = new Map(places.map(({ link, address }) => [`via ${address} dev ${link}`, link]));
  const indexes = new Map<string, number>();
  const freed: number[] = [];
  const used = new Set<number>([0]);
  for (const [index, route] of state.routes) {
    if (index === 0) continue;
    used.add(index);
    const link = words.get(route);
    if (link && !indexes.has(link)) indexes.set(link, index);
    else freed.push(index);
  }
  // A number that was freed just now is on connections still to be forgotten: not given away in the same step.
  let next = 1;
  for (const { link } of places) {
    if (indexes.has(link)) continue;
    while (used.has(next)) next++;
    indexes.set(link, next);
    used.add(next);
  }
  return { indexes, freed };
}

interface Wanted {
  addresses: ReadonlySet<string>;
  routes: ReadonlyMap<number, string>;
  rules: ReadonlySet<string>;
}

const nothing: Wanted = { addresses: new Set(), routes: new Map(), rules: new Set() };

/** What a router with load balancers contains. */
export function wantedInRouter(plan: VpcPlan, state: RouterState, indexes: ReadonlyMap<string, number>): Wanted {
  const edge = state.edgeLink && otherEnd(state.edgeLink);
  const places = plan.places.map((place) => ({ ...place, index: indexes.get(place.link) ?? 0 }));
  const rulesOf = (index: number, forward: string): string[] => [
    ruleText({ pref: preference.forward, mark: forward, table: tableOf(index) }),
    ruleText({ pref: preference.answer, iif: true, mark: answerMark(index), table: tableOf(index) }),
  ];
  return {
    addresses: new Set(plan.balancers.map(({ address }) => address)),
    routes: new Map([
      ...(edge ? [[0, `via ${edge} dev ${routerToEdge}`] as const] : []),
      ...places.map(({ index, address, link }) => [index, `via ${address} dev ${link}`] as const),
    ]),
    rules: new Set([
      ruleText({ pref: preference.local, table: localTable }),
      ...(edge ? rulesOf(0, backToEdge) : []),
      ...places.flatMap(({ index }) => rulesOf(index, targetMark(index))),
    ]),
  };
}

/** Lines of `ip -batch` for the router's addresses: the last step of what comes, the first of what goes. */
export const addressLines = (state: RouterState, { addresses }: Pick<Wanted, 'addresses'> = nothing): string[] => [
  ...[...addresses]
    .filter((one) => !state.addresses.has(one))
    .map((one) => `addr add ${one}/32 dev lo label ${addressLabel} scope host`),
  ...[...state.addresses].filter((one) => !addresses.has(one)).map((one) => `addr del ${one}/32 dev lo`),
];

/** Lines of `ip -batch` for routes and rules in the router; `wanted` undefined: nothing of ours is to be left. */
export function routeLines(state: RouterState, wanted: Wanted | undefined): string[] {
  const { routes, rules } = wanted ?? nothing;
  const first = 'pref 0 lookup 255';
  return [
    ...[...routes]
      .filter(([index, words]) => state.routes.get(index) !== words)
      .map(([index, words]) => `route replace default ${words} onlink table ${tableOf(index)} proto ${protocol}`),
    ...(wanted || state.localFirst ? [] : [`rule add ${first}`]),
    ...[...rules].filter((rule) => !state.rules.has(rule)).map((rule) => `rule add ${rule} protocol ${protocol}`),
    // Only now, as there is never to be a moment without local addresses.
    ...(wanted && state.localFirst ? [`rule del ${first}`] : []),
    ...[...state.rules].filter((rule) => !rules.has(rule)).map((rule) => `rule del ${rule} protocol ${protocol}`),
    ...[...state.routes.keys()]
      .filter((index) => !routes.has(index))
      .map((index) => `route del default table ${tableOf(index)} proto ${protocol}`),
  ];
}

/** Prints what `parseEdge` reads; to be run in the edge. */
export const observeEdge = `ip -N -j -4 route show table main proto ${protocol}`;

/** The routes of the edge: by address, the words of `ip route` behind it. */
export const parseEdge = (output: string): Map<string, string> =>
  new Map(list<RouteJson>(output).flatMap(({ dst, gateway, dev }) => (dst ? [[dst, `via ${gateway} dev ${dev}`] as const] : [])));

/** The routes of the edge by which the public addresses of a VPC lead to its router. */
export function edgeRoutes(plan: VpcPlan, { edgeLink }: Pick<RouterState, 'edgeLink'>): [string, string][] {
  if (!edgeLink) return [];
  return plan.balancers
    .filter(({ internetFacing }) => internetFacing)
    .map(({ address }) => [address, `via ${edgeLink.address} dev ${edgeToRouter(plan.vpcId)}`]);
}

export const edgeLines = (have: ReadonlyMap<string, string>, wanted: ReadonlyMap<string, string>): string[] => [
  ...[...wanted]
    .filter(([address, words]) => have.get(address) !== words)
    .map(([address, words]) => `route replace ${address} ${words} onlink proto ${protocol}`),
  ...[...have.keys()].filter((address) => !wanted.has(address)).map((address) => `route del ${address} proto ${protocol}`),
];
