// The one way a provider's calls go out: rate limit, bound in time, retry with jitter for what is worth it, metrics, and an error that says which
// call failed. Throttling that outlasts the retries becomes a delay that the controller keeps.
import { systemRng } from '#host';
import type { Clock, Rng } from '#utils';
import { retryAfter } from '../errors.ts';
import { CallError, type Failure, httpFailure, textOf } from './failure.ts';
import { inTime } from './in-time.ts';
import {
  callAttemptsMax,
  callTimeoutMs,
  retryBaseMs,
  retryWaitMaxMs,
  throttleDefaultMs,
  throttleMaxMs,
  throttleWaitMaxMs,
} from './limits.ts';
import type { RateLimiter } from './rate-limit.ts';

export interface RetryPolicy {
  attemptsMax: number;
  baseMs: number;
  waitMaxMs: number;
  /** Throttling that lasts longer than this is left to the controller. */
  throttleWaitMaxMs: number;
}
export const defaultRetryPolicy: RetryPolicy = {
  attemptsMax: callAttemptsMax,
  baseMs: retryBaseMs,
  waitMaxMs: retryWaitMaxMs,
  throttleWaitMaxMs,
};

/** What is noted of each call, as `callMetrics` does. */
export interface CallObserver {
  /** One call with all its tries. */
  ended(call: string, durationMs: number, failure: CallError | undefined): void;
  /** One try that failed. */
  failed?(call: string, failure: Failure): void;
}

export interface CallsOptions {
  clock: Clock;
  rng?: Pick<Rng, 'next'>;
  /** What an error of the SDK means. Default: by HTTP status. */
  classify?(error: unknown): Failure;
  /** Of questions, and, unless `writeLimiter` is given, of changes. */
  limiter?: RateLimiter;
  writeLimiter?: RateLimiter;
  retry?: Partial<RetryPolicy>;
  /** The time for one try. */
  timeoutMs?: number;
  observer?: CallObserver;
}

export interface CallOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
}
export interface WriteOptions extends CallOptions {
  /**
   * Whether the same request may be sent twice, because the second one finds that all is done: PUT, DELETE, or a POST under a name or with a
   * request ID. Otherwise a request whose fate is not known is not sent again.
   */
  idempotent: boolean;
}

/** One try. The signal ends it: hand it to the SDK. */
export type Attempt<T> = (signal: AbortSignal) => Promise<T>;

export interface Calls {
  /** A question. `name` is what the vendor calls the operation; it begins the message of every failure. */
  read<T>(name: string, attempt: Attempt<T>, options?: CallOptions): Promise<T>;
  /** A change. */
  write<T>(name: string, attempt: Attempt<T>, options: WriteOptions): Promise<T>;
}

/** The wait before try number `next` (2, 3, ...): anything up to an exponentially growing bound, so that callers spread. */
const backoffMs = ({ baseMs, waitMaxMs }: RetryPolicy, next: number, rng: Pick<Rng, 'next'>): number =>
  rng.next() * Math.min(waitMaxMs, baseMs * 2 ** (next - 2));

/** How long to wait before another try; undefined: this failure is final. */
function retryDelayMs(
  failure: Failure,
  next: number,
  idempotent: boolean,
  policy: RetryPolicy,
  rng: Pick<Rng, 'next'>,
): number | undefined {
  if (next > policy.attemptsMax) return undefined;
  const { kind, retryAfterMs = 0 } = failure;
  if (kind !== 'throttled' && !(kind === 'transient' && idempotent)) return undefined;
  if (retryAfterMs > policy.throttleWaitMaxMs) return undefined;
  return retryAfterMs + backoffMs(policy, next, rng);
}

/** What the controller is given for a failed call: a delay where the vendor asked for patience, also by 503 with Retry-After (RFC 9110, 10.2.3). */
function forController(failed: CallError): Error {
  const patience = failed.kind === 'throttled' || (failed.kind === 'transient' && failed.retryAfterMs !== undefined);
  if (!patience) return failed;
  const wantedMs = failed.retryAfterMs ?? throttleDefaultMs;
  return retryAfter(failed.message, Math.min(Math.max(wantedMs, 1_000), throttleMaxMs), failed);
}

/** Makes the calls of one account, which share its bounds and its back-off. */
export function createCalls(options: CallsOptions): Calls {
  const { clock, rng = systemRng(), classify = httpFailure, limiter, writeLimiter = limiter, observer } = options;
  const policy = { ...defaultRetryPolicy, ...options.retry };

  async function run<T>(name: string, attempt: Attempt<T>, pace: RateLimiter | undefined, given: WriteOptions): Promise<T> {
    const { signal, idempotent, timeoutMs = options.timeoutMs ?? callTimeoutMs } = given;
    for (let next = 2; ; next++) {
      await pace?.wait(signal);
      try {
        return await inTime(attempt, clock, timeoutMs, signal);
      } catch (error) {
        if (signal?.aborted) throw new Error(`${name}: ${textOf(signal.reason)}`, { cause: error });
        const failure = classify(error);
        observer?.failed?.(name, failure);
        if (failure.kind === 'throttled' && failure.retryAfterMs !== undefined)
          pace?.pause(Math.min(failure.retryAfterMs, throttleMaxMs));
        const delayMs = retryDelayMs(failure, next, idempotent, policy, rng);
        if (delayMs === undefined) throw new CallError(name, failure, error);
        await clock.sleep(delayMs, signal);
      }
    }
  }
  async function observed<T>(name: string, attempt: Attempt<T>, pace: RateLimiter | undefined, given: WriteOptions): Promise<T> {
    const startedMs = clock.monotonic();
    try {
      const answer = await run(name, attempt, pace, given);
      observer?.ended(name, clock.monotonic() - startedMs, undefined);
      return answer;
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      observer?.ended(name, clock.monotonic() - startedMs, error);
      throw forController(error);
    }
  }
  return {
    read: (name, attempt, given = {}) => observed(name, attempt, limiter, { ...given, idempotent: true }),
    write: (name, attempt, given) => observed(name, attempt, writeLimiter, given),
  };
}
