// Every change of the world: which operation is done by what.
import type { OperationId } from '../api/index.ts';
import { Refusal } from '../api/errors.ts';
import type { World } from '../model/index.ts';
import { addressChanges } from './addresses.ts';
import type { Outcome } from './command.ts';
import type { Context } from './context.ts';
import { dnsZoneChanges } from './dns-zones.ts';
import { instanceChanges } from './instances.ts';
import { interfaceChanges } from './interfaces.ts';
import { loadBalancerChanges } from './load-balancers.ts';
import { routeTableChanges } from './route-tables.ts';
import { securityGroupChanges } from './security-groups.ts';
import { settle } from './settle.ts';
import { tagChanges } from './tags.ts';
import { vpcChanges } from './vpcs.ts';
import { collections } from './world.ts';

const changes = {
  ...vpcChanges,
  ...routeTableChanges,
  ...securityGroupChanges,
  ...interfaceChanges,
  ...addressChanges,
  ...instanceChanges,
  ...loadBalancerChanges,
  ...dnsZoneChanges,
  ...tagChanges,
};
export type ChangeId = keyof typeof changes;
export const isChange = (id: OperationId): id is ChangeId => Object.hasOwn(changes, id);

export interface Command {
  operation: ChangeId;
  /** Checked by `parseInput` against the operation's schemas. */
  input: Record<string, unknown>;
}

/** A resource in an answer is shown as it is in the settled world. */
function settledResult(world: World, result: unknown): unknown {
  if (typeof result !== 'object' || result === null || !('id' in result)) return result;
  const { id } = result;
  if (typeof id !== 'string') return result;
  const collection = collections.find((name) => world[name].has(id));
  return collection ? world[collection].get(id) : result;
}

/** The new world and the answer, or why not; the world is settled. */
export function apply(world: World, { operation, input }: Command, context: Context): Outcome | Refusal {
  // `parseInput` made the input from the schemas of this very operation.
  const change = changes[operation] as unknown as (world: World, input: Record<string, unknown>, context: Context) => Outcome;
  try {
    const outcome = change(world, input, context);
    const after = settle(world, outcome.world, context.settings);
    const settled = { ...outcome, world: after, result: settledResult(after, outcome.result) };
    return outcome.halfway ? { ...settled, halfway: settle(world, outcome.halfway, context.settings) } : settled;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}
