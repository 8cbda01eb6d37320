// Where failures of the API happen: around every request of every way into a test cluster's apiserver.
import { AsyncLocalStorage } from 'node:async_hooks';
import { NoAnswerError } from '#apiserver';
import type { RequestGate } from '#apiserver/app';
import type { KubeObject } from '#apimachinery/meta';
import type { ApiCall, Transport, WatchCall, WatchStream } from '#apimachinery/transport';
import type { Clock } from '#utils';
import type { WireResponse } from '#wire';
import {
  type ApiFaultFilter,
  type ApiFaultRule,
  type AskedOfApi,
  type Effects,
  FaultRules,
  type InjectedFault,
  meets,
} from './api-faults.ts';

export interface ApiFaults {
  /** From now on. Throws a RangeError for a rule that makes no sense. */
  inject(rule: ApiFaultRule): InjectedFault;
  /** Nothing fails any more. */
  clear(): void;
  /** Breaks off running watches, as a restart of the server does; default: all but those of the cluster's own components. Gives their number. */
  dropWatches(filter?: ApiFaultFilter): number;
}

interface Slot {
  gate: ApiGate;
  /** Absent: a call in memory. */
  response?: WireResponse;
  effects?: Effects;
}
interface OpenWatch {
  asked: AskedOfApi;
  drop(): void;
  isOver(): boolean;
}

/** One for all gates: Node 20 makes every promise dearer by each storage that was ever used. */
const slots = new AsyncLocalStorage<Slot>();

const lost = (): Error => new Error('connection reset by peer');
const cut = (): Error => new NoAnswerError('connection refused');

export class ApiGate implements RequestGate, ApiFaults {
  readonly #clock: Clock;
  readonly #rules: FaultRules;
  readonly #watches = new Set<OpenWatch>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#rules = new FaultRules(clock);
  }
  inject(rule: ApiFaultRule): InjectedFault {
    return this.#rules.add(rule);
  }
  clear(): void {
    this.#rules.clear();
  }
  dropWatches(filter: ApiFaultFilter = {}): number {
    const met = [...this.#watches].filter((watch) => !watch.isOver() && meets(filter, watch.asked));
    for (const { drop } of met) drop();
    return met.length;
  }

  async before(asked: AskedOfApi): Promise<void> {
    const slot = slots.getStore();
    if (slot?.gate !== this) return;
    const { response } = slot;
    // Already judged: other questions of the same request.
    if (slot.effects) return;
    slot.effects = { outage: false, loseAnswer: false, dropAfterMs: undefined };
    const effects = await this.#rules.judge(asked);
    slot.effects = effects;
    if (effects.outage) {
      response?.destroy();
      throw cut();
    }
    if (!response) return;
    if (effects.loseAnswer) {
      const destroy = (): void => response.destroy();
      Object.assign(response, { head: destroy, send: destroy });
    }
    if (asked.verb === 'watch')
      this.#keep({ asked, drop: () => response.destroy(), isOver: () => response.destroyed }, effects.dropAfterMs);
  }
  connection(response: WireResponse, path: string, serve: () => Promise<void>): Promise<void> {
    if (this.#rules.empty && !/[?&]watch=|\/watch\//.test(path)) return serve();
    return slots.run({ gate: this, response }, serve);
  }
  transport(inner: Transport, user: { name: string }): Transport {
    return {
      call: (call, signal) => this.#call(inner, call, signal),
      watch: (call, signal) => this.#watch(inner, user, call, signal),
      raw: (...request) => (this.#rules.empty ? inner.raw(...request) : this.#losing(() => inner.raw(...request))),
      close: () => inner.close(),
    };
  }

  #call<T>(inner: Transport, call: ApiCall, signal?: AbortSignal): Promise<T> {
    return this.#rules.empty ? inner.call<T>(call, signal) : this.#losing(() => inner.call<T>(call, signal));
  }
  async #losing<T>(work: () => Promise<T>): Promise<T> {
    const slot: Slot = { gate: this };
    const answer = await slots.run(slot, work);
    if (slot.effects?.outage) throw cut();
    if (slot.effects?.loseAnswer) throw lost();
    return answer;
  }
  async #watch<T extends KubeObject>(
    inner: Transport,
    user: { name: string },
    call: WatchCall,
    signal?: AbortSignal,
  ): Promise<WatchStream<T>> {
    const slot: Slot = { gate: this };
    const open = (): Promise<WatchStream<T>> => inner.watch<T>(call, signal);
    const stream = await (this.#rules.empty ? open() : slots.run(slot, open));
    const { group, resource, namespace = '' } = call;
    const asked = { user, verb: 'watch', target: { group, resource, subresource: '', namespace, name: '' } };
    let over = false;
    let end: ((error?: Error) => void) | undefined;
    const finish = (error?: Error): void => {
      if (over) return;
      over = true;
      this.#watches.delete(watch);
      end?.(error);
    };
    const drop = (): void => {
      finish(lost());
      stream.stop();
    };
    const watch: OpenWatch = { asked, drop, isOver: () => over };
    this.#keep(watch, slot.effects?.dropAfterMs);
    return {
      stop: () => stream.stop(),
      subscribe(handler, ended) {
        if (over) return ended(lost());
        end = ended;
        stream.subscribe((event) => {
          if (!over) handler(event);
        }, finish);
      },
    };
  }
  #keep(watch: OpenWatch, dropAfterMs: number | undefined): void {
    for (const other of this.#watches) if (other.isOver()) this.#watches.delete(other);
    this.#watches.add(watch);
    if (dropAfterMs !== undefined) this.#clock.setTimer(dropAfterMs, () => (watch.isOver() ? undefined : watch.drop()));
  }
}
