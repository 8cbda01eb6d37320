// A watch on a remote etcd that outlives its connection: each one has a stream of its own, knows the next revision it wants, and
// begins there again on another member when the stream breaks.
// Members before 3.4.31 and 3.5.13 answer a progress request before events that are still on their way (etcd issues 15220 and 17507).
// There the whole key space is watched, so that every revision shows itself, and progress is that of the events alone.
import type { ClientDuplexStream } from '@grpc/grpc-js';
import type { Clock, Logger, Timer } from '#utils';
import { ClosedError, CompactedError, StoreError } from '../errors.ts';
import { keyMatcher, orderOf } from '../keys.ts';
import { complaintMs, progressRetryMs, reconnectDelayMsMax, reconnectDelayMsMin } from '../limits.ts';
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
  /** The cluster's revision now, asked of the members. */
  current(): Promise<number>;
  /** The watch is over or cancelled. */
  over(watch: EtcdWatch): void;
}

/** Key and end of the range of all keys. */
const everything = { key: Buffer.from('\0'), rangeEnd: Buffer.from('\0') };

type Stream = ClientDuplexStream<{ createRequest: Partial<RpcWatchCreate> } | RpcWatchRequest, RpcWatchResponse>;

export class EtcdWatch implements StoreWatch {
  readonly #options: EtcdWatchOptions;
  readonly #matches: (key: string, order: string) => boolean;
  #stream: Stream | undefined;
  /** First revision not yet delivered; 0 until the member has said where "now" is. */
  #next: number;
  #created = false;
  /** Whether the member in use answers requests for progress in their place among the events. */
  #exact = false;
  #progressWanted = false;
  #progressTimer: Timer | undefined;
  /** The events of this revision answer the request for progress; 0: none is known. */
  #awaited = 0;
  #over = false;
  #delayMs = reconnectDelayMsMin;
  /** No member answers; since when that was said last. */
  #lost = false;
  #complainedMs = 0;

  constructor(options: EtcdWatchOptions) {
    this.#options = options;
    this.#matches = keyMatcher(options.request.key, options.request.rangeEnd);
    this.#next = options.request.startRevision ?? 0;
    this.#connect();
  }

  progress(): void {
    this.#progressWanted = true;
    // On a connection that is being made the request follows once the watch exists.
    if (!this.#created || this.#over) return;
    if (this.#exact) this.#stream?.write({ progressRequest: {} });
    else void this.#askRevision();
    // A member drops the request while the watch lags behind.
    this.#progressTimer ??= this.#options.clock.setTimer(progressRetryMs, () => {
      this.#progressTimer = undefined;
      if (this.#progressWanted) this.progress();
    });
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
    this.#progressTimer?.cancel();
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
    this.#exact = endpoints.hasExactProgress(member);
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
        ...(this.#exact ? { key: Buffer.from(request.key), ...rangeEndField(request.rangeEnd) } : everything),
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
    this.#complain(error);
    const delayMs = this.#delayMs;
    this.#delayMs = Math.min(delayMs * 2, reconnectDelayMsMax);
    clock.setTimer(delayMs, () => void this.#resume());
  }

  /** Once at the first loss and then now and again, as long as no member answers. */
  #complain(error: Error | undefined): void {
    const { clock, logger, endpoints } = this.#options;
    const now = clock.monotonic();
    if (this.#lost && now - this.#complainedMs < complaintMs) return;
    this.#lost = true;
    this.#complainedMs = now;
    const { details = error?.message ?? 'the connection has ended' } = (error ?? {}) as { details?: string };
    logger.warn('etcd does not answer, or its members have no leader', { servers: endpoints.names, err: details });
  }

  /** The member may have come back as another version. */
  async #resume(): Promise<void> {
    if (!this.#over) await this.#options.endpoints.learnVersion();
    if (!this.#over) this.#guard(() => this.#connect());
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
      if (this.#lost) this.#options.logger.info('etcd answers again', { servers: this.#options.endpoints.names });
      this.#lost = false;
      this.#created = true;
      if (this.#next === 0) this.#next = revision + 1;
      if (this.#progressWanted) this.progress();
    } else this.#deliver(response, revision);
  }

  #deliver({ events }: RpcWatchResponse, revision: number): void {
    const last = events[events.length - 1];
    if (!last) {
      // The answer to a progress request (or a notice nobody asked for): everything up to `revision` has been delivered.
      if (this.#exact && revision + 1 >= this.#next) this.#progressed(revision);
      return;
    }
    const reached = last.kv.modRevision;
    const fresh = events.filter(({ kv }) => kv.modRevision >= this.#next).map(fromRpcEvent);
    const wanted = this.#exact ? fresh : fresh.filter(({ kv }) => this.#matches(kv.key, orderOf(kv.key)));
    this.#next = Math.max(this.#next, reached + 1);
    if (this.#awaited > 0 && reached >= this.#awaited) this.#progressWanted = false;
    if (wanted.length > 0 || !this.#exact) this.#guard(() => this.#options.request.onEvents(wanted, reached));
  }

  /** Everything up to `revision` has been delivered. */
  #progressed(revision: number): void {
    this.#progressWanted = false;
    this.#awaited = 0;
    this.#next = revision + 1;
    this.#guard(() => this.#options.request.onEvents([], revision));
  }

  /** Where events alone tell how far the watch has come: behind the cluster's revision they are still to come, and will tell. */
  async #askRevision(): Promise<void> {
    try {
      const revision = await this.#options.current();
      if (this.#over) return;
      if (this.#next > revision) this.#progressed(this.#next - 1);
      else this.#awaited = Math.max(this.#awaited, revision);
    } catch (error) {
      this.#options.logger.debug('Revision not learned', { err: error });
    }
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
      // Whoever watches must learn that nothing follows.
      if (!this.#over) this.end(new StoreError('watch callback failed', { cause: error }));
    }
  }
}

export const closedWatch = (request: WatchRequest): StoreWatch => {
  queueMicrotask(() => request.onEnd(new ClosedError('store is closed')));
  return { progress() {}, cancel() {} };
};
