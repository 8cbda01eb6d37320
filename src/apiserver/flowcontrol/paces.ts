// The shell around `core/pace.ts`: flows that have used more than their share of the thread wait here before their next request.
import { tooManyRequests } from '#apimachinery/errors';
import type { Clock } from '#utils';
import type { Request } from '../request/request.ts';
import { retryAfterSeconds, tooManyText } from '../limits.ts';
import { paceLookMs, paceWaitersMax, paceWaitMaxMs, sentBytesPerMs } from './core/limits.ts';
import { Pace } from './core/pace.ts';

interface Waiter {
  sinceMs: number;
  /** Lets it go on, or fails it. */
  end(failure?: unknown): void;
}

/** Those of one flow who wait, in the order they came, and the timer for the first of them. */
interface Queue {
  waiters: Waiter[];
  timer: { cancel(): void } | undefined;
}

type Called = Pick<Request, 'cancellation'>;

/** Why a request that has been called off is not served. */
function whyNot({ cancellation }: Called): unknown {
  try {
    cancellation.check();
    return cancellation.signal.reason;
  } catch (error) {
    return error;
  }
}

export class Paces {
  readonly #clock: Clock;
  readonly #utilization: () => number;
  readonly #pace = new Pace();
  readonly #queues = new Map<string, Queue>();
  #lookedMs = Number.NEGATIVE_INFINITY;

  /** `utilization`: gives the part of the time since it was last asked in which the thread had work to do, 0 to 1. */
  constructor(clock: Clock, utilization: () => number) {
    this.#clock = clock;
    this.#utilization = utilization;
  }

  /** Enters time, in milliseconds, that the thread has spent on the flow. */
  charge(flow: string, ms: number): void {
    this.#pace.charge(flow, ms, this.#clock.monotonic());
  }

  /** Whether the flow's next request would have to wait. */
  isDelayed(flow: string): boolean {
    return this.#queues.has(flow) || this.#delayMs(flow, this.#clock.monotonic()) > 0;
  }

  /**
   * The flow's request may begin: now (undefined) or when the promise resolves. It throws or rejects with
   * 429 when too many of that flow wait or one has waited for too long, and rejects when the request is over.
   */
  enter(flow: string, request: Called): Promise<void> | undefined {
    if (!this.isDelayed(flow)) {
      this.#pace.began(flow, this.#clock.monotonic());
      return undefined;
    }
    const waiting = this.#queues.get(flow)?.waiters.length ?? 0;
    if (waiting >= paceWaitersMax) throw tooManyRequests(tooManyText, retryAfterSeconds);
    return this.#wait(flow, request);
  }

  /** A request that has entered is over, and answered with so many bytes. */
  leave(flow: string, sentBytes: number): void {
    this.charge(flow, sentBytes / sentBytesPerMs);
    this.#pace.ended(flow);
  }

  #wait(flow: string, request: Called): Promise<void> {
    const queue = this.#queues.get(flow) ?? { waiters: [], timer: undefined };
    this.#queues.set(flow, queue);
    const { signal } = request.cancellation;
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        sinceMs: this.#clock.monotonic(),
        end(failure) {
          signal.removeEventListener('abort', abandon);
          if (failure === undefined) resolve();
          else reject(failure);
        },
      };
      const abandon = (): void => {
        queue.waiters.splice(queue.waiters.indexOf(waiter), 1);
        if (queue.waiters.length === 0) this.#close(flow, queue);
        waiter.end(whyNot(request));
      };
      queue.waiters.push(waiter);
      signal.addEventListener('abort', abandon, { once: true });
      if (signal.aborted) abandon();
      else if (!queue.timer) this.#arm(flow, queue);
    });
  }

  #arm(flow: string, queue: Queue): void {
    // It is looked again from time to time, since others may have stopped asking.
    const delayMs = Math.min(this.#delayMs(flow, this.#clock.monotonic()), paceLookMs);
    queue.timer = this.#clock.setTimer(delayMs, () => this.#letOn(flow, queue));
  }

  /** Lets the first of those who wait go on if it is time, and refuses those who have waited for too long. */
  #letOn(flow: string, { waiters }: Queue): void {
    const nowMs = this.#clock.monotonic();
    if (this.#delayMs(flow, nowMs) === 0) {
      this.#pace.began(flow, nowMs);
      waiters.shift()?.end();
    }
    while (waiters[0] && nowMs - waiters[0].sinceMs > paceWaitMaxMs)
      waiters.shift()?.end(tooManyRequests(tooManyText, retryAfterSeconds));
    const queue = this.#queues.get(flow);
    if (!queue) return;
    if (waiters.length > 0) this.#arm(flow, queue);
    else this.#close(flow, queue);
  }

  #close(flow: string, queue: Queue): void {
    queue.timer?.cancel();
    this.#queues.delete(flow);
  }

  /** Nobody waits for others who are not there. */
  #delayMs(flow: string, nowMs: number): number {
    if (nowMs - this.#lookedMs >= paceLookMs) {
      this.#lookedMs = nowMs;
      this.#pace.adjust(this.#utilization(), nowMs);
    }
    const delayMs = this.#pace.delayMs(flow, nowMs);
    return delayMs > 0 && this.#pace.hasOthers(flow, nowMs) ? delayMs : 0;
  }
}
