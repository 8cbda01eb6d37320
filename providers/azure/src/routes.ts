// Routes to the pods of each Node in the cluster's one route table, which is made when it is needed. Changes that come together are one write.
import { familyOf } from 'sagong/cloud-provider/kit';
import type { Route, RouteTable } from '@azure/arm-network';
import { instanceNotFound, type Route as NodeRoute, type Routes } from 'sagong/cloud-provider';
import type { Cloud } from './cloud.ts';
import { sameText } from './ids.ts';
import { configsOf, familyOfConfig, interfaceOf } from './instances/addresses.ts';
import { nodeOfRoute, routeName } from './names.ts';
import type { Settings } from './settings.ts';
import { keptTags, sameTags } from './tags.ts';

const hopType = 'VirtualAppliance';

const shown = ({ name = '', addressPrefix = '' }: Route): NodeRoute => ({
  name,
  targetNode: nodeOfRoute(name),
  targetNodeAddresses: [],
  destinationCidr: addressPrefix,
});

/** The first route of a Node has its plain name; a further one, as of the second address family, is named by its range as well. */
function nameFor(routes: readonly Route[], node: string, cidr: string): string {
  const mine = routes.filter(({ name }) => sameText(nodeOfRoute(name ?? ''), node));
  const same = mine.find(({ addressPrefix }) => sameText(addressPrefix, cidr));
  if (same?.name) return same.name;
  return mine.length === 0 ? node : routeName(node, cidr, true);
}

/** The table with a route to this range; undefined: it is there. */
function withRoute(
  there: RouteTable | undefined,
  node: string,
  cidr: string,
  hop: string,
  settings: Settings,
): RouteTable | undefined {
  const routes = there?.routes ?? [];
  const name = nameFor(routes, node, cidr);
  const wanted: Route = { name, addressPrefix: cidr, nextHopType: hopType, nextHopIpAddress: hop };
  const old = routes.find((route) => sameText(route.name, name));
  const isThere = old?.nextHopIpAddress === hop && sameText(old?.nextHopType, hopType);
  // Tags are for tables of the cluster's own group, as with upstream.
  const isTagged = Object.keys(settings.tags).length > 0 && sameText(settings.routeTable.group, settings.group);
  const tags = isTagged ? keptTags(there?.tags, settings.tags, settings.systemTags) : there?.tags;
  if (there && isThere && sameTags(tags, there.tags) && there.provisioningState !== 'Failed') return undefined;
  const base = there ?? { location: settings.location };
  return { ...base, tags, routes: [...routes.filter((route) => route !== old), { ...old, ...wanted }] };
}

/** The table without it; undefined: it is not there. */
function withoutRoute(there: RouteTable | undefined, { name, targetNode, destinationCidr }: NodeRoute): RouteTable | undefined {
  const isIt = (route: Route): boolean =>
    sameText(route.addressPrefix, destinationCidr) &&
    (sameText(route.name, name) || sameText(nodeOfRoute(route.name ?? ''), targetNode));
  const left = there?.routes?.filter((route) => !isIt(route));
  return there && left?.length !== there.routes?.length ? { ...there, routes: left } : undefined;
}

export function createRoutes({ arm, stores, settings, finder, observe }: Cloud): Routes {
  const { name: table, group } = settings.routeTable;
  const needTable = (): void => {
    if (table === '') throw new Error('routeTableName is not configured');
  };
  /** The address of the machine itself: what the Node says may be a day old. */
  async function hopOf(nodeName: string, cidr: string, signal?: AbortSignal): Promise<string> {
    const machine = await finder.ofNode({ metadata: { name: nodeName }, spec: {}, status: {} }, signal);
    if (!machine) throw instanceNotFound();
    const card = await interfaceOf(arm, machine, signal);
    const family = familyOf(cidr.split('/')[0] ?? '');
    const address = (card ? configsOf(card) : []).find((config) => familyOfConfig(config) === family)?.privateIPAddress;
    if (!address) throw new Error(`machine ${machine.id.name} has no address of ${family} for the route to ${cidr}`);
    return address;
  }
  return {
    async listRoutes(_cluster, signal) {
      needTable();
      return ((await stores.routeTables.read(group, table, signal))?.routes ?? []).map(shown);
    },
    createRoute: (_cluster, _hint, { targetNode, destinationCidr }, signal) =>
      observe('routes_create_route', targetNode, async () => {
        needTable();
        const hop = await hopOf(targetNode, destinationCidr, signal);
        const change = (there: RouteTable | undefined) => withRoute(there, targetNode, destinationCidr, hop, settings);
        await stores.routeTables.change(group, table, change, signal);
      }),
    deleteRoute: (_cluster, route, signal) =>
      observe('routes_delete_route', route.targetNode, async () => {
        needTable();
        await stores.routeTables.change(group, table, (there) => withoutRoute(there, route), signal);
      }),
  };
}
