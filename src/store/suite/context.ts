// What the tests of the suite share: a key space of their own, short forms of the common requests, and a watch that records.
import { expect, test } from 'vitest';
import { prefixEnd } from '../keys.ts';
import type { Operation, Store, StoreEvent, StoreWatch, TxnResponse, WatchRequest } from '../types.ts';

/** A store under test. It may be shared between tests and hold other keys; each test keeps to its own prefix. */
export interface SuiteSubject {
  store: Store;
  /** Lets time pass for leases: by a virtual clock, or by waiting. */
  advance(milliseconds: number): Promise<void>;
  /** Called when the test is over. */
  release(): Promise<void>;
}

export interface SuiteContext extends Pick<SuiteSubject, 'advance'> {
  store: Store;
  /** The test's own prefix; ends with '/'. */
  prefix: string;
  prefixRange: { key: string; rangeEnd: string };
  /** `name` below the prefix. */
  at(name: string): string;
  put(name: string, value: string, lease?: number): Promise<TxnResponse>;
  del(name: string): Promise<TxnResponse>;
  read(name: string): Promise<string | undefined>;
  record(request?: Partial<WatchRequest>): WatchRecord;
}

export interface WatchRecord {
  watch: StoreWatch;
  events: StoreEvent[];
  /** The revision of each delivery. */
  revisions: number[];
  ended: Error | undefined;
  /** Waits until `done` holds; fails after a deadline. */
  until(done: (record: WatchRecord) => boolean): Promise<void>;
  /** Waits until everything up to `revision` has been delivered, by progress requests. */
  settle(revision: number): Promise<void>;
}

export type DefineTest = (name: string, body: (context: SuiteContext) => Promise<void>) => void;

const deadlineMs = 15_000;
const progressPeriodMs = 200;
let contexts = 0;

export const bytes = (text: string): Uint8Array => Buffer.from(text);
export const text = (value: Uint8Array): string => Buffer.from(value).toString();
/** An event in the form `PUT a=1`, without the test's prefix. */
export const eventText = ({ type, kv }: StoreEvent, prefix: string): string => {
  const name = kv.key.slice(prefix.length);
  return type === 'PUT' ? `PUT ${name}=${text(kv.value)}` : `DELETE ${name}`;
};

/** Defines tests that each get a fresh context. */
export function defineWith(open: () => Promise<SuiteSubject>): DefineTest {
  return (name, body) => {
    test(name, { timeout: 180_000 }, async () => {
      const subject = await open();
      try {
        await body(contextOf(subject));
      } finally {
        await subject.release();
      }
    });
  };
}

function contextOf({ store, advance }: SuiteSubject): SuiteContext {
  const prefix = `/suite/${process.pid}-${Date.now()}-${contexts++}/`;
  const at = (name: string): string => prefix + name;
  const prefixRange = { key: prefix, rangeEnd: prefixEnd(prefix) };
  const one = (operation: Operation): Promise<TxnResponse> => store.txn({ compare: [], success: [operation] });
  return {
    store,
    advance,
    prefix,
    prefixRange,
    at,
    put: (name, value, lease = 0) => one({ op: 'put', key: at(name), value: bytes(value), lease }),
    del: (name) => one({ op: 'delete', key: at(name) }),
    async read(name) {
      const { kvs } = await store.range({ key: at(name) });
      return kvs[0] && text(kvs[0].value);
    },
    record: (request = {}) => recordWatch(store, { ...prefixRange, ...request }),
  };
}

function recordWatch(store: Store, request: Omit<WatchRequest, 'onEvents' | 'onEnd'>): WatchRecord {
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const check of waiting) check();
  };
  const record: WatchRecord = {
    events: [],
    revisions: [],
    ended: undefined,
    until: (done) =>
      waitUntil(
        () => done(record),
        waiting,
        () => describeRecord(record),
      ),
    async settle(revision) {
      const reached = (): boolean => (record.revisions.at(-1) ?? 0) >= revision;
      const timer = setInterval(() => record.watch.progress(), progressPeriodMs);
      record.watch.progress();
      await record.until(reached).finally(() => clearInterval(timer));
    },
    watch: store.watch({
      ...request,
      onEvents(events, revision) {
        record.events.push(...events);
        record.revisions.push(revision);
        wake();
      },
      onEnd(error) {
        expect(record.ended, 'onEnd is called at most once').toBeUndefined();
        record.ended = error;
        wake();
      },
    }),
  };
  return record;
}

const describeRecord = ({ events, revisions, ended }: WatchRecord): string =>
  `${events.length} events, revisions ${revisions.slice(-5).join(' ')}, ended: ${String(ended)}`;

function waitUntil(done: () => boolean, waiting: Set<() => void>, describe: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (action: () => void): void => {
      clearTimeout(timer);
      waiting.delete(check);
      action();
    };
    const check = (): void => {
      if (done()) finish(resolve);
    };
    const timer = setTimeout(() => finish(() => reject(new Error(`condition not met in time: ${describe()}`))), deadlineMs);
    waiting.add(check);
    check();
  });
}
