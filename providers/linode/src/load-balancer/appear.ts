// Things that are made under a label that nobody else in the account has: made twice, the second request is refused, and the first one's is found. So
// an answer that is lost makes no second one.
import { retryAfter } from 'sagong/cloud-provider';
import { poll } from 'sagong/cloud-provider/kit';
import { isLabelTaken } from '../api/errors.ts';
import type { Cloud } from '../cloud.ts';
import { appearMs, unsettledAgainMs } from '../limits.ts';

export interface Appearing<Thing> {
  what: string;
  make(): Promise<Thing>;
  /** Looks for it by its label. */
  find(): Promise<Thing | undefined>;
}

/** Where the label is taken, waits a little for the API to show whose it is. */
export async function appearing<Thing>({ clock, signal }: Cloud, { what, make, find }: Appearing<Thing>): Promise<Thing> {
  try {
    return await make();
  } catch (error) {
    if (!isLabelTaken(error)) throw error;
    const found = await poll({
      what,
      clock,
      deadlineMs: appearMs,
      againAfterMs: unsettledAgainMs,
      ...(signal && { signal }),
      ask: async () => {
        const thing = await find();
        return thing === undefined
          ? { done: false, state: 'its label is taken, but it is not shown' }
          : { done: true, value: thing };
      },
    });
    return found;
  }
}

/** The failure of a call that met something which may exist but is not shown yet; the call is repeated. */
export const notSettled = (what: string): Error =>
  retryAfter(`${what} may have been made a moment ago, and is not shown yet`, unsettledAgainMs);
