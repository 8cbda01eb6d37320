// Watches: every change once, in order, from any revision that is still there.
import { expect } from 'vitest';
import { CompactedError } from '../errors.ts';
import type { DefineTest } from './context.ts';
import { bytes, eventText, text } from './context.ts';

export function watchTests(define: DefineTest): void {
  define('a watch tells of changes from then on', async ({ put, del, record, prefix, store }) => {
    await put('before', '1');
    const watched = record({ startRevision: store.revision() + 1 });
    await put('a', '1');
    await put('a', '2');
    await del('a');
    await watched.until(({ events }) => events.length >= 3);
    expect(watched.events.map((event) => eventText(event, prefix))).toEqual(['PUT a=1', 'PUT a=2', 'DELETE a']);
    const [first, , last] = watched.events;
    expect(last?.kv).toMatchObject({ version: 0, createRevision: 0 });
    expect(last?.kv.modRevision).toBe((first?.kv.modRevision ?? 0) + 2);
    expect(last?.kv.value.byteLength).toBe(0);
    expect(watched.events.every((event) => event.prevKv === undefined)).toBe(true);
    watched.watch.cancel();
  });

  define('a watch resumes from a revision of the past', async ({ put, record, prefix }) => {
    const revisions: number[] = [];
    for (let i = 0; i < 50; i++) revisions.push((await put(`k${i}`, String(i))).revision);
    const watched = record({ startRevision: revisions[20] ?? 0 });
    await put('live', 'x');
    await watched.until(({ events }) => events.length >= 31);
    const expected = [...Array.from({ length: 30 }, (_, i) => `PUT k${i + 20}=${i + 20}`), 'PUT live=x'];
    expect(watched.events.map((event) => eventText(event, prefix))).toEqual(expected);
    watched.watch.cancel();
  });

  define('previous values come when asked for', async ({ put, del, record }) => {
    const { revision } = await put('a', '1');
    await put('a', '2');
    await del('a');
    await put('a', '3');
    const watched = record({ startRevision: revision, prevKv: true });
    await watched.until(({ events }) => events.length >= 4);
    expect(watched.events.map(({ prevKv }) => prevKv && text(prevKv.value))).toEqual([undefined, '1', '2', undefined]);
    watched.watch.cancel();
  });

  define('a watch sees its own key or range only', async ({ put, record, at, prefix, store }) => {
    const { startRevision } = { startRevision: store.revision() + 1 };
    const single = record({ key: at('b'), rangeEnd: '', startRevision });
    const range = record({ key: at('b'), rangeEnd: at('d'), startRevision });
    for (const name of ['a', 'b', 'c', 'd', 'b/x']) await put(name, '1');
    const { revision } = await put('b', '2');
    await single.settle(revision);
    await range.settle(revision);
    expect(single.events.map((event) => eventText(event, prefix))).toEqual(['PUT b=1', 'PUT b=2']);
    expect(range.events.map((event) => eventText(event, prefix))).toEqual(['PUT b=1', 'PUT c=1', 'PUT b/x=1', 'PUT b=2']);
    single.watch.cancel();
    range.watch.cancel();
  });

  define('all changes of a revision come together', async ({ store, record, at, prefixRange }) => {
    const watched = record({ startRevision: store.revision() + 1 });
    const names = ['a', 'b', 'c'];
    await store.txn({ compare: [], success: names.map((name) => ({ op: 'put', key: at(name), value: bytes(name) })) });
    await watched.until(({ events }) => events.length >= 3);
    expect(watched.revisions[0]).toBe(store.revision());
    await store.txn({ compare: [], success: [{ op: 'delete', ...prefixRange }] });
    await watched.until(({ events }) => events.length >= 6);
    expect(new Set(watched.events.slice(3).map((event) => event.kv.modRevision)).size).toBe(1);
    watched.watch.cancel();
  });

  define('progress tells how far a quiet watch has come', async ({ put, record, at, store }) => {
    const quiet = record({ key: at('quiet'), rangeEnd: '', startRevision: store.revision() + 1 });
    const { revision } = await put('loud', '1');
    await quiet.settle(revision);
    expect(quiet.events).toEqual([]);
    quiet.watch.cancel();
  });

  define('progress asked for amid writes hides no event, and promises none too early', async ({ put, record, store }) => {
    const watched = record({ startRevision: store.revision() + 1 });
    const written: number[] = [];
    for (let round = 0; round < 100; round++) {
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, i) => {
          watched.watch.progress();
          return put(`k${i}`, String(round));
        }),
      );
      written.push(...answers.map(({ revision }) => revision));
    }
    await watched.settle(Math.max(...written));
    expect(watched.events.map(({ kv }) => kv.modRevision)).toEqual(written.sort((a, b) => a - b));
    watched.watch.cancel();
  });

  define('a watch may begin in the future', async ({ put, record, store, prefix }) => {
    const later = store.revision() + 3;
    const watched = record({ startRevision: later });
    for (const value of ['1', '2', '3', '4']) await put('a', value);
    await watched.until(({ events }) => events.length >= 2);
    expect(watched.events.map((event) => eventText(event, prefix))).toEqual(['PUT a=3', 'PUT a=4']);
    watched.watch.cancel();
  });

  define('a cancelled watch is silent', async ({ put, record, store }) => {
    const watched = record({ startRevision: store.revision() + 1 });
    const other = record({ startRevision: store.revision() + 1 });
    await put('a', '1');
    await watched.until(({ events }) => events.length === 1);
    watched.watch.cancel();
    watched.watch.cancel();
    await put('a', '2');
    await other.until(({ events }) => events.length === 2);
    expect(watched.events).toHaveLength(1);
    expect(watched.ended).toBeUndefined();
    other.watch.cancel();
  });

  define('a watch from a compacted revision ends', async ({ put, record, store }) => {
    const { revision } = await put('a', '1');
    await put('a', '2');
    const target = await put('a', '3');
    await store.compact(target.revision);
    const watched = record({ startRevision: revision });
    await watched.until(({ ended }) => ended !== undefined);
    expect(watched.ended).toBeInstanceOf(CompactedError);
    expect((watched.ended as CompactedError).compactedRevision).toBe(target.revision);
    expect(watched.events).toEqual([]);
  });

  define('a watch from exactly the compacted revision still works', async ({ put, record, store, prefix }) => {
    await put('a', '1');
    const { revision } = await put('a', '2');
    await put('a', '3');
    await store.compact(revision);
    const watched = record({ startRevision: revision });
    await watched.until(({ events }) => events.length >= 2);
    expect(watched.events.map((event) => eventText(event, prefix))).toEqual(['PUT a=2', 'PUT a=3']);
    watched.watch.cancel();
  });

  define('many watchers under load each see every change once, in order', async ({ put, record, store }) => {
    const startRevision = store.revision() + 1;
    const writes = 400;
    const early = Array.from({ length: 5 }, () => record({ startRevision }));
    const pending = Array.from({ length: writes }, (_, i) => put(`k${i % 17}`, String(i)));
    const late = Array.from({ length: 5 }, () => record({ startRevision }));
    await Promise.all(pending);
    for (const watched of [...early, ...late]) {
      await watched.until(({ events }) => events.length >= writes);
      const revisions = watched.events.map((event) => event.kv.modRevision);
      expect(revisions).toEqual(Array.from({ length: writes }, (_, i) => (revisions[0] ?? 0) + i));
      watched.watch.cancel();
    }
  });
}
