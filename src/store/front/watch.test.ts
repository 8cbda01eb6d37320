// Watch sessions of the front without a network: what etcd's own clients rely on, and what happens to one that does not read.
import { EventEmitter } from 'node:events';
import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { watchBacklogEventsMax } from '../limits.ts';
import { openMemoryStore } from '../memory.ts';
import type { RpcWatchRequest, RpcWatchResponse } from '../rpc/messages.ts';
import { manualClock } from '../suite/manual-clock.ts';
import type { WatchStream } from './watch.ts';
import { serveWatch } from './watch.ts';

function session({ reading = true } = {}) {
  const clock = manualClock();
  const store = openMemoryStore({ clock });
  const sent: Partial<RpcWatchResponse>[] = [];
  const failures: unknown[] = [];
  const stream = Object.assign(new EventEmitter(), {
    write(response: Partial<RpcWatchResponse>, taken: () => void) {
      sent.push(response);
      if (reading) queueMicrotask(taken);
    },
    end() {},
  });
  stream.on('error', (failure) => failures.push(failure));
  serveWatch(store, clock, stream as unknown as WatchStream);
  const ask = (request: RpcWatchRequest): boolean => stream.emit('data', request);
  const create = (fields: Partial<NonNullable<RpcWatchRequest['createRequest']>>): boolean => {
    const base = { key: Buffer.from('/a'), rangeEnd: Buffer.from('/b'), startRevision: 0, watchId: 0 };
    return ask({ createRequest: { ...base, progressNotify: false, filters: [], prevKv: false, fragment: false, ...fields } });
  };
  const change = (key: string) => store.txn({ compare: [], success: [{ op: 'put', key, value: Buffer.from('1') }] });
  const remove = (key: string) => store.txn({ compare: [], success: [{ op: 'delete', key }] });
  const eventsOf = (id: number): string[] =>
    sent
      .filter(({ watchId }) => watchId === id)
      .flatMap(({ events = [] }) => events.map(({ type, kv }) => `${type} ${kv.key.toString()}`));
  return { store, clock, sent, failures, ask, create, change, remove, eventsOf };
}

test('ids are given out, or chosen by the client and then unique', async () => {
  const { create, change, sent, eventsOf } = session();
  create({});
  create({ watchId: 7 });
  create({ watchId: 7 });
  create({});
  expect(sent.map(({ watchId, created, canceled }) => [watchId, created, canceled])).toEqual([
    [0, true, undefined],
    [7, true, undefined],
    [-1, true, true],
    [1, true, undefined],
  ]);
  expect(sent[2]?.cancelReason).toBe('mvcc: duplicate watch ID provided on the WatchStream');
  await change('/a1');
  expect([eventsOf(0), eventsOf(7), eventsOf(1)]).toEqual([['0 /a1'], ['0 /a1'], ['0 /a1']]);
});

test('filters drop puts or deletions', async () => {
  const { create, change, remove, eventsOf } = session();
  create({ filters: [0] });
  create({ filters: [1] });
  await change('/a1');
  await remove('/a1');
  expect([eventsOf(0), eventsOf(1)]).toEqual([['1 /a1'], ['0 /a1']]);
});

test('a progress request has one answer for the whole stream, at the revision that all watches have reached', async () => {
  const { create, change, ask, sent, store } = session();
  create({});
  create({ key: Buffer.from('/x'), rangeEnd: Buffer.alloc(0) });
  await change('/a1');
  const before = sent.length;
  ask({ progressRequest: {} });
  await Promise.resolve();
  await Promise.resolve();
  expect(sent.slice(before)).toEqual([expect.objectContaining({ watchId: -1 })]);
  expect(sent.at(-1)?.header?.revision).toBe(store.revision());
});

test('progress notices come on time to those who asked', async () => {
  const { create, clock, sent } = session();
  create({ progressNotify: true });
  create({});
  clock.advance(10 * 60 * 1000);
  await Promise.resolve();
  await Promise.resolve();
  expect(sent.slice(2).map(({ watchId }) => watchId)).toEqual([0]);
});

test('a cancelled watch says so and falls silent', async () => {
  const { create, change, ask, sent } = session();
  create({});
  ask({ cancelRequest: { watchId: 0 } });
  expect(sent.at(-1)).toMatchObject({ watchId: 0, canceled: true });
  const before = sent.length;
  await change('/a1');
  expect(sent).toHaveLength(before);
});

test('a compacted start revision cancels with the compacted revision', async () => {
  const { create, change, store, sent } = session();
  for (let i = 0; i < 5; i++) await change('/a1');
  await store.compact(5);
  create({ startRevision: 2 });
  await Promise.resolve();
  expect(sent.at(-1)).toMatchObject({ watchId: 0, canceled: true, compactRevision: 5 });
});

test('a client that does not read is cut off', async () => {
  const { create, store, failures, sent } = session({ reading: false });
  create({});
  const operations = (round: number) =>
    Array.from({ length: 10_000 }, (_, i) => ({ op: 'put' as const, key: `/a${i}`, value: Buffer.from(String(round)) }));
  const rounds = watchBacklogEventsMax / 10_000 + 2;
  for (let round = 0; round < rounds; round++) await store.txn({ compare: [], success: operations(round) });
  expect(failures).toEqual([expect.objectContaining({ code: status.RESOURCE_EXHAUSTED })]);
  const delivered = sent.reduce((sum, { events = [] }) => sum + events.length, 0);
  expect(delivered).toBeLessThanOrEqual(watchBacklogEventsMax + 10_000);
});
