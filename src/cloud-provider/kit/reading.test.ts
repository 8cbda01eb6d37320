import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { retryAfterOf } from '../errors.ts';
import { manualClock } from '../test-server/clock.ts';
import {
  allNumberedPages,
  allPages,
  annotationsOf,
  CallError,
  listIn,
  thingIn,
  differenceOf,
  sameSet,
  firstCredentials,
  poll,
  readSecretFile,
  readSecretJson,
  refuseAnnotations,
  secretFile,
} from './index.ts';

const rejection = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.unreachable('it resolved'),
    (error: unknown) => error as Error,
  );

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

it.each<[string[] | undefined, string[] | undefined, boolean]>([
  [['a', 'b'], ['b', 'a'], true],
  [['a', 'a'], ['a'], true],
  [undefined, [], true],
  [['a'], ['a', 'b'], false],
  [['a', 'c'], ['a', 'b'], false],
])('the sets %j and %j are the same: %s', (a, b, expected) => expect(sameSet(a, b)).toBe(expected));
