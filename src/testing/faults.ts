// Faults between a component and its apiserver, drawn from a seed: what crowded, restarted and half-reachable servers do to clients.
// Put around any transport; a component that survives them does not depend on the order or freshness of what it sees.
import { conflict, expired, internalError, modifiedMessage, tooManyRequests } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import type { ApiCall, Transport, WatchCall, WatchStream } from '#apimachinery/transport';
import type { WatchEvent } from '#apimachinery/watch';
import type { Clock, Rng } from '#utils';

/** How often (0 to 1) and how badly requests go wrong. */
export interface FaultRates {
  /** Updates and patches answered 409, without effect. */
  conflict: number;
  /** Requests answered 500, without effect. */
  serverError: number;
  /** Requests answered 429, without effect. */
  throttle: number;
  /** Writes that are carried out but whose answer never comes. */
  lostAnswer: number;
  /** Watches refused as too old (410): the client has to list again. */
  expiredWatch: number;
  /** The longest a watch lives, in milliseconds, before it ends with an error; each gets a random part of it. 0: without end. */
  watchLifeMs: number;
  /** The longest an answer takes, in milliseconds; each a random part of it. */
  latencyMs: number;
  /** The longest a watch event is late, in milliseconds; their order stays. */
  watchLagMs: number;
}

export const noApiFaults: Readonly<FaultRates> = {
  conflict: 0,
  serverError: 0,
  throttle: 0,
  lostAnswer: 0,
  expiredWatch: 0,
  watchLifeMs: 0,
  latencyMs: 0,
  watchLagMs: 0,
};

export interface FaultInjector {
  /** May be changed at any time; running watches keep the life they were given, late events still come. */
  rates: Readonly<FaultRates>;
  /** Faults that happened, by kind. */
  readonly counts: Readonly<Record<string, number>>;
  /** The transport with these faults. */
  wrap(inner: Transport): Transport;
  /** Ends all watches that run through it, as a restart of the server does. */
  dropWatches(): void;
}

const lost = (): Error => new Error('connection reset by peer');

class Injector implements FaultInjector {
  rates: Readonly<FaultRates>;
  readonly counts: Record<string, number> = {};
  readonly #clock: Clock;
  readonly #rng: Rng;
  readonly #drops = new Set<() => void>();

  constructor(clock: Clock, rng: Rng, rates: Readonly<FaultRates>) {
    this.#clock = clock;
    this.#rng = rng;
    this.rates = rates;
  }
  wrap(inner: Transport): Transport {
    return {
      call: (call, signal) => this.#call(inner, call, signal),
      watch: (call, signal) => this.#watch(inner, call, signal),
      raw: async (...request) => {
        await this.#before(request[0] !== 'GET', request[3]);
        return inner.raw(...request);
      },
      close: () => inner.close(),
    };
  }
  dropWatches(): void {
    for (const drop of [...this.#drops]) drop();
  }
  #happens(kind: 'conflict' | 'serverError' | 'throttle' | 'lostAnswer' | 'expiredWatch'): boolean {
    if (this.rates[kind] === 0 || this.#rng.next() >= this.rates[kind]) return false;
    this.#count(kind);
    return true;
  }
  #count(kind: string): void {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
  }
  /** Whole milliseconds: fractions would be lost in the sum with the time of day. */
  #within(limitMs: number): number {
    return limitMs > 0 ? this.#rng.int(limitMs + 1) : 0;
  }
  async #delay(signal?: AbortSignal): Promise<void> {
    if (this.rates.latencyMs > 0) await this.#clock.sleep(this.#within(this.rates.latencyMs), signal);
  }
  /** What happens to a call on its way to the server. */
  async #before(isWrite: boolean, signal?: AbortSignal): Promise<void> {
    await this.#delay(signal);
    if (this.#happens('serverError')) throw internalError('injected fault');
    if (isWrite && this.#happens('throttle')) throw tooManyRequests('injected fault', 1);
  }
  async #call<T>(inner: Transport, call: ApiCall, signal?: AbortSignal): Promise<T> {
    const { verb, group, resource, name = '' } = call;
    const isWrite = verb !== 'get' && verb !== 'list';
    await this.#before(isWrite, signal);
    const mayConflict = verb === 'update' || verb === 'patch';
    if (mayConflict && this.#happens('conflict')) throw conflict({ group, resource }, name, modifiedMessage);
    const answer = await inner.call<T>(call, signal);
    if (isWrite && this.#happens('lostAnswer')) throw lost();
    return answer;
  }
  async #watch<T extends KubeObject>(inner: Transport, call: WatchCall, signal?: AbortSignal): Promise<WatchStream<T>> {
    await this.#before(false, signal);
    if (this.#happens('expiredWatch')) throw expired('too old resource version: injected fault');
    return this.#unreliable(await inner.watch<T>(call, signal));
  }
  #unreliable<T extends KubeObject>(stream: WatchStream<T>): WatchStream<T> {
    return {
      stop: () => stream.stop(),
      subscribe: (handler, end) => {
        const late = new LateEvents(this.#clock, () => this.#within(this.rates.watchLagMs), handler);
        let over = false;
        const finish = (error?: Error): void => {
          if (over) return;
          over = true;
          life?.cancel();
          this.#drops.delete(drop);
          late.close();
          end(error);
        };
        const drop = (): void => {
          if (over) return;
          this.#count('droppedWatch');
          finish(lost());
          stream.stop();
        };
        const { watchLifeMs } = this.rates;
        const life = watchLifeMs > 0 ? this.#clock.setTimer(this.#within(watchLifeMs), drop) : undefined;
        this.#drops.add(drop);
        stream.subscribe((event) => late.push(event), finish);
      },
    };
  }
}

/** Hands events over after a delay, in order. Those not yet handed over when the watch ends are lost, as on a real connection. */
class LateEvents<T extends KubeObject> {
  readonly #clock: Clock;
  readonly #delayMs: () => number;
  readonly #handler: (event: WatchEvent<T>) => void;
  readonly #waiting: { event: WatchEvent<T>; dueMs: number }[] = [];
  #closed = false;
  #timing = false;

  constructor(clock: Clock, delayMs: () => number, handler: (event: WatchEvent<T>) => void) {
    this.#clock = clock;
    this.#delayMs = delayMs;
    this.#handler = handler;
  }
  push(event: WatchEvent<T>): void {
    if (this.#closed) return;
    const delayMs = this.#delayMs();
    if (delayMs === 0 && this.#waiting.length === 0) return this.#handler(event);
    const last = this.#waiting.at(-1)?.dueMs ?? 0;
    this.#waiting.push({ event, dueMs: Math.max(last, this.#clock.monotonic() + delayMs) });
    this.#schedule();
  }
  close(): void {
    this.#closed = true;
    this.#waiting.length = 0;
  }
  #schedule(): void {
    const first = this.#waiting[0];
    if (!first || this.#timing) return;
    this.#timing = true;
    this.#clock.setTimer(first.dueMs - this.#clock.monotonic(), () => {
      this.#timing = false;
      const nowMs = this.#clock.monotonic();
      while (this.#waiting[0] && this.#waiting[0].dueMs <= nowMs) {
        const next = this.#waiting.shift();
        if (next) this.#handler(next.event);
      }
      this.#schedule();
    });
  }
}

/** Faults that follow from `rng`. `rates`: what is not given does not happen. */
export function injectFaults(deps: { clock: Clock; rng: Rng }, rates: Partial<FaultRates> = {}): FaultInjector {
  return new Injector(deps.clock, deps.rng, { ...noApiFaults, ...rates });
}
