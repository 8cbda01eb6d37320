// Leases: keys that vanish with them.
import { expect } from 'vitest';
import { LeaseExistsError, LeaseNotFoundError } from '../errors.ts';
import type { DefineTest } from './context.ts';
import { bytes, eventText } from './context.ts';

export function leaseTests(define: DefineTest): void {
  define('revoking a lease deletes its keys in one revision', async ({ store, put, record, read, prefix }) => {
    const { id } = await store.leaseGrant(60);
    await put('a', '1', id);
    await put('b', '1', id);
    await put('c', '1');
    const watched = record({ startRevision: store.revision() + 1 });
    await store.leaseRevoke(id);
    await watched.until(({ events }) => events.length >= 2);
    expect(watched.events.map((event) => eventText(event, prefix)).sort()).toEqual(['DELETE a', 'DELETE b']);
    expect(new Set(watched.events.map((event) => event.kv.modRevision)).size).toBe(1);
    expect([await read('a'), await read('b'), await read('c')]).toEqual([undefined, undefined, '1']);
    await expect(store.leaseRevoke(id)).rejects.toBeInstanceOf(LeaseNotFoundError);
    watched.watch.cancel();
  });

  define('a lease runs out unless kept alive', async ({ store, put, record, advance, read, at }) => {
    const short = await store.leaseGrant(2);
    const kept = await store.leaseGrant(4);
    expect(short.ttlSeconds).toBe(2);
    await put('short', '1', short.id);
    await put('kept', '1', kept.id);
    const watched = record({ key: at('short'), rangeEnd: '', startRevision: store.revision() + 1 });
    // For longer than it would have lived; in short steps, for a real clock does not stop between them.
    for (let step = 0; step < 9; step++) {
      await advance(500);
      expect((await store.leaseKeepAlive(kept.id)).ttlSeconds).toBe(4);
    }
    await watched.until(({ events }) => events.length >= 1);
    expect(watched.events[0]?.type).toBe('DELETE');
    expect(await read('kept')).toBe('1');
    await expect(store.leaseKeepAlive(short.id)).rejects.toBeInstanceOf(LeaseNotFoundError);
    await store.leaseRevoke(kept.id);
    watched.watch.cancel();
  });

  define('a later put takes the key off its lease', async ({ store, put, read, at }) => {
    const first = await store.leaseGrant(60);
    const second = await store.leaseGrant(60);
    await put('free', '1', first.id);
    await put('free', '2');
    await put('moved', '1', first.id);
    await put('moved', '2', second.id);
    expect((await store.range({ key: at('moved') })).kvs[0]?.lease).toBe(second.id);
    await store.leaseRevoke(first.id);
    expect([await read('free'), await read('moved')]).toEqual(['2', '2']);
    await store.leaseRevoke(second.id);
    expect(await read('moved')).toBeUndefined();
  });

  define('a lease can be compared, and chosen by id', async ({ store, put, at }) => {
    const id = 1_000_000 + Math.floor(Math.random() * 1e9);
    expect((await store.leaseGrant(60, id)).id).toBe(id);
    await expect(store.leaseGrant(60, id)).rejects.toBeInstanceOf(LeaseExistsError);
    await put('a', '1', id);
    const held = await store.txn({ compare: [{ key: at('a'), target: 'lease', result: '=', value: id }], success: [] });
    expect(held.succeeded).toBe(true);
    await store.leaseRevoke(id);
  });

  define('a put with an unknown lease is refused whole', async ({ store, read, at }) => {
    const unknown = store.txn({
      compare: [],
      success: [
        { op: 'put', key: at('a'), value: bytes('1') },
        { op: 'put', key: at('b'), value: bytes('1'), lease: 987_654_321 },
      ],
    });
    await expect(unknown).rejects.toBeInstanceOf(LeaseNotFoundError);
    expect([await read('a'), await read('b')]).toEqual([undefined, undefined]);
  });
}
