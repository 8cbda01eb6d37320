// What the apiserver has said about callers is kept for a while. Keys are what strangers send: they are kept as digests, or not at all, and the questions
// that are open at the same time are bounded, so that who makes up tokens costs neither memory nor the apiserver (k8s.io/apiserver
// pkg/authentication/token/cache, plugin/pkg/authorizer/webhook, and the rate of its delegating clients).
import { sha256Hex } from '#pki';
import { atMost } from '#host';
import type { Clock } from '#utils';
import { delegatedAnswersMax, delegatedKeyLengthMax, delegatedQuestionsMax, delegatedWaitingMax } from './limits.ts';

interface Kept<T> {
  answer: Promise<T>;
  untilMs: number;
}

/** Keeps answers for as long as they say; failures are not kept. Callers at once share one question. */
export class Answers<T> {
  readonly #clock: Clock;
  readonly #ttlMs: (answer: T) => number;
  readonly #kept = new Map<string, Kept<T>>();
  readonly #inTurn = atMost(delegatedQuestionsMax, delegatedWaitingMax);

  constructor(clock: Clock, ttlMs: (answer: T) => number) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
  }

  /** `ask` is called unless the answer is known. Rejects with its error, and with another one when too many wait for their turn. */
  async get(key: string, ask: () => Promise<T>): Promise<T> {
    // Nobody asks so much again, and what is asked again would be driven out.
    if (key.length > delegatedKeyLengthMax) return this.#inTurn(ask);
    const digest = sha256Hex(key);
    const known = this.#kept.get(digest);
    if (known && known.untilMs > this.#clock.monotonic()) return known.answer;
    const entry: Kept<T> = { answer: this.#inTurn(ask), untilMs: Number.POSITIVE_INFINITY };
    this.#kept.delete(digest);
    this.#kept.set(digest, entry);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= delegatedAnswersMax) break;
      this.#kept.delete(oldest);
    }
    try {
      const answer = await entry.answer;
      entry.untilMs = this.#clock.monotonic() + this.#ttlMs(answer);
      return answer;
    } catch (error) {
      if (this.#kept.get(digest) === entry) this.#kept.delete(digest);
      throw error;
    }
  }
}
