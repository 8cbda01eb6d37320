import { describe, expect, it } from 'vitest';
import { manualClock } from 'sagong/cloud-provider/test-server';
import { createRetries } from './retries.ts';

function retries(attempts = 3) {
  const clock = manualClock();
  const made = createRetries({
    clock,
    rng: { next: () => 1 },
    attemptsMax: () => Promise.resolve(attempts),
  });
  /** Fails so often, and says how long each wait was and what ended it. */
  async function failing(errorType: string, times: number, retryAfterMs?: number): Promise<(number | string)[]> {
    const seen: (number | string)[] = [];
    let token = await made.acquireInitialRetryToken();
    for (let count = 0; count < times; count++) {
      const sinceMs = clock.monotonic();
      const hint = retryAfterMs === undefined ? {} : { retryAfterHint: new Date(clock.now() + retryAfterMs) };
      const next = made.refreshRetryTokenForRetry(token, { errorType, ...hint });
      const outcome = next.then(
        (given) => {
          token = given;
          seen.push(clock.monotonic() - sinceMs);
        },
        (error: Error) => seen.push(error.message),
      );
      for (let step = 0; step < 3_000 && seen.length <= count; step++) await clock.advance(10);
      await outcome;
    }
    made.recordSuccess(token);
    return seen;
  }
  return { failing };
}

describe('another try', () => {
  it('waits longer each time, in the time of the clock', async () => {
    expect(await retries().failing('TRANSIENT', 3)).toEqual([50, 100, 'there were enough tries']);
    expect(await retries(4).failing('THROTTLING', 3)).toEqual([1_000, 2_000, 4_000]);
  });
  it('waits as long as AWS asks for, but not for ever', async () => {
    expect(await retries().failing('TRANSIENT', 1, 3_000)).toEqual([3_000]);
    expect(await retries().failing('TRANSIENT', 1, 3_600_000)).toEqual([5_050]);
  });
  it('is not made of what would fail again, nor of the first one where one is all', async () => {
    expect(await retries().failing('CLIENT_ERROR', 1)).toEqual(['another try would fail as well']);
    expect(await retries(1).failing('TRANSIENT', 1)).toEqual(['there were enough tries']);
  });
  it('is not made while nearly all calls fail; success pays back', async () => {
    const { failing } = retries(1_000);
    expect((await failing('TRANSIENT', 40)).filter((one) => one === 'too many calls fail')).toHaveLength(5);
    expect(await failing('TRANSIENT', 1)).toEqual([expect.any(Number)]);
  });
});
