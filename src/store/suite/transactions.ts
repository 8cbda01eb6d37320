// Compare, then one of two branches, atomically.
import { expect } from 'vitest';
import { InvalidRequestError, RequestTooLargeError } from '../errors.ts';
import type { Compare, Operation, Store } from '../types.ts';
import type { DefineTest } from './context.ts';
import { bytes, text } from './context.ts';

export function transactionTests(define: DefineTest): void {
  define('every comparison of every target', async ({ store, put, at }) => {
    const created = await put('a', '1');
    const changed = await put('a', '2');
    const actual = { createRevision: created.revision, modRevision: changed.revision, version: 2, lease: 0 };
    for (const [target, value] of Object.entries(actual) as [Compare['target'], number][]) {
      const verdicts: [Compare['result'], number, boolean][] = [
        ['=', value, true],
        ['=', value + 1, false],
        ['!=', value, false],
        ['!=', value + 1, true],
        ['<', value + 1, true],
        ['<', value, false],
        ['>', value - 1, true],
        ['>', value, false],
      ];
      for (const [result, against, expected] of verdicts) {
        const compare: Compare[] = [{ key: at('a'), target, result, value: against }];
        const { succeeded } = await store.txn({ compare, success: [] });
        expect(succeeded, `${target} ${result} ${against}`).toBe(expected);
      }
    }
  });

  define('a missing key compares as zero', async ({ store, put, at }) => {
    const create = (name: string) =>
      store.txn({
        compare: [{ key: at(name), target: 'modRevision', result: '=', value: 0 }],
        success: [{ op: 'put', key: at(name), value: bytes('new') }],
        failure: [{ op: 'range', request: { key: at(name) } }],
      });
    expect((await create('a')).succeeded).toBe(true);
    await put('a', 'newer');
    const second = await create('a');
    expect(second.succeeded).toBe(false);
    const [found] = second.responses;
    expect(found?.op === 'range' && found.response.kvs.map((kv) => text(kv.value))).toEqual(['newer']);
  });

  define('operations run in order and see each other', async ({ store, put, at, prefixRange }) => {
    await put('a', '1');
    await put('b', '1');
    const { responses, revision } = await store.txn({
      compare: [{ key: at('a'), target: 'version', result: '=', value: 1 }],
      success: [
        { op: 'range', request: { ...prefixRange, countOnly: true } },
        { op: 'delete', key: at('a'), prevKv: true },
        { op: 'put', key: at('c'), value: bytes('2') },
        { op: 'range', request: prefixRange },
      ],
    });
    const [before, deleted, stored, after] = responses;
    expect(before?.op === 'range' && before.response.count).toBe(2);
    expect(deleted?.op === 'delete' && [deleted.deleted, deleted.prevKvs.map((kv) => text(kv.value))]).toEqual([1, ['1']]);
    expect(stored).toEqual({ op: 'put' });
    expect(after?.op === 'range' && after.response.kvs.map((kv) => kv.key)).toEqual([at('b'), at('c')]);
    expect(store.revision()).toBe(revision);
  });

  define('deleting a range answers how many and what', async ({ store, put, prefixRange, prefix }) => {
    for (const name of ['a', 'b', 'c']) await put(name, name);
    const remove = (prevKv: boolean): Operation => ({ op: 'delete', key: `${prefix}a`, rangeEnd: `${prefix}c`, prevKv });
    const { responses } = await store.txn({ compare: [], success: [remove(true)] });
    const [deleted] = responses;
    expect(deleted?.op === 'delete' && [deleted.deleted, deleted.prevKvs.map((kv) => text(kv.value))]).toEqual([2, ['a', 'b']]);
    expect((await store.range(prefixRange)).count).toBe(1);
    const again = await store.txn({ compare: [], success: [remove(false)] });
    expect(again.responses).toEqual([{ op: 'delete', deleted: 0, prevKvs: [] }]);
  });

  define('a key changes at most once in a transaction', async ({ store, at, prefixRange }) => {
    const put = (key: string): Operation => ({ op: 'put', key, value: bytes('1') });
    const refused: Operation[][] = [
      [put(at('a')), put(at('a'))],
      [put(at('a')), { op: 'delete', ...prefixRange }],
    ];
    for (const success of refused) {
      const failure = await store.txn({ compare: [], success }).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(InvalidRequestError);
      expect((failure as Error).message).toBe('etcdserver: duplicate key given in txn request');
    }
  });

  define('a request that is too large is refused and changes nothing', async ({ store, at }) => {
    const value = Buffer.alloc(3 * 1024 * 1024);
    const { revision } = await store.range({ key: at('big') });
    const failure = await store
      .txn({ compare: [], success: [{ op: 'put', key: at('big'), value }] })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RequestTooLargeError);
    expect((await store.range({ key: at('big') })).revision).toBe(revision);
  });

  define('thousands of concurrent transactions lose no update', async ({ store, at, prefixRange }) => {
    const counters = 8;
    const workers = 64;
    const incrementsEach = 24;
    await Promise.all(
      Array.from({ length: workers }, async (_, worker) => {
        for (let i = 0; i < incrementsEach; i++) await increment(store, at(`counter-${(worker + i) % counters}`));
      }),
    );
    const { kvs } = await store.range(prefixRange);
    const total = kvs.reduce((sum, kv) => sum + Number(text(kv.value)), 0);
    expect(total).toBe(workers * incrementsEach);
    expect(kvs.every((kv) => kv.version === Number(text(kv.value)))).toBe(true);
  });

  define('answers come in revision order, each write once', async ({ put, record, store }) => {
    const watched = record({ startRevision: store.revision() + 1 });
    const order: number[] = [];
    const writes = Array.from({ length: 500 }, async (_, i) => {
      const { revision } = await put(`k${i}`, '1');
      order.push(revision);
    });
    await Promise.all(writes);
    expect(new Set(order).size).toBe(500);
    await watched.until(({ events }) => events.length >= 500);
    const delivered = watched.events.map((event) => event.kv.modRevision);
    expect(delivered).toEqual([...order].sort((a, b) => a - b));
    watched.watch.cancel();
  });
}

/** Read, then write if unchanged, as often as it takes. */
async function increment(store: Store, key: string): Promise<void> {
  for (;;) {
    const [found] = (await store.range({ key })).kvs;
    const { succeeded } = await store.txn({
      compare: [{ key, target: 'modRevision', result: '=', value: found?.modRevision ?? 0 }],
      success: [{ op: 'put', key, value: bytes(String(found ? Number(text(found.value)) + 1 : 1)) }],
    });
    if (succeeded) return;
  }
}
