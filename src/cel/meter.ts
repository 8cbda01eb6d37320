// What an evaluation does in truth, beside the cost that upstream counts: a look at the size of a text costs one there, however long the text is.
// Expressions run to their end at once, so the purse of the one that runs is kept here, and functions need not hand it on.
import { Work, WorkError } from '#regexp';
import { CostError } from './errors.ts';
import { evaluationWorkUnits } from './limits.ts';

let current: Work | undefined;

/** The purse of the evaluation that runs. */
export const workNow = (): Work => current ?? new Work(evaluationWorkUnits);

/** Throws `CostError` once nothing is left. A unit is 10 to 20 ns. */
export function spendWork(units: number): void {
  if (!current) return;
  current.left -= units;
  if (current.left < 0) throw new CostError();
}

/** What a failure of the host is to an expression: it needed too much. */
function asCost(error: unknown): unknown {
  return error instanceof WorkError || error instanceof RangeError ? new CostError() : error;
}

/** Runs an evaluation on a purse; one inside of another shares that one's. */
export function metered<Result>(work: Work | undefined, action: () => Result): Result {
  const outer = current;
  current = outer ?? work ?? new Work(evaluationWorkUnits);
  try {
    return action();
  } catch (error) {
    throw asCost(error);
  } finally {
    current = outer;
  }
}
