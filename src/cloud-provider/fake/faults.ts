// What can go wrong with a cloud, on request and by a seed: errors, throttling, latency, failure in the middle of a change, outage, and things
// that are not listed yet.
import type { Clock, Rng } from '#utils';
import { retryAfter } from '../errors.ts';

export interface FakeFaults {
  /** Share of calls that fail before anything happened, 0 to 1. */
  errorRate: number;
  /** Share of calls answered by `retryAfter(..., throttleMs)`. */
  throttleRate: number;
  throttleMs: number;
  /** Share of the steps of a change that fail and leave what was done before. */
  partialRate: number;
  /** Share of the changes that are carried out, but answered with an error. */
  lostAnswerRate: number;
  /** Time of every call; a random one up to `latencyJitterMs` more. */
  latencyMs: number;
  latencyJitterMs: number;
  /** Time between two steps of a change: whoever asked for it may die there. */
  stepMs: number;
  /** How long something new is not seen by lists and look-ups. */
  lagMs: number;
  /** Nothing answers. */
  outage: boolean;
}

export const noFaults: Readonly<FakeFaults> = {
  errorRate: 0,
  throttleRate: 0,
  throttleMs: 1_000,
  partialRate: 0,
  lostAnswerRate: 0,
  latencyMs: 0,
  latencyJitterMs: 0,
  stepMs: 0,
  lagMs: 0,
  outage: false,
};

export interface FakeCall {
  operation: string;
  /** What it was about: a name. */
  subject: string;
  atMs: number;
  failed?: string;
}

/** A call on its way through its steps. */
export interface Passage {
  /** Between two steps of a change. Rejects when it stops here. */
  step(name: string): Promise<void>;
  /** All is done; the answer may still be lost. */
  done(): void;
}

/** Passes every call of a fake cloud, or stops it. */
export class FaultGate {
  faults: FakeFaults = { ...noFaults };
  /** All calls so far. */
  readonly calls: FakeCall[] = [];
  readonly #planned = new Map<string, Error[]>();
  readonly #clock: Clock;
  readonly #rng: Rng;

  constructor(clock: Clock, rng: Rng) {
    this.#clock = clock;
    this.#rng = rng;
  }
  /** The next calls of this operation, or the next times it reaches this step (`operation:step`), throw these, one each. */
  failNext(operation: string, ...errors: Error[]): void {
    this.#planned.set(operation, [...(this.#planned.get(operation) ?? []), ...errors]);
  }
  /** At the beginning of a call. Rejects when nothing of it happens. */
  async enter(operation: string, subject: string, signal?: AbortSignal): Promise<Passage> {
    const call: FakeCall = { operation, subject, atMs: this.#clock.now() };
    this.calls.push(call);
    const { latencyMs, latencyJitterMs, outage, throttleRate, throttleMs, errorRate } = this.faults;
    const fail = (error: Error | undefined): void => {
      if (!error) return;
      call.failed = error.message;
      throw error;
    };
    await this.#pass(latencyMs + (latencyJitterMs > 0 ? this.#rng.int(latencyJitterMs) : 0), call, signal);
    fail(
      this.#take(operation) ??
        (outage ? new Error('the cloud does not answer') : undefined) ??
        (this.#happens(throttleRate) ? retryAfter(`${operation}: rate exceeded`, throttleMs) : undefined) ??
        (this.#happens(errorRate) ? new Error(`${operation}: internal error of the cloud`) : undefined),
    );
    return {
      step: async (name) => {
        await this.#pass(this.faults.stepMs, call, signal);
        const stops = this.#happens(this.faults.partialRate);
        fail(this.#take(`${operation}:${name}`) ?? (stops ? new Error(`${operation}: failed at ${name}`) : undefined));
      },
      done: () => {
        if (this.#happens(this.faults.lostAnswerRate)) fail(new Error(`${operation}: the answer was lost`));
      },
    };
  }
  /** Waits as long as a call takes, or until the caller gives it up. */
  async #pass(delayMs: number, call: FakeCall, signal: AbortSignal | undefined): Promise<void> {
    if (delayMs <= 0) return;
    try {
      await this.#clock.sleep(delayMs, signal);
    } catch (error) {
      call.failed = 'cut off';
      throw error;
    }
  }
  /** Whether something made at `sinceMs` is seen already. */
  visible(sinceMs: number): boolean {
    return this.#clock.now() - sinceMs >= this.faults.lagMs;
  }
  #take(operation: string): Error | undefined {
    return this.#planned.get(operation)?.shift();
  }
  #happens(rate: number): boolean {
    return rate > 0 && this.#rng.next() < rate;
  }
}
