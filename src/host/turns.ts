// How long the current turn of the event loop has lasted. Work that only waits for promises never lets timers and sockets run: where such
// work passes in bulk (commits, replies, lists) it asks here and, when the turn is old, goes on in the next one. The age is read from a
// Clock, so that in virtual time, which stands still within a turn, nothing is ever put off.
import type { Clock } from '#utils';
import { limits } from './limits.ts';

export interface Turns {
  /** Whether work has gone on in this turn for longer than its share. */
  spent(): boolean;
  /** Whether turns take long at present: this one is spent, or the last one was. */
  slow(): boolean;
  /** Lets all go on that waits for promises only and then, if the turn is old by now, timers and sockets too. */
  rest(): Promise<void>;
}

export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** `shareMs`: how long bulk work may go on without letting others run. */
export function createTurns(clock: Pick<Clock, 'monotonic'>, shareMs: number = limits.turnShareMs): Turns {
  let sinceMs: number | undefined;
  let lastMs = 0;
  const over = (): void => {
    if (sinceMs !== undefined) lastMs = clock.monotonic() - sinceMs;
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
    slow: () => spent() || lastMs > shareMs,
    async rest() {
      // Ticks come after all promises that are settled, and those that these settle.
      await new Promise<void>((resolve) => process.nextTick(resolve));
      if (spent()) await nextTurn();
    },
  };
}

/** The flow of work that is done for nobody in particular. */
const nobody = '';

/** Resolves when the caller's turn has come; undefined when it has come already. `flow` names the client for which the work is done. */
export type Turnstile = (flow?: string) => Promise<void> | undefined;

/** Callers by what they belong to; each in turn lets its oldest go. */
class Waiting {
  /** Whose turn it is comes first. None is empty. */
  readonly #flows = new Map<string, (() => void)[]>();

  push(flow: string, go: () => void): void {
    const own = this.#flows.get(flow);
    if (own) own.push(go);
    else this.#flows.set(flow, [go]);
  }

  has(flow: string): boolean {
    return this.#flows.has(flow);
  }

  shift(): { flow: string; go: () => void } | undefined {
    for (const [flow, own] of this.#flows) {
      const go = own.shift();
      if (own.length === 0) this.#flows.delete(flow);
      else if (this.#flows.size > 1) {
        // To the end, behind all others.
        this.#flows.delete(flow);
        this.#flows.set(flow, own);
      }
      return go && { flow, go };
    }
    return undefined;
  }
}

/** Time that flows have used of late: what was used one half-life ago counts half. */
class Usage {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** In milliseconds as of `#sinceMs`: later ones are entered larger instead of making all earlier ones smaller. */
  readonly #used = new Map<string, number>();
  #most = 0;
  #sinceMs = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  add(flow: string, ms: number): void {
    if (ms <= 0) return;
    const halves = (this.#clock.monotonic() - this.#sinceMs) / limits.usageHalfLifeMs;
    if (halves > limits.usageHalvesMax) this.#beginAnew(halves);
    const used = (this.#used.get(flow) ?? 0) + ms * 2 ** Math.min(halves, limits.usageHalvesMax);
    this.#used.set(flow, used);
    this.#most = Math.max(this.#most, used);
  }

  /** Whether it has used little beside the flow that has used most. */
  isLight(flow: string): boolean {
    return (this.#used.get(flow) ?? 0) * limits.lightUsageRatio < this.#most;
  }

  /** Forgets what counts for nothing any more. */
  #beginAnew(halves: number): void {
    const before = [...this.#used];
    this.#used.clear();
    this.#most = 0;
    this.#sinceMs = this.#clock.monotonic();
    for (const [flow, used] of before) this.add(flow, used / 2 ** halves > limits.usageForgottenMs ? used / 2 ** halves : 0);
  }
}

/** Whose work runs now: all from the moment on that somebody was let in until the promises that are settled have been followed. */
class Account {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #usage: Usage;
  readonly #onUsed: TurnstileOptions['onUsed'];
  #running: string | undefined;
  #sinceMs = 0;
  #lightMs = 0;

  constructor(clock: Pick<Clock, 'monotonic'>, onUsed: TurnstileOptions['onUsed']) {
    this.#clock = clock;
    this.#usage = new Usage(clock);
    this.#onUsed = onUsed;
  }

  begin(flow: string): void {
    // It goes on: what it uses is charged when it ends or somebody else begins.
    if (flow === this.#running) return;
    if (this.#running === undefined) process.nextTick(this.#closeSoon);
    else this.#charge();
    this.#running = flow;
    this.#sinceMs = this.#clock.monotonic();
  }

  /** What is written meanwhile is encrypted and sent in a tick, which comes before that of the close. */
  readonly #closeSoon = (): void => process.nextTick(this.#close);

  readonly #close = (): void => {
    this.#charge();
    this.#running = undefined;
  };

  /** Whether the flow may go on past those who wait: it uses little, and all who do have not used the share of this turn up. */
  mayPass(flow: string, shareMs: number): boolean {
    if (this.#running !== undefined) this.#charge();
    return this.#lightMs <= shareMs && this.#usage.isLight(flow);
  }

  #charge(): void {
    const flow = this.#running;
    if (flow === undefined) return;
    const nowMs = this.#clock.monotonic();
    const ms = nowMs - this.#sinceMs;
    this.#sinceMs = nowMs;
    if (ms <= 0) return;
    if (this.#usage.isLight(flow)) {
      if (this.#lightMs === 0) setImmediate(() => (this.#lightMs = 0));
      this.#lightMs += ms;
    }
    this.#usage.add(flow, ms);
    this.#onUsed?.(flow, ms);
  }
}

export interface TurnstileOptions {
  clock: Pick<Clock, 'monotonic'>;
  turns: Turns;
  /** A young turn lets callers in past those of other flows who wait, so that little work is not held up by much. */
  overtaking?: boolean;
  shareMs?: number;
  /** Hears of each piece of work how long it took, in milliseconds. */
  onUsed?(flow: string, ms: number): void;
}

/**
 * Lets callers in one after the other: at once while the turn is young, else in later turns, those of one flow in the order they came and the
 * flows by turns, so that a thousand callers of one hold each of another up once. A flow that has used little time of late beside the one
 * that used most goes on at once in an old turn, too, until all such flows have used a share of their own up: many small steps of one who
 * asks for little do not each wait for a large step of one who asks for much.
 */
export function createTurnstile({
  clock,
  turns,
  overtaking = false,
  shareMs = limits.turnShareMs,
  onUsed,
}: TurnstileOptions): Turnstile {
  // Who was let in is out of it: on a busy server there is always somebody waiting, and it would never be emptied.
  const waiting = new Waiting();
  const account = new Account(clock, onUsed);
  let letting = false;
  const open = async (): Promise<void> => {
    letting = true;
    await nextTurn();
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      // What is let in counts from its beginning on.
      turns.spent();
      account.begin(next.flow);
      next.go();
      await turns.rest();
    }
    letting = false;
  };
  return (flow = nobody) => {
    const free = overtaking ? flow === nobody || !waiting.has(flow) : !letting;
    const young = !turns.spent();
    if ((free && young) || account.mayPass(flow, shareMs)) {
      account.begin(flow);
      return undefined;
    }
    if (!letting) void open();
    return new Promise((resolve) => waiting.push(flow, resolve));
  };
}
