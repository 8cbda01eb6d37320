// Waiting for what a cloud does in its own time: an operation, a work request, a state. Bounded by a deadline, ended by the caller's signal.
import type { Clock } from '#utils';
import { retryAfter } from '../errors.ts';
import { failedWith, textOf } from './failure.ts';
import { pollDeadlineMs, pollEveryMaxMs, pollEveryMs, pollFailuresMax } from './limits.ts';

export type PollAnswer<T> =
  | { done: true; value: T }
  /** `afterMs`: when the cloud wants to be asked again. `state` is shown when time runs out. */
  | { done: false; afterMs?: number; state?: string };

export interface PollOptions<T> {
  /** What is waited for, for the message: `operation insert of firewall web`. */
  what: string;
  clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** Asks once. Throws when the operation failed; a transient or throttled failure of the question itself is asked again. */
  ask(signal?: AbortSignal): Promise<PollAnswer<T>>;
  /** The first wait; each further one is half as long again, up to `everyMaxMs`. */
  everyMs?: number;
  everyMaxMs?: number;
  deadlineMs?: number;
  /** Delay asked of the controller when time runs out. Default: `everyMaxMs`. */
  againAfterMs?: number;
  signal?: AbortSignal;
}

/**
 * Resolves with what `ask` says once it is done. When time runs out it rejects with a wish to be called again (`retryAfter`): the operation goes
 * on in the cloud, and the next call of the controller must find it.
 */
export async function poll<T>(options: PollOptions<T>): Promise<T> {
  const { what, clock, ask, everyMs = pollEveryMs, everyMaxMs = pollEveryMaxMs, deadlineMs = pollDeadlineMs, signal } = options;
  const endMs = clock.monotonic() + deadlineMs;
  let waitMs = everyMs;
  let state: string | undefined;
  for (let failures = 0; ; ) {
    signal?.throwIfAborted();
    let afterMs = waitMs;
    try {
      const answer = await ask(signal);
      if (answer.done) return answer.value;
      failures = 0;
      state = answer.state;
      afterMs = answer.afterMs ?? waitMs;
    } catch (error) {
      if (signal?.aborted || !failedWith(error, 'transient', 'throttled') || ++failures > pollFailuresMax) throw error;
      state = textOf(error);
    }
    const leftMs = endMs - clock.monotonic();
    if (leftMs <= 0) {
      const last = state === undefined ? '' : ` (${state})`;
      throw retryAfter(`${what} is not done after ${deadlineMs / 1000} s${last}`, options.againAfterMs ?? everyMaxMs);
    }
    await clock.sleep(Math.min(afterMs, leftMs), signal);
    waitMs = Math.min(everyMaxMs, waitMs * 1.5);
  }
}
