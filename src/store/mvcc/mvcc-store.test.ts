// The core against a naive model under random operations, and its behaviour when the disk fails.
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { silentLogger } from '#utils';
import { ClosedError, CompactedError, NoSpaceError, type StoreError } from '../errors.ts';
import { historyBytesMax } from '../limits.ts';
import { manualClock } from '../suite/manual-clock.ts';
import type { KeyValue, StoreEvent } from '../types.ts';
import type { Change, LogEntry, RevisionLog } from './log.ts';
import { emptyContents } from './log.ts';
import { MvccStore } from './mvcc-store.ts';

/** A log that keeps its batches in memory and fails when told to. */
function fakeLog() {
  const batches: (readonly LogEntry[])[] = [];
  const dead: (readonly Change[])[] = [];
  const state = {
    failure: undefined as Error | undefined,
    refusal: undefined as StoreError | undefined,
    gate: undefined as Promise<void> | undefined,
    /** Most entries taken at once. */
    takes: Number.POSITIVE_INFINITY,
  };
  const log: RevisionLog = {
    begin() {},
    refusal: (_, frees) => (frees ? undefined : state.refusal),
    async append(entries) {
      await state.gate;
      if (state.failure) throw state.failure;
      const taken = entries.slice(0, state.takes);
      batches.push(taken);
      return taken.length;
    },
    forget: (changes) => void dead.push(changes),
    usage: () => ({ bytes: 0, bytesInUse: 0 }),
    defragment: async () => {},
    close: async () => {},
  };
  return { log, batches, dead, state };
}

const storeOver = (log?: RevisionLog): MvccStore =>
  new MvccStore({
    kind: log ? 'disk' : 'memory',
    contents: emptyContents,
    clock: manualClock(),
    logger: silentLogger,
    ...(log && { log }),
  });

const put = (key: string, value = key) => ({ compare: [], success: [{ op: 'put' as const, key, value: Buffer.from(value) }] });

type Step =
  | { do: 'put'; key: string; value: string }
  | { do: 'delete'; key: string; end?: string }
  | { do: 'cas'; key: string; delta: number; value: string }
  | { do: 'compact'; back: number };

const key = fc.constantFrom('/a', '/a/1', '/a/2', '/b', '/c', '/c/x');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), key, value: fc.string({ maxLength: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), key, end: key }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('cas' as const), key, delta: fc.integer({ min: 0, max: 1 }), value: fc.string() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('compact' as const), back: fc.integer({ min: 0, max: 4 }) }) },
);

/** Every state there ever was, and every event. */
class Model {
  states: Map<string, KeyValue>[] = [new Map(), new Map()];
  events: string[] = [];
  compacted = 0;

  get revision(): number {
    return this.states.length - 1;
  }

  change(keys: string[], value?: string): void {
    const before = this.states[this.revision] as Map<string, KeyValue>;
    const touched = value === undefined ? keys.filter((name) => before.has(name)) : keys;
    if (touched.length === 0) return;
    const next = new Map(before);
    const modRevision = this.revision + 1;
    for (const name of touched) {
      const old = before.get(name);
      this.events.push(`${modRevision} ${value === undefined ? 'DELETE' : 'PUT'} ${name} was ${old ? String(old.value) : '-'}`);
      if (value === undefined) next.delete(name);
      else {
        const fixed = { key: name, value: Buffer.from(value), modRevision, lease: 0 };
        next.set(name, { ...fixed, createRevision: old?.createRevision ?? modRevision, version: (old?.version ?? 0) + 1 });
      }
    }
    this.states.push(next);
  }
}

const sorted = (state: Map<string, KeyValue>): KeyValue[] => [...state.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
const plain = (kvs: readonly KeyValue[]) => kvs.map((kv) => ({ ...kv, value: String(Buffer.from(kv.value)) }));
const eventLine = ({ type, kv, prevKv }: StoreEvent): string =>
  `${kv.modRevision} ${type} ${kv.key} was ${prevKv ? String(Buffer.from(prevKv.value)) : '-'}`;

function applyStep(store: MvccStore, model: Model, action: Step): Promise<unknown> {
  switch (action.do) {
    case 'put':
      model.change([action.key], action.value);
      return store.txn(put(action.key, action.value));
    case 'delete': {
      const { key: from, end } = action;
      const inRange = (name: string): boolean => (end === undefined ? name === from : name >= from && name < end);
      model.change([...(model.states[model.revision] as Map<string, KeyValue>).keys()].filter(inRange).sort());
      return store.txn({ compare: [], success: [{ op: 'delete', key: from, ...(end !== undefined && { rangeEnd: end }) }] });
    }
    case 'cas': {
      const value = ((model.states[model.revision] as Map<string, KeyValue>).get(action.key)?.modRevision ?? 0) + action.delta;
      if (action.delta === 0) model.change([action.key], action.value);
      const { success } = put(action.key, action.value);
      return store.txn({ compare: [{ key: action.key, target: 'modRevision', result: '=', value }], success });
    }
    case 'compact': {
      const target = store.revision() - action.back;
      if (target <= model.compacted) return Promise.resolve();
      model.compacted = target;
      return store.compact(target);
    }
  }
}

async function checkAgainstModel(store: MvccStore, model: Model): Promise<void> {
  expect(store.revision()).toBe(model.revision);
  for (let revision = Math.max(1, model.compacted); revision <= model.revision; revision++) {
    const expected = plain(sorted(model.states[revision] as Map<string, KeyValue>));
    const all = store.rangeSync({ key: '\0', rangeEnd: '\0', revision });
    expect(plain(all.kvs)).toEqual(expected);
    const part = store.rangeSync({ key: '/a', rangeEnd: '/b', revision, limit: 1 });
    expect(part.count).toBe(expected.filter((kv) => kv.key >= '/a' && kv.key < '/b').length);
    expect([part.more, part.kvs.length]).toEqual([part.count > 1, Math.min(1, part.count)]);
  }
  const events: string[] = [];
  const startRevision = model.compacted + 1;
  store.watch({
    key: '\0',
    rangeEnd: '\0',
    startRevision,
    prevKv: true,
    onEvents: (e) => events.push(...e.map(eventLine)),
    onEnd() {},
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(events).toEqual(model.events.filter((line) => Number.parseInt(line, 10) >= startRevision));
}

describe('against a naive model', () => {
  for (const durable of [false, true]) {
    test(`random operations, ${durable ? 'with' : 'without'} a log`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(step, fc.boolean()), { maxLength: 40 }), async (steps) => {
          const store = storeOver(durable ? fakeLog().log : undefined);
          const model = new Model();
          const live: string[] = [];
          const onEvents = (events: readonly StoreEvent[]): void => void live.push(...events.map(eventLine));
          store.watch({ key: '/', rangeEnd: '0', prevKv: true, onEvents, onEnd() {} });
          const pending: Promise<unknown>[] = [];
          for (const [action, wait] of steps) {
            pending.push(applyStep(store, model, action));
            if (wait) await Promise.all(pending);
          }
          await Promise.all(pending);
          await checkAgainstModel(store, model);
          expect(live).toEqual(model.events);
          await store.close();
        }),
        { numRuns: 200 },
      );
    });
  }
});

describe('durability', () => {
  test('what is accepted while a commit is under way goes into one batch', async () => {
    const { log, batches, state } = fakeLog();
    const store = storeOver(log);
    let open = (): void => {};
    state.gate = new Promise((resolve) => (open = resolve));
    const first = store.txn(put('/first'));
    await new Promise((resolve) => setImmediate(resolve));
    const rest = Array.from({ length: 20 }, (_, i) => store.txn(put(`/rest/${i}`)));
    expect(store.revision()).toBe(1);
    open();
    await Promise.all([first, ...rest]);
    expect(batches.map((batch) => batch.length)).toEqual([1, 20]);
    const revisions = batches[1]?.map(({ versions }) => versions[0]?.kv.modRevision);
    expect(revisions).toEqual(Array.from({ length: 20 }, (_, i) => i + 3));
  });

  test('nothing is seen, not even by a failed compare, before it is durable', async () => {
    const { log, state } = fakeLog();
    const store = storeOver(log);
    let open = (): void => {};
    state.gate = new Promise((resolve) => (open = resolve));
    const onEvents = vi.fn();
    store.watch({ key: '/a', onEvents, onEnd() {} });
    const settled = vi.fn();
    void store.txn(put('/a')).then(settled);
    const guarded = store.txn({
      compare: [{ key: '/a', target: 'version', result: '=', value: 0 }],
      success: [],
      failure: [{ op: 'range', request: { key: '/a' } }],
    });
    void guarded.then(settled);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect([settled.mock.calls.length, onEvents.mock.calls.length, store.rangeSync({ key: '/a' }).count]).toEqual([0, 0, 0]);
    open();
    expect(await guarded).toMatchObject({ succeeded: false, revision: 2, responses: [{ response: { count: 1 } }] });
    expect(onEvents).toHaveBeenCalledTimes(1);
  });

  test('what the log does not take at once comes later, in order', async () => {
    const { log, batches, state } = fakeLog();
    const store = storeOver(log);
    state.takes = 3;
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => store.txn(put(`/${i}`))));
    expect(answers.map(({ revision }) => revision)).toEqual(Array.from({ length: 10 }, (_, i) => i + 2));
    expect(batches.map((batch) => batch.length)).toEqual([3, 3, 3, 1]);
  });

  test('a failure of the log itself stops the store: writes are refused, watches end, reads show what was durable', async () => {
    const { log, state } = fakeLog();
    const store = storeOver(log);
    await store.txn(put('/kept'));
    const ends: Error[] = [];
    store.watch({ key: '/', rangeEnd: '0', onEvents() {}, onEnd: (error) => ends.push(error) });
    const cause = new Error('not a failure of the disk');
    state.failure = cause;
    const attempts = await Promise.allSettled([store.txn(put('/lost')), store.txn(put('/lost2')), store.leaseGrant(10)]);
    const errors = attempts.map((attempt) => (attempt.status === 'rejected' ? attempt.reason : undefined));
    expect(errors.every((error) => error instanceof ClosedError && error.cause === cause)).toBe(true);
    state.failure = undefined;
    await expect(store.txn(put('/later'))).rejects.toBeInstanceOf(ClosedError);
    await expect(store.compact(2)).rejects.toBeInstanceOf(ClosedError);
    expect(store.writeRefusal()).toBe(errors[0]);
    expect(ends).toEqual([errors[0]]);
    expect(store.rangeSync({ key: '/', rangeEnd: '0' }).kvs.map((kv) => kv.key)).toEqual(['/kept']);
    expect(store.revision()).toBe(2);
    await store.close();
  });

  test('closing waits for what was accepted', async () => {
    const { log, batches } = fakeLog();
    const store = storeOver(log);
    const accepted = store.txn(put('/a'));
    await store.close();
    expect((await accepted).revision).toBe(2);
    expect(batches).toHaveLength(1);
  });

  test('a watcher that throws is ended and harms nobody else', async () => {
    const store = storeOver();
    const onEnd = vi.fn();
    const seen = vi.fn();
    const onEvents = (): void => {
      throw new Error('broken watcher');
    };
    store.watch({ key: '/a', onEvents, onEnd });
    store.watch({ key: '/a', onEvents: seen, onEnd() {} });
    await store.txn(put('/a'));
    await store.txn(put('/a'));
    expect([onEnd.mock.calls.length, seen.mock.calls.length]).toEqual([1, 2]);
  });
});

describe('when the disk takes no writes', () => {
  test('everything accepted and not durable is taken back, and the store goes on by itself', async () => {
    const { log, batches, state } = fakeLog();
    const store = storeOver(log);
    const { id: lease } = await store.leaseGrant(100);
    await store.txn(put('/kept', 'old'));
    await store.txn({ compare: [], success: [{ op: 'put', key: '/leased', value: Buffer.from('x'), lease }] });
    await store.txn(put('/gone'));
    await store.txn({ compare: [], success: [{ op: 'delete', key: '/gone' }] });
    const before = store.rangeSync({ key: '/', rangeEnd: '0' });
    const written = batches.length;
    const seen = vi.fn();
    store.watch({ key: '/', rangeEnd: '0', onEvents: seen, onEnd: seen });
    state.failure = new NoSpaceError();
    const attempts = await Promise.allSettled([
      store.txn(put('/kept', 'new')),
      store.txn(put('/kept', 'newer')),
      store.txn(put('/fresh')),
      store.txn(put('/gone')),
      store.txn({ compare: [], success: [{ op: 'delete', key: '/', rangeEnd: '0' }] }),
      store.leaseGrant(50, 77),
      store.leaseRevoke(lease),
      store.compact(3),
    ]);
    expect(attempts.map((attempt) => attempt.status === 'rejected' && attempt.reason.message)).toEqual(
      Array.from({ length: 8 }, () => 'etcdserver: mvcc: database space exceeded'),
    );
    expect(store.rangeSync({ key: '/', rangeEnd: '0' })).toEqual(before);
    expect(store.rangeAccepted({ key: '/', rangeEnd: '0' })).toEqual(before);
    expect(store.leases()).toEqual([expect.objectContaining({ id: lease, keys: ['/leased'] })]);
    expect([store.revision(), store.compactedRevision(), store.stats().keys]).toEqual([5, 0, 2]);

    state.failure = undefined;
    expect((await store.txn(put('/kept', 'after'))).revision).toBe(6);
    await store.compact(6);
    await store.leaseRevoke(lease);
    expect(store.rangeSync({ key: '/', rangeEnd: '0' }).kvs.map((kv) => String(kv.value))).toEqual(['after']);
    expect(batches.length).toBe(written + 3);
    expect(seen).toHaveBeenCalledTimes(2);
    await expect(store.compact(6)).rejects.toBeInstanceOf(CompactedError);
    await store.close();
  });

  test('what the log refuses is never accepted; reads, and what frees space, go on', async () => {
    const { log, state } = fakeLog();
    const store = storeOver(log);
    await store.txn(put('/a'));
    state.refusal = new NoSpaceError();
    await expect(store.txn(put('/b'))).rejects.toBe(state.refusal);
    await expect(store.leaseGrant(10)).rejects.toBe(state.refusal);
    expect(store.writeRefusal()).toBe(state.refusal);
    const unchanged = store.txn({
      compare: [{ key: '/a', target: 'version', result: '=', value: 7 }],
      success: put('/a').success,
    });
    expect((await unchanged).succeeded).toBe(false);
    await store.txn({ compare: [], success: [{ op: 'delete', key: '/a' }] });
    await store.compact(3);
    expect(store.stats().keys).toBe(0);
    await store.close();
  });

  test('a lease that could not be ended when it ran out is ended later', async () => {
    const { log, state } = fakeLog();
    const clock = manualClock();
    const store = new MvccStore({ kind: 'disk', contents: emptyContents, clock, logger: silentLogger, log });
    const { id } = await store.leaseGrant(10);
    await store.txn({ compare: [], success: [{ op: 'put', key: '/leased', value: Buffer.from('x'), lease: id }] });
    state.failure = new NoSpaceError();
    clock.advance(11_000);
    await expect.poll(() => store.leases()).toEqual([expect.objectContaining({ id, keys: ['/leased'] })]);
    state.failure = undefined;
    clock.advance(2000);
    await expect.poll(() => store.stats().keys).toBe(0);
    await store.close();
  });
});

test('a long history is caught up with in slices, and compacted', async () => {
  const { log, dead } = fakeLog();
  const store = storeOver(log);
  const total = 9000;
  await Promise.all(Array.from({ length: total }, (_, i) => store.txn(put(`/k${i % 10}`, String(i)))));
  const seen: number[] = [];
  const turns = vi.fn();
  await new Promise<void>((resolve) => {
    const onEvents = (events: readonly StoreEvent[], revision: number): void => {
      seen.push(...events.map(({ kv }) => kv.modRevision));
      turns();
      if (revision === total + 1) resolve();
    };
    store.watch({ key: '/', rangeEnd: '0', startRevision: 2, onEvents, onEnd() {} });
  });
  expect(seen).toEqual(Array.from({ length: total }, (_, i) => i + 2));
  expect(turns.mock.calls.length).toBeGreaterThan(3);
  await store.compact(total);
  await expect.poll(() => dead.flat().length).toBe(total - 11);
  expect(store.rangeSync({ key: '/', rangeEnd: '0', revision: total }).count).toBe(10);
});

test('a past that weighs too much is compacted before its time, its older half', async () => {
  const store = storeOver();
  const value = Buffer.alloc(1024 * 1024);
  const count = historyBytesMax / value.length + 8;
  for (let at = 0; at < count; at++) await store.txn({ compare: [], success: [{ op: 'put', key: `/k${at % 4}`, value }] });
  const compacted = store.compactedRevision();
  // Of the four keys only what came after their first values is past.
  expect(compacted).toBeGreaterThan(count / 3);
  expect(compacted).toBeLessThan(count - 4);
  expect(store.rangeSync({ key: '/', rangeEnd: '0', revision: compacted }).count).toBe(4);
  await expect(store.range({ key: '/', revision: compacted - 1 })).rejects.toThrow(CompactedError);
  await store.close();
});
