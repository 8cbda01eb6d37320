// The Watch service: many watches over one stream. A client that does not read is cut off, and resumes from the revision it has.
import type { ServerDuplexStream } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import type { Clock, Timer } from '#utils';
import { CompactedError } from '../errors.ts';
import { progressNotifyMs, watchBacklogEventsMax } from '../limits.ts';
import { toRpcFailure } from '../rpc/errors.ts';
import type { RpcWatchCreate, RpcWatchRequest, RpcWatchResponse } from '../rpc/messages.ts';
import type { EmbeddedStore, StoreEvent, StoreWatch } from '../types.ts';
import { headerAt, rangeFields, toRpcEvent } from './convert.ts';

export type WatchStream = ServerDuplexStream<RpcWatchRequest, Partial<RpcWatchResponse>>;

interface Watcher {
  watch: StoreWatch;
  notify: boolean;
}

/** Watch id of answers that belong to the whole stream. */
const wholeStream = -1;
const noPut = 0;

export function serveWatch(store: EmbeddedStore, clock: Clock, stream: WatchStream): void {
  new WatchSession(store, clock, stream);
}

class WatchSession {
  readonly #store: EmbeddedStore;
  readonly #clock: Clock;
  readonly #stream: WatchStream;
  readonly #watchers = new Map<number, Watcher>();
  /** Watches that have still to answer the progress request under way, and the lowest revision answered so far. */
  #progress: { waiting: Set<number>; revision: number } | undefined;
  #notices: Timer | undefined;
  #lastId = 0;
  /** Events written and not yet taken by the connection. */
  #backlog = 0;
  #over = false;

  constructor(store: EmbeddedStore, clock: Clock, stream: WatchStream) {
    this.#store = store;
    this.#clock = clock;
    this.#stream = stream;
    stream.on('data', (request: RpcWatchRequest) => this.#receive(request));
    stream.on('end', () => this.#finish(() => stream.end()));
    stream.on('cancelled', () => this.#finish(() => {}));
    stream.on('error', () => this.#finish(() => {}));
  }

  #receive({ createRequest, cancelRequest, progressRequest }: RpcWatchRequest): void {
    if (this.#over) return;
    if (createRequest) this.#create(createRequest);
    else if (cancelRequest) this.#cancel(cancelRequest.watchId);
    else if (progressRequest) this.#startProgress();
  }

  #create(request: RpcWatchCreate): void {
    const id = request.watchId !== 0 ? request.watchId : this.#freeId();
    const refuse = (cancelReason: string): void => {
      this.#send({ watchId: wholeStream, created: true, canceled: true, cancelReason });
    };
    if (this.#watchers.has(id)) return refuse('mvcc: duplicate watch ID provided on the WatchStream');
    let range: { key: string; rangeEnd?: string };
    try {
      // etcd takes an empty key with an end as "from the first key".
      range = rangeFields(request.key.length === 0 ? { ...request, key: Buffer.from('\0') } : request);
    } catch (error) {
      return refuse((error as Error).message);
    }
    this.#send({ watchId: id, created: true });
    const dropped = new Set(request.filters.map((filter) => (filter === noPut ? 'PUT' : 'DELETE')));
    const watch = this.#store.watch({
      ...range,
      startRevision: Math.max(0, request.startRevision),
      prevKv: request.prevKv,
      onEvents: (events, revision) => this.#deliver(id, dropped, events, revision),
      onEnd: (error) => this.#ended(id, error),
    });
    this.#watchers.set(id, { watch, notify: request.progressNotify });
    if (request.progressNotify && !this.#notices) this.#scheduleNotices();
  }

  #cancel(id: number): void {
    const watcher = this.#watchers.get(id);
    if (!watcher) return;
    watcher.watch.cancel();
    this.#forget(id);
    this.#send({ watchId: id, canceled: true });
  }

  #deliver(id: number, dropped: ReadonlySet<StoreEvent['type']>, events: readonly StoreEvent[], revision: number): void {
    if (events.length === 0) return this.#progressed(id, revision);
    const wanted = dropped.size === 0 ? events : events.filter(({ type }) => !dropped.has(type));
    if (wanted.length > 0) this.#send({ watchId: id, events: wanted.map(toRpcEvent) }, revision);
  }

  #ended(id: number, error: Error): void {
    this.#forget(id);
    if (error instanceof CompactedError) {
      this.#send({ watchId: id, canceled: true, compactRevision: error.compactedRevision, cancelReason: error.message });
      return;
    }
    this.#finish(() => this.#stream.emit('error', toRpcFailure(error)));
  }

  /** One answer for the whole stream once every watch on it has come up to date. */
  #startProgress(): void {
    if (this.#progress) return;
    const waiting = new Set(this.#watchers.keys());
    this.#progress = { waiting, revision: this.#store.revision() };
    if (waiting.size === 0) this.#answerProgress();
    else for (const id of waiting) this.#watchers.get(id)?.watch.progress();
  }

  #progressed(id: number, revision: number): void {
    const progress = this.#progress;
    if (!progress?.waiting.delete(id)) {
      if (this.#watchers.get(id)?.notify) this.#send({ watchId: id }, revision);
      return;
    }
    progress.revision = Math.min(progress.revision, revision);
    if (progress.waiting.size === 0) this.#answerProgress();
  }

  #answerProgress(): void {
    const revision = this.#progress?.revision;
    this.#progress = undefined;
    this.#send({ watchId: wholeStream }, revision);
  }

  #scheduleNotices(): void {
    this.#notices = this.#clock.setTimer(progressNotifyMs, () => {
      for (const { watch, notify } of this.#watchers.values()) if (notify) watch.progress();
      this.#scheduleNotices();
    });
  }

  #forget(id: number): void {
    this.#watchers.delete(id);
    if (this.#progress?.waiting.delete(id) && this.#progress.waiting.size === 0) this.#answerProgress();
  }

  #freeId(): number {
    while (this.#watchers.has(this.#lastId)) this.#lastId++;
    return this.#lastId++;
  }

  #send(response: Partial<RpcWatchResponse>, revision = this.#store.revision()): void {
    if (this.#over) return;
    const events = response.events?.length ?? 0;
    this.#backlog += events;
    this.#stream.write({ header: headerAt(revision), ...response }, () => {
      this.#backlog -= events;
    });
    if (this.#backlog <= watchBacklogEventsMax) return;
    const failure = { code: status.RESOURCE_EXHAUSTED, details: 'etcdserver: watch stream is read too slowly' };
    this.#finish(() => this.#stream.emit('error', failure));
  }

  #finish(close: () => void): void {
    if (this.#over) return;
    this.#over = true;
    this.#notices?.cancel();
    for (const { watch } of this.#watchers.values()) watch.cancel();
    this.#watchers.clear();
    close();
  }
}
