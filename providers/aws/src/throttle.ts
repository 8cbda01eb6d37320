// A delay in front of every request while AWS complains of too many, shared by all of them (cloud-provider-aws retry_handler.go has the same
// idea and numbers): the share of refused requests among recent ones, of a minute. Pure but for the clock.
import type { Clock } from 'sagong/cloud-provider';
import { throttleDecay, throttleDecayPeriodMs, throttleDelayMaxMs, throttleErrorsIgnored } from './limits.ts';

export interface Throttle {
  /** Counts one request; how long it has to wait, in milliseconds (whole seconds). */
  next(): number;
  /** How long a request would have to wait now, without counting one. */
  delayMs(): number;
  /** AWS refused a request. */
  refused(): void;
}

/** So that one refusal right after the start does not stop everything. */
const requestsAtStart = 4;

export function createThrottle(clock: Pick<Clock, 'monotonic'>): Throttle {
  let requests = requestsAtStart;
  let refusals = 0;
  let decayedAt = clock.monotonic();

  const forget = (): void => {
    const passed = clock.monotonic() - decayedAt;
    if (passed <= throttleDecayPeriodMs) return;
    const kept = throttleDecay ** (passed / throttleDecayPeriodMs);
    requests *= kept;
    refusals *= kept;
    decayedAt += passed;
  };
  const delayMs = (): number => {
    const share = requests > 0.5 ? Math.min(refusals / requests, 1) : 0;
    return share < throttleErrorsIgnored ? 0 : Math.floor((throttleDelayMaxMs * share) / 1_000) * 1_000;
  };
  return {
    next() {
      forget();
      requests += 1;
      return delayMs();
    },
    delayMs() {
      forget();
      return delayMs();
    },
    refused() {
      refusals += 1;
    },
  };
}
