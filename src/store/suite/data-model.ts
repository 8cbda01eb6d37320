// Revisions, ranges and what a key carries.
import { expect } from 'vitest';
import { CompactedError, FutureRevisionError, InvalidRequestError } from '../errors.ts';
import type { DefineTest } from './context.ts';
import { bytes, text } from './context.ts';

export function dataModelTests(define: DefineTest): void {
  define('a key carries create revision, mod revision and version', async ({ store, put, del, at }) => {
    const first = await put('a', '1');
    const second = await put('a', '2');
    expect(second.revision).toBe(first.revision + 1);
    const { kvs } = await store.range({ key: at('a') });
    expect(kvs).toHaveLength(1);
    expect({ ...kvs[0], value: text(kvs[0]?.value ?? bytes('')) }).toEqual({
      key: at('a'),
      value: '2',
      createRevision: first.revision,
      modRevision: second.revision,
      version: 2,
      lease: 0,
    });
    await del('a');
    const again = await put('a', '3');
    const recreated = (await store.range({ key: at('a') })).kvs[0];
    expect(recreated).toMatchObject({ createRevision: again.revision, modRevision: again.revision, version: 1 });
  });

  define('revisions grow by one with each writing transaction only', async ({ store, put, del, read, prefix }) => {
    const { revision } = await put('a', '1');
    await read('a');
    expect((await del('missing')).revision).toBe(revision);
    const both = await store.txn({
      compare: [],
      success: [
        { op: 'put', key: `${prefix}b`, value: bytes('1') },
        { op: 'put', key: `${prefix}c`, value: bytes('1') },
      ],
    });
    expect(both.revision).toBe(revision + 1);
    const { kvs } = await store.range({ key: `${prefix}b`, rangeEnd: `${prefix}d` });
    expect(kvs.map((kv) => kv.modRevision)).toEqual([revision + 1, revision + 1]);
    expect(store.revision()).toBe(revision + 1);
  });

  define('a range is in byte order of the keys and ends before rangeEnd', async ({ store, put, prefix, prefixRange }) => {
    const names = ['a', 'a/b', 'a0', 'b', 'ab', 'é', '\u{1f600}', '\uff21', 'z', '~'];
    for (const name of names) await put(name, name);
    const sorted = [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const { kvs, count, more } = await store.range(prefixRange);
    expect(kvs.map((kv) => kv.key.slice(prefix.length))).toEqual(sorted);
    expect({ count, more }).toEqual({ count: names.length, more: false });
    const part = await store.range({ key: `${prefix}a`, rangeEnd: `${prefix}b` });
    expect(part.kvs.map((kv) => kv.key.slice(prefix.length))).toEqual(['a', 'a/b', 'a0', 'ab']);
  });

  define('without rangeEnd only the one key is meant', async ({ store, put, at, del, prefixRange, prefix }) => {
    for (const name of ['a', 'b', 'c']) await put(name, name);
    for (const rangeEnd of [undefined, '']) {
      const one = await store.range({ key: at('a'), ...(rangeEnd !== undefined && { rangeEnd }) });
      expect([one.count, one.kvs.map((kv) => kv.key)]).toEqual([1, [at('a')]]);
    }
    await del('a');
    expect((await store.range({ key: at('a') })).count).toBe(0);
    const { kvs } = await store.range(prefixRange);
    expect(kvs.map((kv) => kv.key.slice(prefix.length))).toEqual(['b', 'c']);
  });

  define("rangeEnd '\\0' means to the last key", async ({ store, put, at }) => {
    await put('a', '1');
    await put('b', '1');
    const { kvs } = await store.range({ key: at('b'), rangeEnd: '\0', keysOnly: true });
    expect(kvs[0]?.key).toBe(at('b'));
    const all = await store.range({ key: '\0', rangeEnd: '\0', countOnly: true });
    expect(all.count).toBeGreaterThanOrEqual(2);
  });

  define('limit, count, more, keysOnly and countOnly', async ({ store, put, at, prefixRange }) => {
    for (let i = 0; i < 5; i++) await put(`k${i}`, `v${i}`);
    const page = await store.range({ ...prefixRange, limit: 2 });
    expect(page.kvs.map((kv) => kv.key)).toEqual([at('k0'), at('k1')]);
    expect(page).toMatchObject({ count: 5, more: true });
    const last = await store.range({ ...prefixRange, limit: 5 });
    expect(last).toMatchObject({ count: 5, more: false });
    const counted = await store.range({ ...prefixRange, countOnly: true });
    expect(counted).toMatchObject({ kvs: [], count: 5, more: false });
    const keys = await store.range({ ...prefixRange, keysOnly: true });
    expect(keys.kvs.map((kv) => [kv.key, kv.value.byteLength, kv.version])).toContainEqual([at('k3'), 0, 1]);
    expect(await store.range({ key: at('nothing') })).toMatchObject({ kvs: [], count: 0, more: false });
  });

  define('the past can be read at every revision', async ({ store, put, del, prefixRange, prefix }) => {
    const one = await put('a', '1');
    await put('b', '1');
    const two = await put('a', '2');
    const gone = await del('a');
    const at = async (revision: number, limit = 0): Promise<string[]> => {
      const { kvs } = await store.range({ ...prefixRange, revision, limit });
      return kvs.map((kv) => `${kv.key.slice(prefix.length)}=${text(kv.value)}`);
    };
    expect(await at(one.revision)).toEqual(['a=1']);
    expect(await at(one.revision + 1)).toEqual(['a=1', 'b=1']);
    expect(await at(two.revision)).toEqual(['a=2', 'b=1']);
    expect(await at(two.revision, 1)).toEqual(['a=2']);
    expect(await at(gone.revision)).toEqual(['b=1']);
    const past = await store.range({ ...prefixRange, revision: two.revision, limit: 1 });
    expect(past).toMatchObject({ count: 2, more: true, revision: two.revision });
    await expect(store.range({ ...prefixRange, revision: gone.revision + 1000 })).rejects.toBeInstanceOf(FutureRevisionError);
  });

  define('compaction forgets what is below its revision', async ({ store, put, del, prefixRange, read }) => {
    const one = await put('a', '1');
    await put('a', '2');
    await put('b', '1');
    const gone = await del('b');
    const after = await put('c', '1');
    await store.compact(gone.revision);
    expect(store.compactedRevision()).toBe(gone.revision);
    const failure = await store.range({ ...prefixRange, revision: one.revision }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CompactedError);
    const { kvs } = await store.range({ ...prefixRange, revision: gone.revision });
    expect(kvs.map((kv) => text(kv.value))).toEqual(['2']);
    expect(await read('a')).toBe('2');
    expect((await store.range({ ...prefixRange, revision: after.revision })).count).toBe(2);
    await expect(store.compact(gone.revision)).rejects.toBeInstanceOf(CompactedError);
    await expect(store.compact(after.revision + 1000)).rejects.toBeInstanceOf(FutureRevisionError);
  });

  define('values are any bytes, and may be empty', async ({ store, at }) => {
    const values = [new Uint8Array(0), Uint8Array.from({ length: 256 }, (_, i) => i), Buffer.alloc(300_000, 0xff)];
    for (const value of values) {
      await store.txn({ compare: [], success: [{ op: 'put', key: at('bin'), value }] });
      const { kvs } = await store.range({ key: at('bin') });
      expect(Buffer.compare(kvs[0]?.value ?? bytes('?'), value)).toBe(0);
    }
  });

  define('a request without a key is refused', async ({ store }) => {
    const failure = await store.range({ key: '' }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(InvalidRequestError);
    expect((failure as Error).message).toBe('etcdserver: key is not provided');
  });
}
