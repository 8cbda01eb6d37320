// A watch on a remote etcd that outlives its connection: each one has a stream of its own, knows the next revision it wants, and
// begins there again on another member when the stream breaks.
import type { ClientDuplexStream } from '@grpc/grpc-js';
import type { Clock, Logger } from '#utils';
import { ClosedError, CompactedError, StoreError } from '../errors.ts';
import { reconnectDelayMsMax, reconnectDelayMsMin } from '../limits.ts';
import type { RpcWatchCreate, RpcWatchRequest, RpcWatchResponse } from '../rpc/messages.ts';
import type { StoreWatch, WatchRequest } from '../types.ts';
import { fromRpcEvent, rangeEndField } from './convert.ts';
import type { Endpoints } from './endpoints.ts';

export interface EtcdWatchOptions {
  request: WatchRequest;
  endpoints: Endpoints;
  clock: Clock;
  logger: Logger;
  /** Hears of every revision that an answer mentions. */
  seen(revision: number): void;
  compacted(revision: number): void;
  /** The watch is over or cancelled. */
  over(watch: EtcdWatch): void;
}

type Stream = ClientDuplexStream<{ createRequest: Partial<RpcWatchCreate> } | RpcWatchRequest, RpcWatchResponse>;

export class EtcdWatch implements StoreWatch {
  readonly #options: EtcdWatchOptions;
  #stream: Stream | undefined;
  /** First revision not yet delivered; 0 until the member has said where "now" is. */
  #next: number;
  #created = false;
  #progressWanted = false;
  #over = false;
  #delayMs = reconnectDelayMsMin;

  constructor(options: EtcdWatchOptions) {
    this.#options = options;
    this.#next = options.request.startRevision ?? 0;
    this.#connect();
  }

  progress(): void {
    this.#progressWanted = true;
    // On a connection that is being made the request follows once the watch exists.
    if (this.#created) this.#stream?.write({ progressRequest: {} });
  }

  cancel(): void {
    this.#finish();
  }

  /** Ends the watch and says why. */
  end(error: Error): void {
    if (this.#over) return;
    this.#finish();
    this.#guard(() => this.#options.request.onEnd(error));
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.#drop();
    this.#options.over(this);
  }

  #drop(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    this.#created = false;
    stream?.cancel();
  }

  #connect(): void {
    const { endpoints, request } = this.#options;
    const { stream, member } = endpoints.stream<{ createRequest: Partial<RpcWatchCreate> } | RpcWatchRequest, RpcWatchResponse>(
      'Watch',
      'Watch',
    );
    this.#stream = stream;
    stream.on('data', (response) => {
      if (this.#stream === stream) this.#receive(response);
    });
    const broken = (error?: Error): void => {
      if (this.#stream === stream) this.#reconnect(member, error);
    };
    stream.on('error', broken);
    stream.on('end', () => broken());
    stream.write({
      createRequest: {
        key: Buffer.from(request.key),
        ...rangeEndField(request.rangeEnd),
        startRevision: this.#next,
        prevKv: request.prevKv ?? false,
      },
    });
  }

  #reconnect(member: number, error: Error | undefined): void {
    const { endpoints, clock, logger, request } = this.#options;
    this.#drop();
    endpoints.moveOn(member);
    logger.debug('Watch connection lost', { key: request.key, revision: this.#next, err: error });
    const delayMs = this.#delayMs;
    this.#delayMs = Math.min(delayMs * 2, reconnectDelayMsMax);
    clock.setTimer(delayMs, () => {
      if (!this.#over) this.#guard(() => this.#connect());
    });
  }

  #receive(response: RpcWatchResponse): void {
    const { seen, compacted } = this.#options;
    const revision = response.header?.revision ?? 0;
    seen(revision);
    if (response.compactRevision > 0) {
      compacted(response.compactRevision);
      this.end(new CompactedError(response.compactRevision));
    } else if (response.canceled) {
      this.#cancelled(response.cancelReason);
    } else if (response.created) {
      this.#delayMs = reconnectDelayMsMin;
      this.#created = true;
      if (this.#next === 0) this.#next = revision + 1;
      if (this.#progressWanted) this.progress();
    } else this.#deliver(response, revision);
  }

  #deliver({ events }: RpcWatchResponse, revision: number): void {
    const last = events[events.length - 1];
    if (!last) {
      // The answer to a progress request (or a notice nobody asked for): everything up to `revision` has been delivered.
      this.#progressWanted = false;
      if (revision + 1 < this.#next) return;
      this.#next = revision + 1;
      this.#guard(() => this.#options.request.onEvents([], revision));
      return;
    }
    const fresh = events.filter(({ kv }) => kv.modRevision >= this.#next).map(fromRpcEvent);
    this.#next = last.kv.modRevision + 1;
    if (fresh.length > 0) this.#guard(() => this.#options.request.onEvents(fresh, last.kv.modRevision));
  }

  #cancelled(reason: string): void {
    const stream = this.#stream;
    if (/no leader|server stopped/.test(reason) || reason === '') stream?.emit('end');
    else this.end(new StoreError(reason));
  }

  #guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#options.logger.error('Watch callback failed', { err: error, key: this.#options.request.key });
      this.#finish();
    }
  }
}

export const closedWatch = (request: WatchRequest): StoreWatch => {
  queueMicrotask(() => request.onEnd(new ClosedError('store is closed')));
  return { progress() {}, cancel() {} };
};
