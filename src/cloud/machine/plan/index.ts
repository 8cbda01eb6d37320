// From a world to what the machine is to contain. Pure.
import { type World } from '../../model/index.ts';
import { edgePlan } from './edge.ts';
import { placePlans } from './places.ts';
import { routerPlan } from './router.ts';
import type { MachinePlan } from './types.ts';
import { instancePlaces, viewOf } from './view.ts';

export { type Change, changes, isEmpty, leftoverLinks, without } from './changes.ts';
export { edgeAddressOf } from './edge.ts';
export { nameServerOf } from './ipv4.ts';
export { observeCommand, parseState } from './observe.ts';
export { emptyState, type MachinePlan, type NamespacePlan, type NamespaceState } from './types.ts';

/** What is to be on the machine. `publicCidr`: the first address of it is the edge's own. */
export function plan(world: World, mark: string, publicCidr: string): MachinePlan {
  const view = viewOf(world, mark);
  return new Map([
    [view.edge, edgePlan(view.vpcs, publicCidr)],
    ...view.vpcs.map((entry) => [entry.netns, routerPlan(entry, world)] as const),
    ...placePlans(
      instancePlaces(mark, world),
      view.vpcs.flatMap(({ interfaces }) => interfaces),
    ),
  ]);
}
