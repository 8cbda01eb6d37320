import { describe, expect, it } from 'vitest';
import { manualClock } from '../test-server/clock.ts';
import { CallError, createBatcher, createCache, createSharedWrites } from './index.ts';

const rejection = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.unreachable('it resolved'),
    (error: unknown) => error as Error,
  );

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
