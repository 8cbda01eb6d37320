// A store whose values are encrypted as a configuration says: everybody above it sees plain values, what is below keeps what was made of them.
// Order is kept: a value that has to wait for a key holds back those behind it, and nothing waits where every key is known.
import { internalError } from '#apimachinery/errors';
import type { KeyValue, Operation, OperationResponse, Store, StoreEvent, TxnRequest } from '#store';
import type { GroupResource } from './group-resource.ts';
import type { Soon, Transformer } from './transformer.ts';

export interface EncryptedStoreOptions {
  store: Store;
  /** What is stored under a key; undefined: no object of the API, which is left as it is. */
  resourceOf(key: string): GroupResource | undefined;
  transformerOf(resource: GroupResource): Transformer;
}

export interface EncryptedStore extends Store {
  /** Whether what is stored under the key was not made with the key that is written with now. */
  isStale(key: string): boolean;
  /** Lets everybody read again: keys are there that were not. */
  readAgain(): void;
  /** Whether a value could not be read for want of its key. */
  readonly hasUnreadable: boolean;
}

const allDone = <T>(list: readonly Soon<T>[]): Soon<T[]> =>
  list.some((one) => one instanceof Promise) ? Promise.all(list) : (list as T[]);

export function encryptStore({ store, resourceOf, transformerOf }: EncryptedStoreOptions): EncryptedStore {
  /** Which key each value was written with, as far as it was seen; plain ones are not listed. */
  const marks = new Map<string, string>();
  const unreadable = new Set<string>();
  const watches = new Set<(error: Error) => void>();
  const transformerFor = (key: string): Transformer | undefined => {
    const resource = resourceOf(key);
    return resource && transformerOf(resource);
  };

  const seen = (key: string, mark: string): void => {
    unreadable.delete(key);
    if (mark === '') marks.delete(key);
    else marks.set(key, mark);
  };
  const broken = (kv: KeyValue, error: unknown): KeyValue => {
    unreadable.add(kv.key);
    return { ...kv, unreadable: error as Error };
  };
  /** `newest`: not of the past. */
  const plain = (kv: KeyValue, newest: boolean): Soon<KeyValue> => {
    const transformer = kv.value.length === 0 ? undefined : transformerFor(kv.key);
    if (!transformer) return kv;
    const done = ({ value, mark }: { value: Uint8Array; mark: string }): KeyValue => {
      if (newest) seen(kv.key, mark);
      return value === kv.value ? kv : { ...kv, value };
    };
    try {
      const soon = transformer.fromStore(kv.value, kv.key);
      return soon instanceof Promise ? soon.then(done, (error: unknown) => broken(kv, error)) : done(soon);
    } catch (error) {
      return broken(kv, error);
    }
  };

  const sealed = (operation: Operation): Soon<Operation> => {
    if (operation.op !== 'put') return operation;
    const transformer = transformerFor(operation.key);
    if (!transformer) return operation;
    try {
      const value = transformer.toStore(operation.value, operation.key);
      return value instanceof Promise ? value.then((ready) => ({ ...operation, value: ready })) : { ...operation, value };
    } catch (error) {
      throw internalError((error as Error).message);
    }
  };
  const opened = async (response: OperationResponse, request: Operation | undefined): Promise<OperationResponse> => {
    if (response.op === 'delete') return { ...response, prevKvs: await allDone(response.prevKvs.map((kv) => plain(kv, false))) };
    if (response.op !== 'range') return response;
    const newest = request?.op === 'range' && !request.request.revision;
    return {
      op: 'range',
      response: { ...response.response, kvs: await allDone(response.response.kvs.map((kv) => plain(kv, newest))) },
    };
  };

  const commit = async (request: TxnRequest): ReturnType<Store['txn']> => {
    const txn = await store.txn(request);
    const asked = txn.succeeded ? request.success : (request.failure ?? []);
    return { ...txn, responses: await Promise.all(txn.responses.map((response, at) => opened(response, asked[at]))) };
  };

  return {
    get kind() {
      return store.kind;
    },
    get consistency() {
      return store.consistency;
    },
    revision: () => store.revision(),
    compactedRevision: () => store.compactedRevision(),
    async range(request) {
      const answer = await store.range(request);
      const newest = !request.revision || request.revision >= answer.revision;
      return { ...answer, kvs: await allDone(answer.kvs.map((kv) => plain(kv, newest))) };
    },
    // An embedded store decides in the turn it is asked in, which this keeps wherever no key has to be waited for.
    txn(request) {
      try {
        const success = allDone(request.success.map(sealed));
        const failure = request.failure && allDone(request.failure.map(sealed));
        if (!(success instanceof Promise) && !(failure instanceof Promise))
          return commit({ compare: request.compare, success, ...(failure && { failure }) });
        return Promise.all([success, failure]).then(([first, second]) =>
          commit({ compare: request.compare, success: first, ...(second && { failure: second }) }),
        );
      } catch (error) {
        return Promise.reject(error);
      }
    },
    watch(request) {
      const followed = followWatch(request.onEvents, (event) => {
        if (event.type === 'DELETE') {
          marks.delete(event.kv.key);
          unreadable.delete(event.kv.key);
        }
        const kv = event.type === 'PUT' ? plain(event.kv, true) : event.kv;
        const prevKv = event.prevKv && plain(event.prevKv, false);
        if (kv instanceof Promise || prevKv instanceof Promise)
          return Promise.all([kv, prevKv]).then(([now, before]) => ({
            type: event.type,
            kv: now,
            ...(before && { prevKv: before }),
          }));
        return kv === event.kv && prevKv === event.prevKv ? event : { type: event.type, kv, ...(prevKv && { prevKv }) };
      });
      const end = (error: Error): void => {
        if (!watches.delete(end)) return;
        followed.stop();
        request.onEnd(error);
      };
      watches.add(end);
      const watch = store.watch({ ...request, onEvents: followed.onEvents, onEnd: end });
      return {
        progress: () => watch.progress(),
        cancel() {
          watches.delete(end);
          followed.stop();
          watch.cancel();
        },
      };
    },
    compact: (revision) => store.compact(revision),
    leaseGrant: (ttlSeconds, id) => store.leaseGrant(ttlSeconds, id),
    leaseKeepAlive: (id) => store.leaseKeepAlive(id),
    leaseRevoke: (id) => store.leaseRevoke(id),
    stats: () => store.stats(),
    writeRefusal: () => store.writeRefusal(),
    close: () => store.close(),
    isStale(key) {
      const transformer = transformerFor(key);
      return transformer !== undefined && (marks.get(key) ?? '') !== transformer.mark();
    },
    readAgain() {
      const error = new Error('values can be read that could not be');
      for (const end of [...watches]) end(error);
    },
    get hasUnreadable() {
      return unreadable.size > 0;
    },
  };
}

type OnEvents = (events: readonly StoreEvent[], revision: number) => void;

/** Batches in order, at once as long as none has to wait. */
function followWatch(deliver: OnEvents, open: (event: StoreEvent) => Soon<StoreEvent>): { onEvents: OnEvents; stop(): void } {
  let waiting: Promise<void> | undefined;
  let stopped = false;
  const hand: OnEvents = (events, revision) => {
    if (!stopped) deliver(events, revision);
  };
  return {
    onEvents(events, revision) {
      const batch = allDone(events.map(open));
      if (!waiting && !(batch instanceof Promise)) return hand(batch, revision);
      const turn = (waiting ?? Promise.resolve()).then(async () => hand(await batch, revision));
      waiting = turn;
      void turn.then(() => {
        if (waiting === turn) waiting = undefined;
      });
    },
    stop() {
      stopped = true;
    },
  };
}
