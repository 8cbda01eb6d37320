// Route tables. Whether a route is a black hole is computed from what it leads to, after every change (`settle`).
import { conflicting, inUse, invalid, notFound } from '../api/errors.ts';
import type { Route, World } from '../model/index.ts';
import { isCanonical } from './cidr.ts';
import type { Changes } from './command.ts';
import type { Context } from './context.ts';
import { newTable } from './vpcs.ts';
import { itemsOf, own, put, remove, visible, withinQuota } from './world.ts';

export function routeState(world: World, { target }: Pick<Route, 'target'>): Route['state'] {
  if (target.kind === 'instance') return world.instances.get(target.id)?.state === 'running' ? 'active' : 'blackhole';
  if (target.kind !== 'interface') return 'active';
  const attached = world.interfaces.get(target.id);
  if (!attached) return 'blackhole';
  if (!attached.attachment) return 'active';
  return world.instances.get(attached.attachment.instanceId)?.state === 'running' ? 'active' : 'blackhole';
}

function checkTarget(world: World, context: Context, vpcId: string, target: Route['target']): void {
  if (target.kind === 'local') throw invalid('target.kind', 'the local route is there by itself');
  if (target.kind === 'internet-gateway') return;
  const item = visible(world, context, target.kind === 'instance' ? 'instances' : 'interfaces', target.id);
  if (item.vpcId !== vpcId) throw invalid('target.id', `${target.id} is in another VPC`);
  if ('state' in item && (item.state === 'shutting-down' || item.state === 'terminated'))
    throw conflicting('IncorrectInstanceState', `${target.id} is ${item.state}`);
}

export const routeTableChanges: Changes<'createRouteTable' | 'deleteRouteTable' | 'putRoute' | 'deleteRoute'> = {
  createRouteTable(world, { vpcId, tags }, context) {
    const { cidr } = own(world, context, 'vpcs', vpcId);
    const have = itemsOf(world, 'routeTables').filter((table) => table.vpcId === vpcId).length;
    withinQuota(have, context.settings.quotas.routeTablesPerVpc, 'route tables in a VPC');
    const table = newTable(world, context, vpcId, cidr, false, tags);
    return { world: put(world, 'routeTables', table), result: table };
  },
  deleteRouteTable(world, { routeTableId }, context) {
    const { id, main } = own(world, context, 'routeTables', routeTableId);
    if (main) throw inUse(`${id} is the main route table of its VPC`);
    const user = itemsOf(world, 'subnets').find((subnet) => subnet.routeTableId === id);
    if (user) throw inUse(`${user.id} uses ${id}`);
    return { world: remove(world, 'routeTables', id), result: undefined };
  },
  putRoute(world, { routeTableId, destination, target, name }, context) {
    const table = own(world, context, 'routeTables', routeTableId);
    if (!/^\d+\.\d+\.\d+\.\d+\/\d+$/.test(destination) || !isCanonical(destination))
      throw invalid('destination', `not an IPv4 CIDR: ${destination}`);
    checkTarget(world, context, table.vpcId, target);
    const there = table.routes.find((route) => route.destination === destination);
    if (there && (there.target.kind === 'local' || there.name !== name))
      throw conflicting(
        'RouteAlreadyExists',
        `the route to ${destination} is there, with the name ${JSON.stringify(there.name)}`,
      );
    if (!there) withinQuota(table.routes.length, context.settings.quotas.routesPerTable, 'routes in a route table');
    const route = { destination, target, name, state: routeState(world, { target }) };
    const routes = there ? table.routes.map((one) => (one === there ? route : one)) : [...table.routes, route];
    const changed = { ...table, routes };
    return { world: put(world, 'routeTables', changed), result: changed };
  },
  deleteRoute(world, { routeTableId, destination, name }, context) {
    const table = own(world, context, 'routeTables', routeTableId);
    const there = table.routes.find((route) => route.destination === destination);
    if (!there || (name !== undefined && there.name !== name)) throw notFound('Route', destination);
    if (there.target.kind === 'local') throw invalid('destination', 'the local route stays');
    const changed = { ...table, routes: table.routes.filter((route) => route !== there) };
    return { world: put(world, 'routeTables', changed), result: undefined };
  },
};
