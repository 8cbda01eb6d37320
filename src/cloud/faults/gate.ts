// Decides over each call. Every call draws the same number of random values, whatever is asked for, so that one share does not move the others.
import { type Rng, seededRng } from '#utils';
import { type Faults, noFaults } from '../model/index.ts';

export interface Verdict {
  /** Wait this long before anything else. */
  latencyMs: number;
  /** Close the connection without an answer. */
  outage: boolean;
  /** Answer so instead of doing it. */
  refuse?: 'error' | 'throttle';
  /** Do only the first step of a change that has several. Call `spent` when that came to pass. */
  breakInMiddle: boolean;
}

const fine: Verdict = { latencyMs: 0, outage: false, breakInMiddle: false };

export class FaultGate {
  #faults: Faults = noFaults;
  #rng: Rng = seededRng(noFaults.seed);
  #failures = 0;

  get faults(): Faults {
    return this.#faults;
  }
  /** From now on; random choices start anew from the seed. */
  set(faults: Faults): void {
    this.#faults = faults;
    this.#rng = seededRng(faults.seed);
    this.#failures = 0;
  }
  /** What happens to the next call. `operation` is undefined when the request names no operation of the API. */
  judge(operation: string | undefined): Verdict {
    const { errorRate, throttleRate, partialFailureRate, latencyMs, outage, operations } = this.#faults;
    if (operations.length > 0 && (operation === undefined || !operations.includes(operation))) return fine;
    const [error, throttle, partial] = [this.#rng.next(), this.#rng.next(), this.#rng.next()];
    const verdict: Verdict = { latencyMs, outage, breakInMiddle: partial < partialFailureRate && !this.#exhausted };
    const refuse = throttle < throttleRate ? 'throttle' : error < errorRate ? 'error' : undefined;
    if (refuse === undefined || this.#exhausted) return verdict;
    this.spent();
    return { ...verdict, refuse, breakInMiddle: false };
  }
  /** One failure more came to pass. */
  spent(): void {
    this.#failures += 1;
  }
  get #exhausted(): boolean {
    return this.#failures >= (this.#faults.failuresMax ?? Infinity);
  }
}
