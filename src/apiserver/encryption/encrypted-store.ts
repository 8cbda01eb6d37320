// A store whose values are encrypted as a configuration says: everybody above it sees plain values, what is below keeps what was made of them.
// Order is kept: a value that has to wait for a key holds back those behind it, and nothing waits where every key is known.
import { internalError } from '#apimachinery/errors';
import type { KeyValue, Operation, OperationResponse, Store, StoreEvent, StoreWatch, TxnRequest, WatchRequest } from '#store';
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

/** What the values under keys are made of: sealed on the way to the store, opened on the way back. */
class Values {
  readonly #options: EncryptedStoreOptions;
  /** Which key each value was written with, as far as it was seen; plain ones are not listed. */
  readonly #marks = new Map<string, string>();
  readonly #unreadable = new Set<string>();

  constructor(options: EncryptedStoreOptions) {
    this.#options = options;
  }

  get hasUnreadable(): boolean {
    return this.#unreadable.size > 0;
  }
  isStale(key: string): boolean {
    const transformer = this.#transformerFor(key);
    return transformer !== undefined && (this.#marks.get(key) ?? '') !== transformer.mark();
  }
  forget(key: string): void {
    this.#marks.delete(key);
    this.#unreadable.delete(key);
  }

  /** The operation as the store keeps it. Throws the error that the client sees. */
  seal(operation: Operation): Soon<Operation> {
    if (operation.op !== 'put') return operation;
    const transformer = this.#transformerFor(operation.key);
    if (!transformer) return operation;
    try {
      const value = transformer.toStore(operation.value, operation.key);
      return value instanceof Promise ? value.then((ready) => ({ ...operation, value: ready })) : { ...operation, value };
    } catch (error) {
      throw internalError((error as Error).message);
    }
  }

  /** The value as it is meant. `newest`: it is not of the past. */
  open(kv: KeyValue, newest: boolean): Soon<KeyValue> {
    const transformer = kv.value.length === 0 ? undefined : this.#transformerFor(kv.key);
    if (!transformer) return kv;
    const done = ({ value, mark }: { value: Uint8Array; mark: string }): KeyValue => {
      if (newest) this.#seen(kv.key, mark);
      return value === kv.value ? kv : { ...kv, value };
    };
    try {
      const soon = transformer.fromStore(kv.value, kv.key);
      return soon instanceof Promise ? soon.then(done, (error: unknown) => this.#broken(kv, error)) : done(soon);
    } catch (error) {
      return this.#broken(kv, error);
    }
  }
  openAll(kvs: readonly KeyValue[], newest: boolean): Soon<KeyValue[]> {
    return allDone(kvs.map((kv) => this.open(kv, newest)));
  }
  async openAnswer(response: OperationResponse, request: Operation | undefined): Promise<OperationResponse> {
    if (response.op === 'delete') return { ...response, prevKvs: await this.openAll(response.prevKvs, false) };
    if (response.op !== 'range') return response;
    const newest = request?.op === 'range' && !request.request.revision;
    return { op: 'range', response: { ...response.response, kvs: await this.openAll(response.response.kvs, newest) } };
  }
  openEvent(event: StoreEvent): Soon<StoreEvent> {
    if (event.type === 'DELETE') this.forget(event.kv.key);
    const kv = event.type === 'PUT' ? this.open(event.kv, true) : event.kv;
    const prevKv = event.prevKv && this.open(event.prevKv, false);
    if (kv instanceof Promise || prevKv instanceof Promise)
      return Promise.all([kv, prevKv]).then(([now, before]) => ({
        type: event.type,
        kv: now,
        ...(before && { prevKv: before }),
      }));
    return kv === event.kv && prevKv === event.prevKv ? event : { type: event.type, kv, ...(prevKv && { prevKv }) };
  }

  #transformerFor(key: string): Transformer | undefined {
    const resource = this.#options.resourceOf(key);
    return resource && this.#options.transformerOf(resource);
  }
  #seen(key: string, mark: string): void {
    this.#unreadable.delete(key);
    if (mark === '') this.#marks.delete(key);
    else this.#marks.set(key, mark);
  }
  #broken(kv: KeyValue, error: unknown): KeyValue {
    this.#unreadable.add(kv.key);
    return { ...kv, unreadable: error as Error };
  }
}

/** A watch of which the values are opened. `endings`: how the watches that run are ended. */
function openedWatch(store: Store, values: Values, request: WatchRequest, endings: Set<(error: Error) => void>): StoreWatch {
  const followed = followWatch(request.onEvents, (event) => values.openEvent(event));
  const end = (error: Error): void => {
    if (!endings.delete(end)) return;
    followed.stop();
    request.onEnd(error);
  };
  endings.add(end);
  const watch = store.watch({ ...request, onEvents: followed.onEvents, onEnd: end });
  return {
    progress: () => watch.progress(),
    cancel() {
      endings.delete(end);
      followed.stop();
      watch.cancel();
    },
  };
}

/** Writes through sealed values. An embedded store decides in the turn it is asked in, which this keeps wherever no key has to be waited for. */
function sealedTxn(store: Store, values: Values, request: TxnRequest): ReturnType<Store['txn']> {
  const commit = async (sealed: TxnRequest): ReturnType<Store['txn']> => {
    const txn = await store.txn(sealed);
    const asked = txn.succeeded ? sealed.success : (sealed.failure ?? []);
    return { ...txn, responses: await Promise.all(txn.responses.map((response, at) => values.openAnswer(response, asked[at]))) };
  };
  const { compare } = request;
  try {
    const success = allDone(request.success.map((one) => values.seal(one)));
    const failure = request.failure && allDone(request.failure.map((one) => values.seal(one)));
    if (!(success instanceof Promise) && !(failure instanceof Promise))
      return commit({ compare, success, ...(failure && { failure }) });
    return Promise.all([success, failure]).then(([first, second]) =>
      commit({ compare, success: first, ...(second && { failure: second }) }),
    );
  } catch (error) {
    return Promise.reject(error);
  }
}

export function encryptStore(options: EncryptedStoreOptions): EncryptedStore {
  const { store } = options;
  const values = new Values(options);
  const endings = new Set<(error: Error) => void>();
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
      return { ...answer, kvs: await values.openAll(answer.kvs, newest) };
    },
    txn: (request) => sealedTxn(store, values, request),
    watch: (request) => openedWatch(store, values, request, endings),
    compact: (revision) => store.compact(revision),
    leaseGrant: (ttlSeconds, id) => store.leaseGrant(ttlSeconds, id),
    leaseKeepAlive: (id) => store.leaseKeepAlive(id),
    leaseRevoke: (id) => store.leaseRevoke(id),
    stats: () => store.stats(),
    writeRefusal: () => store.writeRefusal(),
    close: () => store.close(),
    isStale: (key) => values.isStale(key),
    readAgain() {
      const error = new Error('values can be read that could not be');
      for (const end of [...endings]) end(error);
    },
    get hasUnreadable() {
      return values.hasUnreadable;
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
