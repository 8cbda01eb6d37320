// What follows from the rest of the world, brought in line after every change: black holes, the public addresses of instances, targets without an
// instance.
import {
  type Instance,
  instanceNetns,
  interfaceNetns,
  type LoadBalancer,
  type NetworkInterface,
  type RouteTable,
  type World,
} from '../model/index.ts';
import type { Settings } from './context.ts';
import { routeState } from './route-tables.ts';
import { type Collection, type ItemOf, itemsOf, put } from './world.ts';

function settledTable(world: World, table: RouteTable): RouteTable {
  let differs = false;
  const routes = table.routes.map((route) => {
    const state = routeState(world, route);
    if (state === route.state) return route;
    differs = true;
    return { ...route, state };
  });
  return differs ? { ...table, routes } : table;
}

function settledInterface(item: NetworkInterface, mark: string): NetworkInterface {
  const netns = item.attachment ? instanceNetns(mark, item.attachment.instanceId) : interfaceNetns(mark, item.id);
  return item.netns === netns ? item : { ...item, netns };
}

function settledInstance(world: World, instance: Instance): Instance {
  if (instance.state === 'terminated') return instance;
  const first = world.interfaces.get(instance.interfaceIds[0] ?? '');
  if (!first || first.publicAddress === instance.publicAddress) return instance;
  const { publicAddress: _, ...rest } = instance;
  return first.publicAddress === undefined ? rest : { ...rest, publicAddress: first.publicAddress };
}

const gone = (world: World, instanceId: string): boolean => {
  const state = world.instances.get(instanceId)?.state;
  return state === undefined || state === 'terminated';
};

function settledBalancer(world: World, balancer: LoadBalancer): LoadBalancer {
  const targets = balancer.targets.filter(({ instanceId }) => !gone(world, instanceId));
  return targets.length === balancer.targets.length ? balancer : { ...balancer, targets };
}

/** Every item of one kind, replaced where it is out of line. */
function all<C extends Collection>(world: World, collection: C, settled: (world: World, item: ItemOf<C>) => ItemOf<C>): World {
  let changed = world;
  for (const item of itemsOf(world, collection)) {
    const after = settled(changed, item);
    if (after !== item) changed = put(changed, collection, after);
  }
  return changed;
}

/** `before` is a settled world. The same world when nothing was out of line. */
export function settle(before: World, changed: World, { mark }: Pick<Settings, 'mark'>): World {
  // Only what happens to these has consequences elsewhere.
  if (before.instances === changed.instances && before.interfaces === changed.interfaces) return changed;
  let world = changed;
  if (mark !== undefined) world = all(world, 'interfaces', (_, item) => settledInterface(item, mark));
  world = all(world, 'instances', settledInstance);
  world = all(world, 'routeTables', settledTable);
  return all(world, 'loadBalancers', settledBalancer);
}
