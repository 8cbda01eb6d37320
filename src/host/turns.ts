// How long the current turn of the event loop has lasted. Work that only waits for promises never lets timers and sockets run: where such
// work passes in bulk (commits, replies, lists) it asks here and, when the turn is old, goes on in the next one. The age is read from a
// Clock, so that in virtual time, which stands still within a turn, nothing is ever put off.
import type { Clock } from '#utils';
import { limits } from './limits.ts';

export interface Turns {
  /** Whether work has gone on in this turn for longer than its share. */
  spent(): boolean;
  /** Lets all go on that waits for promises only and then, if the turn is old by now, timers and sockets too. */
  rest(): Promise<void>;
}

export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** `shareMs`: how long bulk work may go on without letting others run. */
export function createTurns(clock: Pick<Clock, 'monotonic'>, shareMs: number = limits.turnShareMs): Turns {
  let sinceMs: number | undefined;
  const over = (): void => {
    sinceMs = undefined;
  };
  const spent = (): boolean => {
    const nowMs = clock.monotonic();
    if (sinceMs !== undefined) return nowMs - sinceMs > shareMs;
    sinceMs = nowMs;
    setImmediate(over);
    return false;
  };
  return {
    spent,
    async rest() {
      // Ticks come after all promises that are settled, and those that these settle.
      await new Promise<void>((resolve) => process.nextTick(resolve));
      if (spent()) await nextTurn();
    },
  };
}

/** Callers by what they belong to; each in turn lets its oldest go. */
class Waiting {
  /** Whose turn it is comes first. None is empty. */
  readonly #flows = new Map<string, (() => void)[]>();

  push(flow: string, go: () => void): void {
    const own = this.#flows.get(flow);
    if (own) own.push(go);
    else this.#flows.set(flow, [go]);
  }

  shift(): (() => void) | undefined {
    for (const [flow, own] of this.#flows) {
      // To the end, behind all others.
      this.#flows.delete(flow);
      const next = own.shift();
      if (own.length > 0) this.#flows.set(flow, own);
      return next;
    }
    return undefined;
  }
}

/**
 * Lets callers in one after the other: at once while the turn is young, else in later turns, those of one flow in the order they came and the
 * flows by turns, so that a thousand callers of one hold each of another up once. `overtaking`: a young turn lets callers in past those who
 * wait, so that little work is not held up by much.
 */
export function createTurnstile(turns: Turns, overtaking = false): (flow?: string) => Promise<void> | undefined {
  // Who was let in is out of it: on a busy server there is always somebody waiting, and it would never be emptied.
  const waiting = new Waiting();
  let letting = false;
  const open = async (): Promise<void> => {
    letting = true;
    await nextTurn();
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      // What is let in counts from its beginning on.
      turns.spent();
      next();
      await turns.rest();
    }
    letting = false;
  };
  return (flow = '') => {
    if ((overtaking || !letting) && !turns.spent()) return undefined;
    if (!letting) void open();
    return new Promise((resolve) => waiting.push(flow, resolve));
  };
}
