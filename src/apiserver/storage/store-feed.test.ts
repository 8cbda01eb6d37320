import { expect, test } from 'vitest';
import type { UnknownObject } from '#apimachinery/meta';
import { CompactedError, type KeyValue, openMemoryStore, type Store, UnavailableError, type WatchRequest } from '#store';
import { type Clock, silentLogger } from '#utils';
import { ringBytesMax, ringsBytesMax } from '../limits.ts';
import { ResourceCache } from './resource-cache.ts';
import { StoreFeed } from './store-feed.ts';

/** Timers fire when told to; sleeping takes no time. */
function scriptedClock(): Clock & { fire(): void } {
  let timers: (() => void)[] = [];
  return {
    now: () => 0,
    monotonic: () => 0,
    setTimer(_delayMs, callback) {
      timers.push(callback);
      return { cancel: () => void (timers = timers.filter((timer) => timer !== callback)) };
    },
    sleep(_delayMs, signal) {
      return new Promise((resolve, reject) => {
        timers.push(resolve);
        signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
    },
    fire() {
      for (const timer of timers.splice(0)) timer();
    },
  };
}

const text = (name: string): Buffer => Buffer.from(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }));
const kv = (name: string, revision: number, removed = false): KeyValue => ({
  key: `/registry/things/ns/${name}`,
  value: removed ? Buffer.alloc(0) : text(name),
  createRevision: 1,
  modRevision: revision,
  version: 1,
  lease: 0,
});
const thingsCache = (resource = 'things'): ResourceCache =>
  new ResourceCache({
    prefix: `/registry/${resource}/`,
    namespaced: true,
    // Large values have nothing but blanks behind it.
    decode: (bytes) => JSON.parse(Buffer.from(bytes.subarray(0, 1_024)).toString()) as UnknownObject,
    finish() {},
    now: () => 0,
    onBadValue() {},
    onBadReader(_key, error) {
      throw error;
    },
  });

/** A remote store whose content, revision and watch the test plays. */
function remoteStore() {
  const remote = {
    kvs: [] as KeyValue[],
    revision: 1,
    failure: undefined as Error | undefined,
    silent: false,
    watch: undefined as WatchRequest | undefined,
  };
  const store = {
    kind: 'etcd',
    consistency: 'ask',
    async range() {
      if (remote.silent) await new Promise(() => {});
      if (remote.failure) throw remote.failure;
      return { kvs: remote.kvs, more: false, count: remote.kvs.length, revision: remote.revision };
    },
    watch(request: WatchRequest) {
      remote.watch = request;
      return { progress() {}, cancel() {} };
    },
  } as unknown as Store;
  return { remote, store };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const namesOf = (cache: ResourceCache): string[] => cache.entries.values('/registry/things/').map(({ name }) => name);

test('a cache that was loaded ahead of the watch hears nothing twice', async () => {
  const { remote, store } = remoteStore();
  const feed = new StoreFeed({ store, clock: scriptedClock(), logger: silentLogger });
  await feed.start();
  const cache = thingsCache();
  Object.assign(remote, { kvs: [kv('kept', 5)], revision: 7 });
  await feed.register(cache);
  const changes: string[] = [];
  cache.onChange((now, before) => changes.push(`${now?.name}<${before?.name}`));
  // The watch comes after: 'gone' was made and removed before the load.
  const tell = (type: 'PUT' | 'DELETE', one: KeyValue): void => remote.watch?.onEvents([{ type, kv: one }], one.modRevision);
  tell('PUT', kv('gone', 4));
  tell('PUT', kv('kept', 5));
  tell('DELETE', kv('gone', 6, true));
  expect([namesOf(cache), changes]).toEqual([['kept'], []]);
  tell('PUT', kv('new', 8));
  expect([namesOf(cache), changes]).toEqual([['kept', 'new'], ['new<undefined']]);
});

test('a lost watch is not synced until everything was read again, however long the store is away', async () => {
  const { remote, store } = remoteStore();
  const clock = scriptedClock();
  const lost: Error[] = [];
  const feed = new StoreFeed({ store, clock, logger: silentLogger, onLost: (error) => lost.push(error) });
  const cache = thingsCache();
  void feed.register(cache);
  await feed.start();
  expect(feed.synced).toBe(true);
  remote.failure = new UnavailableError('nobody answers');
  remote.watch?.onEnd(new CompactedError(9));
  expect(feed.synced).toBe(false);
  for (let i = 0; i < 3; i++) {
    clock.fire();
    await turn();
  }
  await expect(feed.check()).rejects.toThrow('nobody answers');
  Object.assign(remote, { failure: undefined, kvs: [kv('a', 20)], revision: 20 });
  clock.fire();
  await turn();
  expect([feed.synced, feed.failure, namesOf(cache), feed.revision, lost]).toEqual([true, undefined, ['a'], 20, []]);
  await expect(feed.check()).resolves.toBeUndefined();
});

test('a remote store that does not answer is unhealthy', async () => {
  const { remote, store } = remoteStore();
  const clock = scriptedClock();
  const feed = new StoreFeed({ store, clock, logger: silentLogger });
  await feed.start();
  remote.silent = true;
  const checked = feed.check();
  clock.fire();
  await expect(checked).rejects.toThrow('context deadline exceeded');
});

test('an embedded store that stops is told, and asked no more', async () => {
  const clock = scriptedClock();
  const store = openMemoryStore({});
  let tell = (_error: Error): void => {};
  const lost = new Promise<Error>((resolve) => (tell = resolve));
  const feed = new StoreFeed({ store, clock, logger: silentLogger, onLost: tell });
  await feed.start();
  await store.close();
  await turn();
  clock.fire();
  expect((await lost).message).toMatch(/closed/);
});

test('however many resources there are, what all of them remember is bounded', async () => {
  const { remote, store } = remoteStore();
  const feed = new StoreFeed({ store, clock: scriptedClock(), logger: silentLogger });
  const value = Buffer.alloc(ringBytesMax / 2, ' ');
  text('a').copy(value);
  const caches = Array.from({ length: (2 * ringsBytesMax) / value.length }, (_, at) => thingsCache(`things${at}`));
  for (const cache of caches) void feed.register(cache);
  await feed.start();
  caches.forEach(({ options: { prefix } }, at) => {
    const one = { ...kv('a', at + 2), key: `${prefix}ns/a`, value };
    remote.watch?.onEvents([{ type: 'PUT', kv: one }], one.modRevision);
  });
  expect(caches.reduce((sum, { ring }) => sum + ring.bytes, 0)).toBeLessThanOrEqual(ringsBytesMax);
  expect(caches.every(({ entries }) => entries.values('/').length === 1)).toBe(true);
});
