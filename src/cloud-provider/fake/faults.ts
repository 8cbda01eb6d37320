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
  /** Time of every call; a random one up to `latencyJitterMs` more. */
  latencyMs: number;
  latencyJitterMs: number;
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
  latencyMs: 0,
  latencyJitterMs: 0,
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
  /** At the beginning of a call. */
  async enter(operation: string, subject: string, signal?: AbortSignal): Promise<void> {
    const call: FakeCall = { operation, subject, atMs: this.#clock.now() };
    this.calls.push(call);
    const { latencyMs, latencyJitterMs, outage, throttleRate, throttleMs, errorRate } = this.faults;
    const delayMs = latencyMs + (latencyJitterMs > 0 ? this.#rng.int(latencyJitterMs) : 0);
    if (delayMs > 0) await this.#clock.sleep(delayMs, signal);
    const error =
      this.#take(operation) ??
      (outage ? new Error('the cloud does not answer') : undefined) ??
      (this.#happens(throttleRate) ? retryAfter(`${operation}: rate exceeded`, throttleMs) : undefined) ??
      (this.#happens(errorRate) ? new Error(`${operation}: internal error of the cloud`) : undefined);
    if (!error) return;
    call.failed = error.message;
    throw error;
  }
  /** Between two steps of a change. */
  step(operation: string, step: string): void {
    const planned = this.#take(`${operation}:${step}`);
    if (planned) throw planned;
    if (this.#happens(this.faults.partialRate)) throw new Error(`${operation}: failed at ${step}`);
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
