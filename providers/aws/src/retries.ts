// Tries again what is worth it, with the numbers of the SDK's standard mode, but waits in the time of the given clock.
// How many tries: `AWS_MAX_ATTEMPTS` or the profile, as for every program of the SDK.
import type { Clock, Rng } from 'sagong/cloud-provider';
import { retryCost, retryDelayMaxMs, retryTransientMs, retryThrottledMs, retryTokens, throttledRetryCost } from './limits.ts';

interface Token {
  getRetryCount(): number;
  getRetryDelay(): number;
  cost: number;
}
interface Failure {
  errorType: string;
  retryAfterHint?: Date;
}

export interface Retries {
  acquireInitialRetryToken(): Promise<Token>;
  /** Waits, then gives the token of the next try. Rejects when there shall be none. */
  refreshRetryTokenForRetry(token: Token, failure: Failure): Promise<Token>;
  recordSuccess(token: Token): void;
}

export interface RetriesDeps {
  clock: Clock;
  rng: Pick<Rng, 'next'>;
  /** Tries of one call, the first one included. */
  attemptsMax(): Promise<number>;
}

const token = (count: number, cost: number): Token => ({ getRetryCount: () => count, getRetryDelay: () => 0, cost });

export function createRetries({ clock, rng, attemptsMax }: RetriesDeps): Retries {
  // Shared by all calls: when nearly everything fails, trying again only adds to it.
  let tokens = retryTokens;
  return {
    acquireInitialRetryToken: () => Promise.resolve(token(0, 1)),
    async refreshRetryTokenForRetry(last, { errorType, retryAfterHint }) {
      const isThrottled = errorType === 'THROTTLING';
      const cost = isThrottled ? throttledRetryCost : retryCost;
      const tries = last.getRetryCount() + 1;
      if (!isThrottled && errorType !== 'TRANSIENT') throw new Error('another try would fail as well');
      if (tries >= (await attemptsMax())) throw new Error('there were enough tries');
      if (tokens < cost) throw new Error('too many calls fail');
      tokens -= cost;
      const mostMs = Math.min((isThrottled ? retryThrottledMs : retryTransientMs) * 2 ** (tries - 1), retryDelayMaxMs);
      const delayMs = Math.round(rng.next() * mostMs);
      const askedMs = retryAfterHint ? retryAfterHint.getTime() - clock.now() : 0;
      await clock.sleep(Math.max(delayMs, Math.min(askedMs, delayMs + retryDelayMaxMs / 4)));
      return token(tries, cost);
    },
    recordSuccess({ cost }) {
      tokens = Math.min(retryTokens, tokens + cost);
    },
  };
}
