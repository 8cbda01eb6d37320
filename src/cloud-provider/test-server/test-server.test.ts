import { afterEach, describe, expect, it } from 'vitest';
import { seededRng } from '#utils';
import {
  LaggingMap,
  manualClock,
  noRates,
  Operations,
  pageByNumber,
  pageByToken,
  Refusal,
  startVendorServer,
  type VendorServer,
  type VendorServerOptions,
} from './index.ts';

let server: VendorServer;
afterEach(() => server.close());

const start = async (more: Partial<VendorServerOptions> = {}) => {
  const stored: string[] = [];
  server = await startVendorServer({
    routes: {
      'GET /v1/zones/{zone}/things/{thing}': ({ params }) => ({ body: params }),
      'GET /v1/zones/{zone}/things/special': () => ({ body: 'plain text' }),
      'POST /v1/things': ({ body }) => {
        stored.push(JSON.stringify(body));
        return { status: 201, body: { stored: stored.length } };
      },
      'POST /v1/things?action=stop': () => ({}),
      'GET /files/{path...}': ({ params }) => ({ body: params }),
      'GET /v1/refused': () => {
        throw new Refusal(409, 'busy', 'it is busy');
      },
    },
    refusalAnswer: ({ code, message }) => ({ body: { error: { code, message } } }),
    ...more,
  });
  return stored;
};
const ask = async (method: string, path: string, body?: unknown) => {
  const response = await fetch(server.url + path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text.startsWith('{') ? (JSON.parse(text) as unknown) : text,
  };
};

describe('a server of a vendor', () => {
  it('finds routes by method, template and query', async () => {
    await start();
    expect((await ask('GET', '/v1/zones/a%20b/things/c?x=1')).body).toEqual({ zone: 'a b', thing: 'c' });
    expect((await ask('GET', '/v1/zones/a/things/special')).body).toBe('plain text');
    expect((await ask('GET', '/files/a/b/c')).body).toEqual({ path: 'a/b/c' });
    expect(await ask('POST', '/v1/things?action=stop')).toMatchObject({ status: 204, body: '' });
    expect(await ask('POST', '/v1/things', { a: 1 })).toMatchObject({ status: 201, body: { stored: 1 } });
    expect((await ask('GET', '/nowhere')).status).toBe(404);
    expect((await ask('DELETE', '/v1/things')).status).toBe(405);
  });
  it('refuses as the vendor does, and what it cannot read', async () => {
    await start();
    expect(await ask('GET', '/v1/refused')).toMatchObject({
      status: 409,
      body: { error: { code: 'busy', message: 'it is busy' } },
    });
    const garbled = await fetch(`${server.url}/v1/things`, {
      method: 'POST',
      body: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect(garbled.status).toBe(400);
    server.faults.add({ status: 429, message: 'slowly', headers: { 'retry-after': '3' } });
    const throttled = await ask('GET', '/files/x');
    expect([throttled.status, throttled.headers.get('retry-after')]).toEqual([429, '3']);
  });
  it('fails by rule: before, after, later, and by breaking the connection', async () => {
    const stored = await start();
    server.faults.add({ method: 'POST', status: 500, afterwards: true });
    expect((await ask('POST', '/v1/things', 1)).status).toBe(500);
    expect(stored).toHaveLength(1);
    server.faults.add({ method: 'POST', path: /things/, after: 1, status: 503 });
    expect([(await ask('POST', '/v1/things', 2)).status, (await ask('POST', '/v1/things', 3)).status]).toEqual([201, 503]);
    server.faults.add({ path: '/v1/things', drop: true, afterwards: true });
    await expect(ask('POST', '/v1/things', 4)).rejects.toThrow('fetch failed');
    expect(stored).toEqual(['1', '2', '4']);
    let ran = 0;
    server.faults.add({ then: () => void (ran += 1) });
    expect((await ask('POST', '/v1/things', 5)).status).toBe(201);
    expect(ran).toBe(1);
  });
  it('fails by rate, the same again from the same seed', async () => {
    const runs: number[][] = [];
    for (const seed of [7, 7, 8]) {
      await server?.close();
      await start({ rng: seededRng(seed), spared: ({ url }) => url.pathname.startsWith('/files') });
      server.faults.rates = { ...noRates, error: 0.2, throttle: 0.1, lostAnswer: 0.1 };
      const statuses: number[] = [];
      for (let count = 0; count < 60; count++) {
        statuses.push((await ask('POST', '/v1/things', 1)).status);
        expect((await ask('GET', '/files/x')).status).toBe(200);
      }
      runs.push(statuses);
    }
    expect(runs[1]).toEqual(runs[0]);
    expect(runs[2]).not.toEqual(runs[0]);
    expect(new Set(runs[0])).toEqual(new Set([201, 503, 429, 500]));
  });
  it('takes its time by its clock, and does not hear who has gone', async () => {
    const clock = manualClock();
    const stored = await start({ clock });
    server.faults.rates = { ...noRates, latencyMs: 500 };
    const caller = new AbortController();
    const body = { method: 'POST', body: '1', headers: { 'content-type': 'application/json' } };
    const gone = fetch(`${server.url}/v1/things`, { ...body, signal: caller.signal });
    const heard = fetch(`${server.url}/v1/things`, body);
    await expect.poll(() => server.waiting()).toBe(2);
    caller.abort();
    await expect(gone).rejects.toThrow();
    // One more waits; the other's client has gone, and nobody waits for its answer.
    await expect.poll(() => [server.waiting(), server.active()]).toEqual([1, 1]);
    await expect.poll(() => server.requests.length).toBe(2);
    // The server must notice that the connection is closed before time goes on.
    await expect.poll(() => server.gone()).toBe(1);
    await clock.advance(500);
    expect((await heard).status).toBe(201);
    expect(stored).toHaveLength(1);
  });
});

describe('what a vendor keeps', () => {
  it('is seen late', async () => {
    await start();
    let nowMs = 0;
    const things = new LaggingMap<string>(
      () => nowMs,
      () => 100,
    );
    things.set('a', 'one');
    expect([things.get('a'), things.seen('a'), [...things.seenValues()]]).toEqual(['one', undefined, []]);
    nowMs = 100;
    things.set('a', 'two');
    things.delete('b');
    expect([things.get('a'), things.seen('a')]).toEqual(['two', 'one']);
    nowMs = 150;
    things.delete('a');
    expect([things.has('a'), things.seen('a'), things.size]).toEqual([false, 'one', 0]);
    nowMs = 200;
    expect(things.seen('a')).toBe('two');
    nowMs = 250;
    expect([things.seen('a'), [...things.seenValues()]]).toEqual([undefined, []]);
  });
  it('changes by operations that take time, are busy, and may fail at their end', async () => {
    await start();
    let nowMs = 0;
    const done: string[] = [];
    const operations = new Operations({ now: () => nowMs, durationMs: () => 100, idOf: (number) => `op-${number}` });
    const first = operations.begin({ kind: 'insert', target: 'a', work: () => done.push('a') });
    operations.begin({
      kind: 'insert',
      target: 'b',
      work: () => done.push('b'),
      failure: { code: 'quota', message: 'too many' },
    });
    operations.begin({
      kind: 'insert',
      target: 'c',
      durationMs: 50,
      work: () => {
        throw new Refusal(409, 'taken', 'c is taken');
      },
    });
    expect([first.state, operations.busyWith('a')?.id]).toEqual(['pending', 'op-1']);
    nowMs = 60;
    expect(operations.get('op-1')?.state).toBe('running');
    expect(operations.get('op-3')).toMatchObject({ state: 'failed', error: { code: 'taken', message: 'c is taken' } });
    nowMs = 100;
    expect(operations.all().map(({ state }) => state)).toEqual(['done', 'failed', 'failed']);
    expect([done, operations.busyWith('a')]).toEqual([['a'], undefined]);
  });
  it('is listed in pages', async () => {
    await start();
    const items = [1, 2, 3, 4, 5];
    const { items: first, next } = pageByToken(items, undefined, 2);
    expect([first, pageByToken(items, next, 3)]).toEqual([[1, 2], { items: [3, 4, 5] }]);
    expect(() => pageByToken(items, 'nonsense', 2)).toThrow(RangeError);
    expect(pageByNumber(items, 3, 2)).toEqual({ items: [5], pages: 3 });
  });
});
