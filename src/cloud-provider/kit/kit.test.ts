import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { seededRng } from '#utils';
import { retryAfterOf } from '../errors.ts';
import { manualClock } from '../test-server/clock.ts';
import {
  allNumberedPages,
  allPages,
  annotationsOf,
  atMost,
  CallError,
  callErrorOf,
  callMetrics,
  createBatcher,
  createCache,
  createCalls,
  type CallsOptions,
  createSharedWrites,
  listIn,
  thingIn,
  differenceOf,
  during,
  type Failure,
  failedWith,
  firstCredentials,
  httpFailure,
  inTurn,
  poll,
  readSecretFile,
  readSecretJson,
  refuseAnnotations,
  retryAfterHeaderMs,
  secretFile,
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

describe('pages', () => {
  it('are read to the last', async () => {
    const pages: Record<string, { items?: number[]; next?: string }> = {
      '': { items: [1, 2], next: 'b' },
      b: { next: 'c' },
      c: { items: [3] },
    };
    expect(await allPages<number, string>((cursor = '') => Promise.resolve({ items: undefined, ...pages[cursor] }))).toEqual([
      1, 2, 3,
    ]);
    expect(await allNumberedPages(2, (page) => Promise.resolve([[1, 2], [3, 4], []][page - 1]))).toEqual([1, 2, 3, 4]);
  });
  it('without an end are an error', async () => {
    expect((await rejection(allPages(() => Promise.resolve({ items: [], next: 'a' })))).message).toContain('leads back');
    const endless = allPages<never, number>((cursor = 0) => Promise.resolve({ items: [], next: cursor + 1 }), 10);
    expect((await rejection(endless)).message).toContain('more than 10 pages');
    const full = Array.from({ length: 60_000 }, () => 0);
    const swelling = allPages<number, number>((cursor = 0) => Promise.resolve({ items: full, next: cursor + 1 }));
    expect((await rejection(swelling)).message).toContain('more than 100000 items');
  });
  it.each(['text', 5, { 0: 'a' }])('that are %j are an error', async (items) => {
    expect((await rejection(allPages(() => Promise.resolve({ items: items as never })))).message).toContain('no list');
  });
  it.each([undefined, null, 'text', [], {}, { data: null }, { data: {} }, { errors: [] }, { data: [null] }])(
    'are not in the answer %j',
    (answer) => expect(() => listIn(answer, 'data')).toThrow('the answer has no list "data"'),
  );
  it('and things are found in answers', () => {
    expect(thingIn({ data: { id: 1 } }, 'data')).toEqual({ id: 1 });
    for (const answer of [null, 5, {}, { data: null }, { data: 'text' }])
      expect(() => thingIn(answer, 'data')).toThrow('the answer has no "data"');
  });
});

describe('polling', () => {
  const transient = new CallError('get', { kind: 'transient' }, new Error('x'));
  it('asks less and less often until it is done, through failures that pass', async () => {
    const clock = manualClock();
    const askedMs: number[] = [];
    const answer = poll({
      what: 'it',
      clock,
      everyMs: 1_000,
      everyMaxMs: 2_000,
      ask() {
        askedMs.push(clock.monotonic());
        if (askedMs.length === 2) return Promise.reject(transient);
        return Promise.resolve(askedMs.length === 5 ? { done: true, value: 'yes' } : { done: false });
      },
    });
    await clock.advance(60_000);
    expect(await answer).toBe('yes');
    expect(askedMs).toEqual([0, 1_000, 2_500, 4_500, 6_500]);
  });
  it('gives up at its deadline with a wish to be called again', async () => {
    const clock = manualClock();
    const waiting = rejection(
      poll({
        what: 'operation o-1',
        clock,
        deadlineMs: 5_000,
        againAfterMs: 7_000,
        ask: () => Promise.resolve({ done: false, state: 'RUNNING' }),
      }),
    );
    await clock.advance(5_000);
    expect((await waiting).message).toBe('operation o-1 is not done after 5 s (RUNNING)');
    expect(retryAfterOf(await waiting)).toBe(7_000);
  });
  it('ends with its caller, with a failed operation, and when the question keeps failing', async () => {
    const clock = manualClock();
    const caller = new AbortController();
    const gone = rejection(poll({ what: 'it', clock, signal: caller.signal, ask: () => Promise.resolve({ done: false }) }));
    await clock.advance(0);
    caller.abort(new Error('gone'));
    expect((await gone).message).toBe('gone');
    expect((await rejection(poll({ what: 'it', clock, ask: () => Promise.reject(new Error('quota')) }))).message).toBe('quota');
    const failing = rejection(poll({ what: 'it', clock, ask: () => Promise.reject(transient) }));
    await clock.advance(60_000);
    expect(await failing).toBe(transient);
  });
});

describe('batches', () => {
  const open = (
    send: (items: readonly number[]) => Promise<readonly (number | Error)[]>,
    failsAlone?: (error: unknown) => boolean,
  ) => {
    const clock = manualClock();
    return {
      clock,
      add: createBatcher({ clock, idleMs: 100, ageMaxMs: 250, sizeMax: 4, send, ...(failsAlone && { failsAlone }) }),
    };
  };
  it('collect what comes close together', async () => {
    const sent: (readonly number[])[] = [];
    const { clock, add } = open((items) => {
      sent.push(items);
      return Promise.resolve(items.map((item) => item * 10));
    });
    const results: Promise<number>[] = [];
    for (const item of [1, 2, 3]) {
      results.push(add(item));
      await clock.advance(90);
    }
    for (const item of [4, 5, 6, 7, 8]) results.push(add(item));
    await clock.advance(1_000);
    expect(await Promise.all(results)).toEqual([10, 20, 30, 40, 50, 60, 70, 80]);
    expect(sent).toEqual([[1, 2, 3], [4, 5, 6, 7], [8]]);
  });
  it('fail one by one where one item is to blame', async () => {
    const { clock, add } = open(
      (items) => (items.includes(2) ? Promise.reject(new Error('2 is bad')) : Promise.resolve(items)),
      () => true,
    );
    const results = Promise.allSettled([1, 2, 3].map(add));
    await clock.advance(1_000);
    expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
  it('fail an item whose result is an error, or is missing', async () => {
    const { clock, add } = open((items) => Promise.resolve([...items.slice(1), new Error('bad')].slice(0, items.length - 1)));
    const results = Promise.allSettled([1, 2].map(add));
    await clock.advance(1_000);
    expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });
});

describe('shared writes', () => {
  it('make one write of the changes that wait, and begin again after a conflict', async () => {
    let stored = { version: 1, items: [] as string[] };
    const writes: string[][] = [];
    let foreign = true;
    const change = createSharedWrites<{ version: number; items: string[] }>({
      read: () => Promise.resolve(stored),
      async write(_key, thing) {
        await new Promise((resolve) => setImmediate(resolve));
        if (foreign) {
          foreign = false;
          stored = { version: 2, items: ['foreign'] };
        }
        if (thing.version !== stored.version) throw new CallError('put', { kind: 'conflict' }, new Error('stale'));
        writes.push(thing.items);
        return (stored = { version: stored.version + 1, items: thing.items });
      },
    });
    const adding = (item: string) => (thing: typeof stored) => ({ ...thing, items: [...thing.items, item] });
    const first = change('lb', adding('a'));
    await Promise.resolve();
    await Promise.resolve();
    const others = ['b', 'c'].map((item) => change('lb', adding(item)));
    await Promise.all([first, ...others]);
    expect(writes).toEqual([
      ['foreign', 'a'],
      ['foreign', 'a', 'b', 'c'],
    ]);
    await change('lb', () => undefined);
    expect(writes).toHaveLength(2);
  });
  it('fail only the change that is refused', async () => {
    let stored: string[] = [];
    const change = createSharedWrites<string[]>({
      read: () => Promise.resolve(stored),
      write: (_key, thing) => (thing.includes('bad') ? Promise.reject(new Error('refused')) : Promise.resolve((stored = thing))),
    });
    const results = await Promise.allSettled(['a', 'bad', 'c'].map((item) => change('lb', (thing) => [...thing, item])));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(stored).toEqual(['a', 'c']);
  });
  it('leave out whoever has gone', async () => {
    const written: string[][] = [];
    const change = createSharedWrites<string[]>({
      read: () => Promise.resolve([]),
      write: (_key, thing) => Promise.resolve(void written.push(thing) as unknown as string[]),
    });
    const results = await Promise.allSettled([
      change('lb', (thing) => [...thing, 'gone'], AbortSignal.abort(new Error('gone'))),
      change('lb', (thing) => [...thing, 'here']),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(written).toEqual([['here']]);
  });
});

describe('a cache', () => {
  it('asks once, and again when the answer is old or forgotten', async () => {
    const clock = manualClock();
    let asked = 0;
    const cache = createCache({ clock, ttlMs: 1_000, read: (key) => Promise.resolve(`${key}${++asked}`) });
    expect(await Promise.all([cache.get('a'), cache.get('a'), cache.get('b')])).toEqual(['a1', 'a1', 'b2']);
    expect(cache.peek('a')).toBe('a1');
    await clock.advance(1_000);
    expect(cache.peek('a')).toBeUndefined();
    expect(await cache.get('a')).toBe('a3');
    cache.forget('a');
    expect(await cache.get('a')).toBe('a4');
  });
  it('keeps neither a failure nor an answer that was forgotten on its way', async () => {
    const clock = manualClock();
    const answers: ((value: string | Error) => void)[] = [];
    const cache = createCache<string>({
      clock,
      ttlMs: 1_000,
      read: () =>
        new Promise((resolve, reject) => answers.push((value) => (value instanceof Error ? reject(value) : resolve(value)))),
    });
    const first = rejection(cache.get('a'));
    await clock.advance(0);
    answers[0]?.(new Error('down'));
    expect((await first).message).toBe('down');
    const second = cache.get('a');
    await clock.advance(0);
    cache.forget();
    answers[1]?.('old');
    expect(await second).toBe('old');
    expect(cache.peek('a')).toBeUndefined();
  });
  it('ends its question when the last who waits has gone', async () => {
    const clock = manualClock();
    let seen: AbortSignal | undefined;
    const cache = createCache<string>({ clock, ttlMs: 1, read: (_key, signal) => new Promise(() => (seen = signal)) });
    const [a, b] = [new AbortController(), new AbortController()];
    const waiting = [rejection(cache.get('k', a.signal)), rejection(cache.get('k', b.signal))];
    await clock.advance(0);
    a.abort(new Error('a'));
    expect([(await waiting[0])?.message, seen?.aborted]).toEqual(['a', false]);
    b.abort(new Error('b'));
    expect([(await waiting[1])?.message, seen?.aborted]).toEqual(['b', true]);
  });
});

describe('credentials', () => {
  const folder = async (): Promise<string> => {
    const dir = await mkdtemp(join(tmpdir(), 'kit-'));
    onTestFinished(() => rm(dir, { recursive: true }));
    return dir;
  };
  it('in files are trimmed, bounded, and told by the name of their setting, never by their text', async () => {
    const dir = await folder();
    const path = join(dir, 'token');
    await writeFile(path, ' s3cret\n');
    expect(await readSecretFile(path, 'token-file')).toBe('s3cret');
    const error = await rejection(readSecretJson(path, 'token-file'));
    expect(error.message).toBe(`token-file: ${path} is not a JSON object`);
    await writeFile(path, '\n');
    expect((await rejection(readSecretFile(path, 'token-file'))).message).toContain('is empty');
    expect((await rejection(readSecretFile(join(dir, 'no'), 'token-file'))).message).toMatch(/^token-file: .*ENOENT/);
  });
  it('that were replaced are read again', async () => {
    const dir = await folder();
    const path = join(dir, 'token');
    const clock = manualClock();
    const read = secretFile({ path, what: 'token-file', clock, parse: (text) => text.toUpperCase() });
    await writeFile(path, 'one');
    expect(await read()).toBe('ONE');
    await writeFile(path, 'two');
    await utimes(path, 1, 1);
    expect(await read()).toBe('ONE');
    await clock.advance(10_000);
    expect(await read()).toBe('TWO');
  });
  it('come from the first place that has some', async () => {
    const none = { name: 'the environment', find: () => undefined };
    expect(await firstCredentials([none, { name: 'a file', find: () => Promise.resolve('key') }])).toEqual({
      credentials: 'key',
      from: 'a file',
    });
    expect((await rejection(firstCredentials([none]))).message).toBe('no credentials; looked for in: the environment');
  });
});

describe('annotations', () => {
  const reader = (annotations: Record<string, string>) => annotationsOf({ metadata: { annotations } }, 'acme/');
  it('are read as Go reads them', () => {
    const read = reader({
      'acme/on': 'T',
      'acme/n': '+7',
      'acme/l': 'a, ,b',
      'acme/p': 'x=1=2,y',
      'acme/j': '{"a":1}',
      'acme/e': ' ',
    });
    expect([read.boolean('on'), read.integer('n'), read.list('l'), read.pairs('p'), read.json('j')]).toEqual([
      true,
      7,
      ['a', 'b'],
      { x: '1=2', y: '' },
      { a: 1 },
    ]);
    expect([read.text('e'), read.boolean('e'), read.list('no'), read.oneOf('no', ['a'])]).toEqual([
      undefined,
      undefined,
      [],
      undefined,
    ]);
  });
  it('that cannot be read name themselves', () => {
    const read = reader({ 'acme/x': 'maybe' });
    expect(() => read.boolean('x')).toThrow('annotation acme/x: "maybe" is not a boolean');
    expect(() => read.integer('x')).toThrow('is not an integer');
    expect(() => read.oneOf('x', ['a', 'b'])).toThrow('is not one of a, b');
    expect(() => read.json('x')).toThrow('is not JSON');
    expect(() => reader({ 'acme/x': '9' }).integer('x', { min: 1, max: 5 })).toThrow('is not between 1 and 5');
    const refuse = (): void => refuseAnnotations({ metadata: { annotations: { a: 'x' } } }, { a: 'because', b: 'no' });
    expect(refuse).toThrow('annotation a is not supported: because');
  });
});

it('a difference names what is missing, surplus and in both', () => {
  const found = [{ id: 'a' }, { id: 'b' }, { id: 'b' }];
  const difference = differenceOf(
    found,
    ['b', 'c'],
    ({ id }) => id,
    (name) => name,
  );
  expect(difference).toEqual({
    missing: ['c'],
    surplus: [{ id: 'a' }, { id: 'b' }],
    both: [{ found: { id: 'b' }, wanted: 'b' }],
  });
});
