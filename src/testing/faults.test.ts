import { describe, expect, it } from 'vitest';
import { StatusError } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import type { ApiCall, Transport, WatchStream } from '#apimachinery/transport';
import type { WatchEvent } from '#apimachinery/watch';
import { seededRng } from '#utils';
import { type FaultRates, injectFaults } from './faults.ts';
import { virtualClock } from './virtual-clock.ts';

const things = { group: '', version: 'v1', resource: 'things' };
const event = (name: string): WatchEvent => ({ type: 'ADDED', object: { metadata: { name } } });

/** A server that does what it is told, and says what that was. */
function server() {
  const carriedOut: string[] = [];
  const watchers: ((event: WatchEvent) => void)[] = [];
  let stopped = 0;
  const transport: Transport = {
    call: <T>({ verb }: ApiCall): Promise<T> => {
      carriedOut.push(verb);
      return Promise.resolve({} as T);
    },
    watch: <T extends KubeObject>(): Promise<WatchStream<T>> => {
      let end: (error?: Error) => void = () => {};
      return Promise.resolve({
        subscribe(handler, ended) {
          watchers.push(handler as (event: WatchEvent) => void);
          end = ended;
        },
        stop() {
          stopped += 1;
          end();
        },
      });
    },
    raw: (method) => {
      carriedOut.push(`raw ${method}`);
      return Promise.resolve({ status: 200, text: '' });
    },
    close: () => Promise.resolve(),
  };
  return { transport, carriedOut, watchers, stopped: () => stopped };
}

function faulty(rates: Partial<FaultRates>, seed = 1) {
  const clock = virtualClock({ startMs: 0 });
  const inner = server();
  const faults = injectFaults({ clock, rng: seededRng(seed) }, rates);
  return { clock, faults, ...inner, transport: faults.wrap(inner.transport) };
}
const codeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'ok',
    (error: unknown) => (error instanceof StatusError ? error.status.code : (error as Error).message),
  );

describe('calls', () => {
  const all = ['get', 'list', 'create', 'update', 'patch', 'delete'] as const;
  it.each<[Partial<FaultRates>, unknown[], string[]]>([
    [{}, ['ok', 'ok', 'ok', 'ok', 'ok', 'ok'], [...all]],
    [{ serverError: 1 }, [500, 500, 500, 500, 500, 500], []],
    [{ conflict: 1 }, ['ok', 'ok', 'ok', 409, 409, 'ok'], ['get', 'list', 'create', 'delete']],
    [{ throttle: 1 }, ['ok', 'ok', 429, 429, 429, 429], ['get', 'list']],
    [{ lostAnswer: 1 }, ['ok', 'ok', ...Array.from({ length: 4 }, () => 'connection reset by peer')], [...all]],
  ])('with %j are answered, and carried out or not', async (rates, answers, carried) => {
    const { transport, carriedOut, faults } = faulty(rates);
    const got: unknown[] = [];
    for (const verb of all) got.push(await codeOf(transport.call({ ...things, verb })));
    expect(got).toEqual(answers);
    expect(carriedOut).toEqual(carried);
    const failed = answers.filter((answer) => answer !== 'ok').length;
    expect(Object.values(faults.counts).reduce((sum, count) => sum + count, 0)).toBe(failed);
  });
  it('of raw paths go wrong, too', async () => {
    const { transport, carriedOut, faults } = faulty({ serverError: 1 });
    expect(await codeOf(transport.raw('GET', '/healthz'))).toBe(500);
    faults.rates = { ...faults.rates, serverError: 0, throttle: 1 };
    expect(await codeOf(transport.raw('POST', '/x'))).toBe(429);
    expect(await codeOf(transport.raw('GET', '/x'))).toBe('ok');
    expect(carriedOut).toEqual(['raw GET']);
  });
  it('fail as often as asked for, the same ones for the same seed', async () => {
    const story = async (seed: number): Promise<string> => {
      const { transport } = faulty({ serverError: 0.2 }, seed);
      let told = '';
      for (let count = 0; count < 1_000; count++)
        told += (await codeOf(transport.call({ ...things, verb: 'get' }))) === 'ok' ? '.' : 'x';
      return told;
    };
    const first = await story(3);
    expect(await story(3)).toBe(first);
    expect(await story(4)).not.toBe(first);
    const share = first.replaceAll('.', '').length / first.length;
    expect(share).toBeGreaterThan(0.16);
    expect(share).toBeLessThan(0.24);
  });
  it('take time, at most as much as asked for, and end with their caller', async () => {
    const { transport, clock, carriedOut } = faulty({ latencyMs: 50 });
    const answers = Array.from({ length: 20 }, () => transport.call({ ...things, verb: 'get' }));
    await clock.settle();
    expect(carriedOut.length).toBeLessThan(20);
    await clock.advance(50);
    await Promise.all(answers);
    expect(carriedOut).toHaveLength(20);
    const abort = new AbortController();
    const cut = codeOf(transport.call({ ...things, verb: 'get' }, abort.signal));
    abort.abort(new Error('enough'));
    expect(await cut).toBe('enough');
  });
});

describe('watches', () => {
  const follow = async (transport: Transport) => {
    const seen: string[] = [];
    const ends: (string | undefined)[] = [];
    const stream = await transport.watch(things);
    stream.subscribe(
      ({ object }) => seen.push(object.metadata.name ?? ''),
      (error) => ends.push(error?.message),
    );
    return { seen, ends, stream };
  };
  it('are refused as too old', async () => {
    const { transport } = faulty({ expiredWatch: 1 });
    expect(await codeOf(transport.watch(things))).toBe(410);
  });
  it('hand events over late, in order', async () => {
    const { transport, clock, watchers } = faulty({ watchLagMs: 100 });
    const { seen } = await follow(transport);
    const names = Array.from({ length: 20 }, (_, index) => `${index}`);
    for (const name of names) watchers[0]?.(event(name));
    expect(seen.length).toBeLessThan(20);
    await clock.advance(100);
    expect(seen).toEqual(names);
  });
  it('die of age, with an error and once, and lose what was on its way', async () => {
    const { transport, clock, watchers, stopped, faults } = faulty({ watchLifeMs: 1_000, watchLagMs: 100_000 });
    const { seen, ends, stream } = await follow(transport);
    watchers[0]?.(event('late'));
    await clock.advance(1_000);
    expect(ends).toEqual(['connection reset by peer']);
    stream.stop();
    await clock.advance(200_000);
    expect(seen).toEqual([]);
    expect(ends).toHaveLength(1);
    expect(stopped()).toBe(2);
    expect(faults.counts).toEqual({ droppedWatch: 1 });
  });
  it('end all at once when the server restarts; those that ended before are left alone', async () => {
    const { transport, faults } = faulty({});
    const [first, second] = [await follow(transport), await follow(transport)];
    first.stream.stop();
    faults.dropWatches();
    expect(first.ends).toEqual([undefined]);
    expect(second.ends).toEqual(['connection reset by peer']);
    expect(faults.counts).toEqual({ droppedWatch: 1 });
  });
});
