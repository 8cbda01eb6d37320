// What a change is, and what comes of it.
import type { OperationId, ParsedInput } from '../api/index.ts';
import type { World } from '../model/index.ts';
import type { Context } from './context.ts';

export interface Outcome {
  world: World;
  /** The answer's body. */
  result: unknown;
  /** What is left when a change of several steps fails in its middle. Absent: it has one step. */
  halfway?: World;
}

/** One change. Throws a Refusal, and has changed nothing then. */
export type Change<Id extends OperationId> = (world: World, input: ParsedInput<Id>, context: Context) => Outcome;
export type Changes<Id extends OperationId> = { readonly [K in Id]: Change<K> };
