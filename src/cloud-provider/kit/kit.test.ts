import { describe, expect, it } from 'vitest';
import { seededRng } from '#utils';
import { retryAfterOf } from '../errors.ts';
import { manualClock } from '../test-server/clock.ts';
import {
  atMost,
  callErrorOf,
  callMetrics,
  createCalls,
  type CallsOptions,
  during,
  type Failure,
  failedWith,
  httpFailure,
  inTurn,
  retryAfterHeaderMs,
  tokenBucket,
  undefinedIfAbsent,
} from './index.ts';

const rejection = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.unreachable('it resolved'),
    (error: unknown) => error as Error,
  );
const failing = (status: number, more: object = {}): Error => Object.assign(new Error(`status ${status}`), { status, ...more });

describe('calls', () => {
  const open = (more: Partial<CallsOptions> = {}) => {
    const clock = manualClock();
    return { clock, calls: createCalls({ clock, rng: seededRng(1), ...more }) };
  };
  /** Fails with these, one after the other, then succeeds. */
  const after = (...errors: Error[]) => {
    const left = [...errors];
    let tries = 0;
    const attempt = (): Promise<string> => {
      tries += 1;
      const error = left.shift();
      return error ? Promise.reject(error) : Promise.resolve('done');
    };
    return { attempt, tries: () => tries };
  };

  it('try a question again after failures that may pass', async () => {
    const { clock, calls } = open();
    const work = after(failing(503), failing(500), Object.assign(new Error('x'), { code: 'ECONNRESET' }));
    const answer = calls.read('things.get', work.attempt);
    await clock.advance(60_000);
    expect(await answer).toBe('done');
    expect(work.tries()).toBe(4);
  });
  it('say which call failed, what was answered and how it was read', async () => {
    const { calls } = open({ classify: (error) => ({ ...httpFailure(error), requestId: 'r-1' }) });
    const error = await rejection(calls.read('things.get', after(failing(403)).attempt).catch(during('looking for web')));
    expect(error.message).toBe('looking for web: things.get: status 403 (request r-1)');
    expect(callErrorOf(error)).toMatchObject({ call: 'things.get', kind: 'refused', status: 403, requestId: 'r-1' });
    expect(await calls.read('things.get', after(failing(404)).attempt).catch(undefinedIfAbsent)).toBeUndefined();
  });
  it('do not send a change again whose fate is not known, unless it may be sent twice', async () => {
    const { clock, calls } = open();
    const once = after(failing(503));
    expect(failedWith(await rejection(calls.write('things.post', once.attempt, { idempotent: false })), 'transient')).toBe(true);
    expect(once.tries()).toBe(1);
    const put = after(failing(503));
    const answer = calls.write('things.put', put.attempt, { idempotent: true });
    await clock.advance(10_000);
    expect(await answer).toBe('done');
    const throttled = after(failing(429));
    const later = calls.write('things.post', throttled.attempt, { idempotent: false });
    await clock.advance(10_000);
    expect(await later).toBe('done');
  });
  it('leave throttling that lasts to the controller, with the delay that the cloud named', async () => {
    const classify = (error: unknown): Failure => ({ ...httpFailure(error), retryAfterMs: 42_000 });
    const { clock, calls } = open({ classify });
    const work = after(failing(429), failing(429));
    const error = await rejection(calls.read('things.get', work.attempt));
    expect(retryAfterOf(error)).toBe(42_000);
    expect(callErrorOf(error)?.kind).toBe('throttled');
    expect([work.tries(), clock.monotonic()]).toEqual([1, 0]);
  });
  it('leave a cloud that is down, and says for how long, to the controller with that delay', async () => {
    const classify = (error: unknown): Failure => ({ ...httpFailure(error), retryAfterMs: 120_000 });
    const { calls } = open({ classify });
    const work = after(failing(503), failing(503));
    const error = await rejection(calls.read('things.get', work.attempt));
    expect(retryAfterOf(error)).toBe(120_000);
    expect(callErrorOf(error)?.kind).toBe('transient');
    expect(work.tries()).toBe(1);
  });
  it('hold back all others while the cloud wants to be left alone', async () => {
    const clock = manualClock();
    const limiter = tokenBucket({ clock, perSecond: Infinity });
    const classify = (error: unknown): Failure => ({ ...httpFailure(error), retryAfterMs: 5_000 });
    const calls = createCalls({ clock, rng: seededRng(1), limiter, classify });
    const first = calls.read('things.get', after(failing(429)).attempt);
    await clock.advance(0);
    let answeredMs = 0;
    const second = calls.read('things.list', after().attempt).then(() => (answeredMs = clock.monotonic()));
    await clock.advance(60_000);
    await Promise.all([first, second]);
    expect(answeredMs).toBe(5_000);
  });
  it('end in time, and with their caller, also when the SDK heeds no signal', async () => {
    const { clock, calls } = open({ retry: { attemptsMax: 1 } });
    const never = (): Promise<string> => new Promise(() => {});
    const late = rejection(calls.read('things.get', never, { timeoutMs: 2_000 }));
    await clock.advance(2_000);
    expect(callErrorOf(await late)).toMatchObject({ kind: 'transient', message: 'things.get: no answer within 2 s' });
    const caller = new AbortController();
    const gone = rejection(calls.read('things.get', never, { signal: caller.signal }));
    await clock.advance(0);
    caller.abort(new Error('the lease is lost'));
    expect((await gone).message).toBe('things.get: the lease is lost');
    expect(clock.pending()).toBe(0);
  });
  it('are counted and timed by the names that upstream uses', async () => {
    const noted: unknown[] = [];
    const family = (name: string) => ({
      inc: (by?: number, ...labels: string[]) => noted.push([name, by, ...labels]),
      observe: (value: number, ...labels: string[]) => noted.push([name, value, ...labels]),
    });
    const metrics = {
      counter: ({ name }: { name: string }) => family(name),
      histogram: ({ name }: { name: string }) => family(name),
    };
    const { clock, calls } = open({ observer: callMetrics({ metrics, vendor: 'acme' }) });
    const answer = calls.read('get', after(failing(503)).attempt);
    await clock.advance(60_000);
    await answer;
    await rejection(calls.read('get', after(failing(400)).attempt));
    expect(noted).toEqual([
      ['cloudprovider_acme_api_request_duration_seconds', expect.any(Number), 'get'],
      ['cloudprovider_acme_api_request_duration_seconds', 0, 'get'],
      ['cloudprovider_acme_api_request_errors', 1, 'get'],
    ]);
  });
  it.each<[unknown, string]>([
    [failing(404), 'absent'],
    [failing(412), 'conflict'],
    [Object.assign(new Error('x'), { statusCode: 429 }), 'throttled'],
    [new Error('outer', { cause: failing(502) }), 'transient'],
    [new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'UND_ERR_SOCKET' }) }), 'transient'],
    [failing(400), 'refused'],
    [new TypeError('x is not a function'), 'refused'],
    ['a text', 'refused'],
  ])('read %s as %s', (error, kind) => {
    expect(httpFailure(error).kind).toBe(kind);
  });
  it('read Retry-After as seconds and as a date', () => {
    expect(retryAfterHeaderMs('7', 0)).toBe(7_000);
    expect(retryAfterHeaderMs('Thu, 01 Jan 1970 00:01:00 GMT', 15_000)).toBe(45_000);
    expect(retryAfterHeaderMs('soon', 0)).toBeUndefined();
    expect(retryAfterHeaderMs(null, 0)).toBeUndefined();
  });
});

describe('a rate limit', () => {
  it('lets a burst through, then one at a time, in their order', async () => {
    const clock = manualClock();
    const limiter = tokenBucket({ clock, perSecond: 2, burst: 3 });
    const passed: number[] = [];
    for (let count = 0; count < 5; count++) void limiter.wait().then(() => passed.push(clock.monotonic()));
    await clock.advance(10_000);
    expect(passed).toEqual([0, 0, 0, 500, 1_000]);
  });
  it('ends with its caller', async () => {
    const clock = manualClock();
    const limiter = tokenBucket({ clock, perSecond: 1 });
    await limiter.wait();
    const caller = new AbortController();
    const waiting = rejection(limiter.wait(caller.signal));
    caller.abort(new Error('gone'));
    expect((await waiting).message).toBe('gone');
  });
  it('bounds what is under way, and runs work of one key in turn', async () => {
    const few = atMost(2);
    const turn = inTurn();
    let running = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
    };
    await Promise.all(Array.from({ length: 7 }, () => few(work)));
    expect(most).toBe(2);
    most = 0;
    await Promise.allSettled([turn('a', work), turn('a', () => Promise.reject(new Error('x'))), turn('a', work)]);
    expect(most).toBe(1);
  });
});
