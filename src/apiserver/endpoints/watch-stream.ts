// A watch over HTTP: initial objects with drain, then gathered events with one write per flush (design: "Fast by construction", 4), bookmarks,
// an end by timeout, and a bound on what a slow reader may leave unread.
import { expired, type Status } from '#apimachinery/errors';
import type { Clock, Timer } from '#utils';
import type { ResponseHeaders, WireResponse } from '#wire';
import type { CacheEvent, ChangeType } from '../storage/event.ts';
import {
  bookmarkBeforeEndMs,
  bookmarkIntervalMs,
  listChunkBytes,
  watchBacklogBytesMax,
  watchBacklogEventsMax,
  watchCoalesceMs,
  watchPieceBytesMax,
} from '../limits.ts';
import type { WatchStart } from '../registry/generic/watch.ts';
import type { FrameMaker } from './watch-frames.ts';

export interface WatchStreamOptions {
  response: WireResponse;
  headers: ResponseHeaders;
  start: WatchStart;
  frames: FrameMaker;
  bookmarks: boolean;
  timeoutMs: number;
  /** Newest revision that has been delivered to every cache. */
  revision(): number;
  clock: Clock;
  /** Waited for before anything is sent, because one change may go to thousands of watchers. */
  rest(): Promise<void> | undefined;
  /** Called with the bytes of each event. */
  onEvent(bytes: number): void;
  /** Called once, when the stream is over. */
  onEnd(): void;
}

export const initialEventsEnd = { 'k8s.io/initial-events-end': 'true' };

export class WatchStream {
  readonly #options: WatchStreamOptions;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #flushTimer: Timer | undefined;
  #timers: Timer[] = [];
  #unsubscribe: () => void = () => {};
  #stalled = false;
  #live = false;
  #over = false;
  #lastFlushMs = 0;

  constructor(options: WatchStreamOptions) {
    this.#options = options;
  }

  /** Resolves when the initial state was sent; the stream goes on until timeout, client or server end it. */
  async run(): Promise<void> {
    const { response, headers, start, clock, timeoutMs, bookmarks } = this.#options;
    this.#unsubscribe = start.subscribe({
      onEvent: (event, type) => this.#take(event, type),
      onEnd: (failure) => this.#fail(failure ?? expired('too old resource version').status),
    });
    response.head(200, headers);
    response.flushHead();
    this.#timers.push(clock.setTimer(timeoutMs, () => this.end()));
    if (bookmarks) this.#scheduleBookmarks(timeoutMs);
    await this.#sendBeginning();
    if (this.#over) return;
    this.#live = true;
    this.#flush();
  }

  end(): void {
    if (this.#over) return;
    this.#flush(true);
    this.stop();
    this.#options.response.end();
  }

  /** The client is gone, or the stream has ended: lets go of everything. */
  stop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#unsubscribe();
    this.#flushTimer?.cancel();
    for (const timer of this.#timers) timer.cancel();
    this.#waiting = [];
    this.#options.onEnd();
  }

  /** The state, the end of it, and what has changed since. */
  *#beginning(): Generator<Buffer> {
    const { start, frames, onEvent } = this.#options;
    for (const stored of start.initial) {
      const frame = frames.initial(stored);
      onEvent(frame.length);
      yield frame;
    }
    if (start.endMark) yield frames.bookmark(start.revision, initialEventsEnd);
    for (const { event, type } of start.missed) {
      const frame = frames.change(event, type);
      onEvent(frame.length);
      yield frame;
    }
  }

  async #sendBeginning(): Promise<void> {
    const { response, rest } = this.#options;
    let pieces: Buffer[] = [];
    let bytes = 0;
    for (const frame of this.#beginning()) {
      pieces.push(frame);
      bytes += frame.length;
      if (bytes < listChunkBytes) continue;
      const pause = rest();
      if (pause) await pause;
      if (this.#over || response.destroyed) return;
      if (!response.write(Buffer.concat(pieces, bytes))) await response.drain();
      pieces = [];
      bytes = 0;
    }
    if (bytes > 0 && !this.#over) response.write(Buffer.concat(pieces, bytes));
  }

  #take(event: CacheEvent, type: ChangeType): void {
    if (this.#over) return;
    const frame = this.#options.frames.change(event, type);
    this.#options.onEvent(frame.length);
    this.#push(frame);
    if (this.#live) this.#scheduleFlush();
  }

  #push(frame: Buffer): void {
    this.#waiting.push(frame);
    this.#waitingBytes += frame.length;
    if (this.#waitingBytes > watchBacklogBytesMax || (this.#stalled && this.#waiting.length > watchBacklogEventsMax))
      this.#drop();
  }

  /** A reader that does not read: cut off, it lists again (design: "Slow consumers are bounded"). */
  #drop(): void {
    this.stop();
    this.#options.response.destroy();
  }

  /** Sends at once after a quiet time, and otherwise gathers events for a moment. */
  #scheduleFlush(): void {
    if (this.#flushTimer || this.#stalled) return;
    const { clock, rest } = this.#options;
    const quiet = clock.monotonic() - this.#lastFlushMs > 2 * watchCoalesceMs;
    const flush = (): void => {
      this.#flushTimer = undefined;
      this.#flush();
    };
    this.#flushTimer = clock.setTimer(quiet ? 0 : watchCoalesceMs, () => {
      const pause = rest();
      if (pause) void pause.then(flush);
      else flush();
    });
  }

  /** Sends what waits, as far as the client takes it; `last`: all of it, because the stream ends. */
  #flush(last = false): void {
    if (this.#over || this.#stalled || this.#waiting.length === 0) return;
    const { response, clock } = this.#options;
    this.#lastFlushMs = clock.monotonic();
    let taken = true;
    while (this.#waiting.length > 0 && (taken || last)) taken = response.write(this.#nextPiece());
    if (taken || last) return;
    if (response.destroyed) return this.stop();
    this.#stalled = true;
    void this.#flushDrained();
  }

  async #flushDrained(): Promise<void> {
    const { response, rest } = this.#options;
    await response.drain();
    this.#stalled = false;
    if (response.destroyed) return this.stop();
    await rest();
    this.#flush();
  }

  /** Small events go out together. A large one is sent as it is: all who watch share its bytes, and a copy for each would be megabytes. */
  #nextPiece(): Buffer {
    let count = 0;
    let bytes = 0;
    for (const frame of this.#waiting) {
      if (count > 0 && bytes + frame.length > watchPieceBytesMax) break;
      count++;
      bytes += frame.length;
    }
    const frames = this.#waiting.splice(0, count);
    this.#waitingBytes -= bytes;
    return count === 1 ? (frames[0] as Buffer) : Buffer.concat(frames, bytes);
  }

  #scheduleBookmarks(timeoutMs: number): void {
    const { clock, frames, revision, start } = this.#options;
    const send = (): void => {
      if (!this.#live || this.#over) return;
      this.#push(frames.bookmark(start.reached?.(revision()) ?? revision()));
      this.#flush();
    };
    const every = (): void => {
      send();
      this.#timers.push(clock.setTimer(bookmarkIntervalMs, every));
    };
    this.#timers.push(clock.setTimer(bookmarkIntervalMs, every));
    if (timeoutMs > bookmarkBeforeEndMs) this.#timers.push(clock.setTimer(timeoutMs - bookmarkBeforeEndMs, send));
  }

  #fail(status: Status): void {
    if (this.#over) return;
    this.#push(this.#options.frames.error(status));
    this.#stalled = false;
    this.end();
  }
}
