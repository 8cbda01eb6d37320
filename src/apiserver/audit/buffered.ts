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

  /** Takes one; how long to wait where there is none yet. */
  takeMs(): number {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#lastMs) * this.#perMs);
    this.#lastMs = now;
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }
}

export function bufferedSink(inner: AuditSink, options: BatchOptions, clock: Clock, lost: LossReport): AuditSink {
  const throttle = options.throttle && new Throttle(options.throttle, clock);
  const onTheWay = new Set<Promise<unknown>>();
  let waiting: RecordedEvent[] = [];
  let bytes = 0;
  let oldest: Timer | undefined;
  let closing = false;
  let running: Promise<void> | undefined;
  let due = false;

  const send = async (): Promise<void> => {
    const batch = waiting.splice(0, options.batchEventsMax);
    const waitMs = throttle?.takeMs() ?? 0;
    if (waitMs > 0) await clock.sleep(waitMs);
    const sent = Promise.resolve(inner.process(batch)).finally(() => {
      for (const { json } of batch) bytes -= json.length;
      onTheWay.delete(sent);
    });
    onTheWay.add(sent);
    if (!options.concurrent) await sent;
  };
  const run = async (): Promise<void> => {
    // Not in the turn of the request that brought the event.
    await Promise.resolve();
    while (waiting.length > 0 && (due || closing || waiting.length >= options.batchEventsMax)) {
      await send();
      due = due && waiting.length > 0;
    }
    due = false;
  };
  const start = (): void => {
    oldest?.cancel();
    oldest = undefined;
    running ??= run().finally(() => {
      running = undefined;
      if (waiting.length > 0) schedule();
    });
  };
  const schedule = (): void => {
    if (closing || waiting.length >= options.batchEventsMax) return start();
    oldest ??= clock.setTimer(options.batchWaitMs, () => {
      due = true;
      start();
    });
  };
  return {
    process(events) {
      if (closing) {
        lost('buffered', 'audit backend shut down', events);
        return true;
      }
      const dropped: RecordedEvent[] = [];
      for (const event of events) {
        if (waiting.length >= options.bufferEventsMax || bytes >= bufferBytesMax) dropped.push(event);
        else {
          waiting.push(event);
          bytes += event.json.length;
        }
      }
      if (dropped.length > 0) lost('buffered', 'audit buffer queue blocked', dropped);
      if (!running) schedule();
      return true;
    },
    async close() {
      closing = true;
      while (waiting.length > 0 || running) {
        start();
        await running;
      }
      while (onTheWay.size > 0) await Promise.allSettled(onTheWay);
      await inner.close();
    },
  };
}
