// `--audit-*-mode=batch`: requests hand events over and go on; batches leave when they are full or old enough, no more often than the throttle
// allows (k8s.io/apiserver/plugin/pkg/audit/buffered). What does not fit the buffer is dropped, and said.
import type { Clock, Timer } from '#utils';
import type { RecordedEvent } from './core/record.ts';
import { bufferBytesMax } from './limits.ts';
import type { AuditSink, LossReport } from './sink.ts';

export interface BatchOptions {
  bufferEventsMax: number;
  batchEventsMax: number;
  /** Only for batches of more than one event. */
  batchWaitMs: number;
  throttle?: { perSecond: number; burst: number };
  /** Whether a batch may leave while another is on its way. */
  concurrent: boolean;
}

/** Tokens that come back with time. */
class Throttle {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #clock: Clock;
  #tokens: number;
  #lastMs: number;

  constructor({ perSecond, burst }: { perSecond: number; burst: number }, clock: Clock) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#clock = clock;
    this.#tokens = burst;
    this.#lastMs = clock.monotonic();
  }

  /** Takes a token. Answers how long the caller is to wait for it, in milliseconds: 0 where there was one. */
  takeMs(): number {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#lastMs) * this.#perMs);
    this.#lastMs = now;
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }
}

/** A sink that hands events on in batches, after the requests that brought them. Events that do not fit are lost, which is reported. */
export const bufferedSink = (inner: AuditSink, options: BatchOptions, clock: Clock, lost: LossReport): AuditSink =>
  new BufferedSink(inner, options, clock, lost);

class BufferedSink implements AuditSink {
  readonly #inner: AuditSink;
  readonly #options: BatchOptions;
  readonly #clock: Clock;
  readonly #lost: LossReport;
  readonly #throttle: Throttle | undefined;
  readonly #onTheWay = new Set<Promise<unknown>>();
  readonly #waiting: RecordedEvent[] = [];
  #bytes = 0;
  #oldest: Timer | undefined;
  #closing = false;
  #running: Promise<void> | undefined;
  /** The oldest event has waited long enough. */
  #due = false;

  constructor(inner: AuditSink, options: BatchOptions, clock: Clock, lost: LossReport) {
    this.#inner = inner;
    this.#options = options;
    this.#clock = clock;
    this.#lost = lost;
    this.#throttle = options.throttle && new Throttle(options.throttle, clock);
  }

  process(events: readonly RecordedEvent[]): boolean {
    if (this.#closing) {
      this.#lost('buffered', 'audit backend shut down', events);
      return true;
    }
    const dropped: RecordedEvent[] = [];
    for (const event of events) {
      if (this.#waiting.length >= this.#options.bufferEventsMax || this.#bytes >= bufferBytesMax) dropped.push(event);
      else {
        this.#waiting.push(event);
        this.#bytes += event.json.length;
      }
    }
    if (dropped.length > 0) this.#lost('buffered', 'audit buffer queue blocked', dropped);
    if (!this.#running) this.#schedule();
    return true;
  }

  async close(): Promise<void> {
    this.#closing = true;
    while (this.#waiting.length > 0 || this.#running) {
      this.#start();
      await this.#running;
    }
    while (this.#onTheWay.size > 0) await Promise.allSettled(this.#onTheWay);
    await this.#inner.close();
  }

  #schedule(): void {
    if (this.#closing || this.#waiting.length >= this.#options.batchEventsMax) return this.#start();
    this.#oldest ??= this.#clock.setTimer(this.#options.batchWaitMs, () => {
      this.#due = true;
      this.#start();
    });
  }
  #start(): void {
    this.#oldest?.cancel();
    this.#oldest = undefined;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#waiting.length > 0) this.#schedule();
    });
  }
  async #run(): Promise<void> {
    // Not in the turn of the request that brought the event.
    await Promise.resolve();
    const isFull = (): boolean => this.#waiting.length >= this.#options.batchEventsMax;
    while (this.#waiting.length > 0 && (this.#due || this.#closing || isFull())) {
      await this.#send();
      this.#due = this.#due && this.#waiting.length > 0;
    }
    this.#due = false;
  }
  async #send(): Promise<void> {
    const batch = this.#waiting.splice(0, this.#options.batchEventsMax);
    const waitMs = this.#throttle?.takeMs() ?? 0;
    if (waitMs > 0) await this.#clock.sleep(waitMs);
    const sent = Promise.resolve(this.#inner.process(batch)).finally(() => {
      for (const { json } of batch) this.#bytes -= json.length;
      this.#onTheWay.delete(sent);
    });
    this.#onTheWay.add(sent);
    if (!this.#options.concurrent) await sent;
  }
}
