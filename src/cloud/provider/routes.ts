// Routes to pods, in one route table of the cluster's network. A route's name says which cluster and Node it is of.
import { conflict } from '#apimachinery/errors';
import { instanceNotFound, type Route, type Routes } from '#cloud-provider';
import { CloudApiError } from '../client/index.ts';
import type { Instance, Route as CloudRoute, RouteTable } from '../model/index.ts';
import type { ProviderContext } from './account.ts';
import { orMissing, told } from './errors.ts';
import { instanceOfNode, instancesOfNetwork } from './instances.ts';

interface RouteName {
  clusterId: string;
  node: string;
  hint: string;
  cidr: string;
}
/** The name that the cloud's route is given; none of its parts can contain a blank. */
const nameOf = ({ clusterId, node, hint, cidr }: RouteName): string => `kubernetes ${clusterId} ${node} ${hint} ${cidr}`;
function parseName(name: string): RouteName | undefined {
  const [scheme, clusterId = '', node = '', hint = '', cidr = ''] = name.split(' ');
  return scheme === 'kubernetes' ? { clusterId, node, hint, cidr } : undefined;
}

/** The route table's id, from the configuration or asked for once. */
function tableIds({ api, config }: ProviderContext): (signal: AbortSignal | undefined) => Promise<string> {
  let known = config.routeTableId;
  return async (signal) => {
    if (known !== undefined) return known;
    const { items } = await api.listRouteTables({ vpcId: config.vpcId, main: 'true' }, { signal });
    known = items[0]?.id;
    if (known === undefined) throw new Error(`the network ${config.vpcId} has no main route table`);
    return known;
  };
}

/**
 * What it leads to is gone for good. A stopped instance makes a black hole too, but one that ends when it is started: such a route is
 * kept, or it would be removed and made again all the time.
 */
const leadsNowhere = ({ state, target }: CloudRoute, instances: ReadonlyMap<string, Instance>): boolean => {
  if (state !== 'blackhole') return false;
  const instance = target.kind === 'instance' ? instances.get(target.id) : undefined;
  return !instance || instance.state === 'terminated' || instance.state === 'shutting-down';
};

function routeOf(route: CloudRoute, instances: ReadonlyMap<string, Instance>, clusterId: string): Route {
  const name = parseName(route.name);
  const instance = route.target.kind === 'instance' ? instances.get(route.target.id) : undefined;
  return {
    name: route.name,
    targetNode: name?.clusterId === clusterId ? name.node : '',
    targetNodeAddresses: instance ? [{ type: 'InternalIP', address: instance.privateAddress }] : [],
    destinationCidr: route.destination,
    ...(leadsNowhere(route, instances) && { blackhole: true }),
  };
}

/** The cluster's own routes and those to instances: others (to the internet) are nobody's business here. */
const concerns = ({ target, name }: CloudRoute): boolean => target.kind === 'instance' || parseName(name) !== undefined;

export function localRoutes(context: ProviderContext): Routes {
  const { api, config } = context;
  const tableId = tableIds(context);
  const table = async (signal: AbortSignal | undefined): Promise<RouteTable> =>
    api.getRouteTable({ routeTableId: await tableId(signal) }, { signal });

  const create = async (hint: string, { targetNode, destinationCidr }: Route, signal: AbortSignal | undefined): Promise<void> => {
    if (destinationCidr.includes(':')) throw new Error(`the local cloud has IPv4 only: no route to ${destinationCidr}`);
    const instance = await instanceOfNode(context, { metadata: { name: targetNode } }, signal);
    if (!instance) throw instanceNotFound();
    const [interfaceId] = instance.interfaceIds;
    // Packets of pods carry other addresses than the instance's.
    if (interfaceId !== undefined && (await api.getInterface({ interfaceId }, { signal })).sourceDestCheck)
      await api.modifyInterface({ interfaceId, sourceDestCheck: false }, { signal });
    const name = nameOf({ clusterId: config.clusterId, node: targetNode, hint, cidr: destinationCidr });
    try {
      const target = { kind: 'instance', id: instance.id } as const;
      await api.putRoute({ routeTableId: await tableId(signal), destination: destinationCidr, target, name }, { signal });
    } catch (error) {
      if (error instanceof CloudApiError && error.status === 409)
        throw conflict({ resource: 'routes', group: '' }, destinationCidr, error.message);
      throw error;
    }
  };

  return {
    listRoutes: (_cluster, signal) =>
      told(async () => {
        const { routes } = await table(signal);
        const relevant = routes.filter(concerns);
        if (relevant.length === 0) return [];
        const instances = new Map((await instancesOfNetwork(context, signal)).map((instance) => [instance.id, instance]));
        return relevant.map((route) => routeOf(route, instances, config.clusterId));
      }),
    createRoute: (_cluster, hint, route, signal) => told(() => create(hint, route, signal)),
    deleteRoute: (_cluster, { name, destinationCidr }, signal) =>
      told(async () => {
        const input = { routeTableId: await tableId(signal), destination: destinationCidr, name };
        await orMissing(api.deleteRoute(input, { signal }));
      }),
  };
}
