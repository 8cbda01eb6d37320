// API Priority and Fairness: who is served when there is more to do than can be done at once (KEP-1040;
// https://kubernetes.io/docs/concepts/cluster-administration/flow-control/). The core decides; this is its shell with clock, metrics and answers.
import type { FlowSchema, PriorityLevelConfiguration } from '#api/flowcontrol/v1';
import { type StatusError, tooManyRequests } from '#apimachinery/errors';
import type { Metrics } from '#component-base';
import type { Clock } from '#utils';
import { tooManyText } from '../limits.ts';
import type { Request, RequestData } from '../request/request.ts';
import { dumpLevels, dumpQueues, dumpRequests } from './core/dump.ts';
import { estimate, type Facts } from './core/estimate.ts';
import { type Configuration, type Level, Levels } from './core/levels.ts';
import { borrowingPeriodMs, starvedMs } from './core/limits.ts';
import { distinguisherOf } from './core/matching.ts';
import { type Refusal, Ticket } from './core/queue-set.ts';
import { type FlowMetrics, flowMetrics } from './metrics.ts';

export { Paces } from './paces.ts';
export type { Facts, ResourceStats } from './core/estimate.ts';

export interface FairSeatsOptions {
  clock: Clock;
  metrics: Metrics;
  /** Seats of the server: --max-requests-inflight and --max-mutating-requests-inflight. */
  total: number;
  /** Levels and schemas that are there whatever the configuration holds. */
  mandatory: Configuration;
  facts: Facts;
  /** How long a request may wait for its seats: a quarter of --request-timeout. */
  waitMs: number;
}

type Leave = () => void;

const readOnly = new Set(['get', 'list', 'watch']);
const longestWaitMs = 60_000;

export class FairSeats {
  readonly #options: FairSeatsOptions;
  readonly #levels: Levels;
  readonly #metrics: FlowMetrics;
  #timer: { cancel(): void } | undefined;

  constructor(options: FairSeatsOptions) {
    const { clock, metrics, mandatory, total } = options;
    this.#options = options;
    this.#levels = new Levels(mandatory, total, clock.monotonic());
    this.#metrics = flowMetrics(metrics, this.#levels);
  }

  configure(schemas: readonly FlowSchema[], levels: readonly PriorityLevelConfiguration[]): void {
    this.#levels.configure({ schemas, levels }, this.#options.clock.monotonic());
  }

  /** Gives seats at once or when there are some; throws or rejects with 429. */
  take(request: Request): Leave | Promise<Leave> {
    const { schema, level } = this.#find(request);
    if (!schema || !level) throw tooManyRequests(tooManyText, 1);
    const name = schema.metadata.name ?? '';
    request.notes.flow = { schema: schema.metadata.uid ?? '', level: level.uid };
    const { clock, facts } = this.#options;
    const nowMs = clock.monotonic();
    const work = estimate(request, facts, level.seatsMax);
    const ticket = new Ticket(work, { schema: name, flow: `${name}/${distinguisherOf(schema, request)}`, nowMs, about: request });
    this.#adjustLater();
    const refusal = level.queues.enter(ticket, nowMs);
    if (refusal) throw this.#refuse(level, name, refusal);
    return ticket.state === 'executing' ? this.#seated(level, ticket) : this.#wait(level, ticket, request);
  }

  /** Whether the request is of a level that is exempt from all of this, as those to health endpoints are. */
  exempts(request: Request): boolean {
    return this.#find(request).level?.exempt ?? false;
  }

  dump(what: 'levels' | 'queues' | 'requests', details: boolean): string {
    const { clock } = this.#options;
    if (what === 'levels') return dumpLevels(this.#levels);
    return what === 'queues' ? dumpQueues(this.#levels) : dumpRequests(this.#levels, details, clock.now() - clock.monotonic());
  }

  close(): void {
    this.#timer?.cancel();
  }

  #find(request: Request): { schema: FlowSchema | undefined; level: Level | undefined } {
    const { matcher, all } = this.#levels;
    const schema = matcher.find(request);
    return { schema, level: schema && all.get(schema.spec?.priorityLevelConfiguration.name ?? '') };
  }

  #seated(level: Level, ticket: Ticket): Leave {
    const { clock } = this.#options;
    const { name } = level;
    const { schema, work } = ticket;
    this.#metrics.dispatched(name, schema, (ticket.startedMs - ticket.arrivedMs) / 1000, ticket.width);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const nowMs = clock.monotonic();
      const { verb } = ticket.about as RequestData;
      this.#metrics.executed(name, schema, readOnly.has(verb) ? verb : 'mutating', (nowMs - ticket.startedMs) / 1000);
      if (work.finalMs > 0) clock.setTimer(work.finalMs, () => level.queues.leave(ticket, clock.monotonic()));
      else level.queues.leave(ticket, nowMs);
    };
  }

  #wait(level: Level, ticket: Ticket, request: Request): Promise<Leave> {
    const { clock, waitMs } = this.#options;
    return new Promise((resolve, reject) => {
      const giveUp = (why: 'time-out' | 'cancelled'): void => {
        if (ticket.state !== 'waiting') return;
        level.queues.giveUp(ticket, why, clock.monotonic());
        timer.cancel();
        relief.cancel();
        reject(this.#refuse(level, ticket.schema, why));
      };
      const timer = clock.setTimer(Math.min(waitMs, longestWaitMs), () => giveUp('time-out'));
      const relief = clock.setTimer(starvedMs * 1.1, () => level.queues.relieve(clock.monotonic()));
      const { signal } = request.cancellation;
      const onAbort = (): void => giveUp('cancelled');
      signal.addEventListener('abort', onAbort, { once: true });
      ticket.onDispatch = () => {
        timer.cancel();
        relief.cancel();
        signal.removeEventListener('abort', onAbort);
        resolve(this.#seated(level, ticket));
      };
      if (signal.aborted) giveUp('cancelled');
    });
  }

  #refuse(level: Level, schema: string, why: Refusal): StatusError {
    this.#metrics.refused(level.name, schema, why);
    level.retryAfter.refused(this.#options.clock.monotonic());
    return tooManyRequests(tooManyText, level.retryAfter.seconds);
  }

  /** Seats move while there are requests; a server that nobody asks has nothing to adjust. */
  #adjustLater(): void {
    if (this.#timer) return;
    const { clock } = this.#options;
    this.#timer = clock.setTimer(borrowingPeriodMs, () => {
      this.#timer = undefined;
      this.#levels.adjust(clock.monotonic());
      if (this.#levels.busy) this.#adjustLater();
    });
  }
}
