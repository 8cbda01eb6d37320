// "Rate Limit" of the reference: requests of the last hour and of the last minute are counted; each one that is too many is answered with 429.
import { Refusal } from './refusal.ts';

export interface RateLimits {
  perHour: number;
  perMinute: number;
}

const hourMs = 3_600_000;
const minuteMs = 60_000;

export class RateLimiter {
  readonly #limits: RateLimits;
  readonly #now: () => number;
  readonly #takenMs: number[] = [];

  constructor(limits: RateLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }
  /** Headers of every answer. */
  headers(): Record<string, string> {
    const oldestMs = this.#takenMs[0] ?? this.#now();
    return {
      'ratelimit-limit': String(this.#limits.perHour),
      'ratelimit-remaining': String(Math.max(0, this.#limits.perHour - this.#takenMs.length)),
      'ratelimit-reset': String(Math.ceil((oldestMs + hourMs) / 1000)),
    };
  }
  /** Counts a request. Throws when it is too many. */
  take(): void {
    const nowMs = this.#now();
    while ((this.#takenMs[0] ?? nowMs) <= nowMs - hourMs) this.#takenMs.shift();
    const { perHour, perMinute } = this.#limits;
    if (this.#takenMs.length >= perHour) throw new Refusal(429, 'API rate limit exceeded.');
    const burst = this.#takenMs.at(-perMinute);
    if (this.#takenMs.length >= perMinute && burst !== undefined && burst > nowMs - minuteMs) {
      const afterSeconds = String(Math.ceil((burst + minuteMs - nowMs) / 1000));
      throw new Refusal(429, 'API rate limit exceeded.', { 'retry-after': afterSeconds, 'ratelimit-remaining': '0' });
    }
    this.#takenMs.push(nowMs);
  }
}
