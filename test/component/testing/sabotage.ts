// What makes a component of a test cluster go wrong: a clock on which the next thing that it waits for throws, or rejects.
import { domainName } from '#component-base/failures';
import { type VirtualClock, virtualClock } from '#testing';

type Listener = (...args: unknown[]) => void;

/** Vitest fails a run for errors that nobody caught; here they are the point. Gives what undoes it. */
export function takeListeners(): () => void {
  const events = ['uncaughtException', 'unhandledRejection'];
  const taken = events.flatMap((event) =>
    process.listeners(event as 'exit').map((listener) => [event, listener as Listener] as [string, Listener]),
  );
  for (const [event, listener] of taken) process.off(event, listener);
  return () => {
    for (const [event, listener] of taken) process.on(event, listener);
  };
}

export type How = 'throws' | 'rejects';

/** A clock on which the next thing that `victim` waits for goes wrong. */
export class SabotagedClock implements VirtualClock {
  readonly #inner: VirtualClock;
  #victim: { name: string; how: How } | undefined;

  constructor(startMs?: number) {
    this.#inner = virtualClock(startMs === undefined ? {} : { startMs });
  }
  sabotage(name: string, how: How): void {
    this.#victim = { name, how };
  }
  now = (): number => this.#inner.now();
  monotonic = (): number => this.#inner.monotonic();
  advance = (ms: number): Promise<void> => this.#inner.advance(ms);
  until: VirtualClock['until'] = (...args) => this.#inner.until(...args);
  settle = (): Promise<void> => this.#inner.settle();
  pending = (): number => this.#inner.pending();
  setTimer: VirtualClock['setTimer'] = (delayMs, callback) => {
    const name = domainName();
    return this.#inner.setTimer(delayMs, () => {
      this.#strike(name);
      callback();
    });
  };
  sleep: VirtualClock['sleep'] = async (delayMs, signal) => {
    const name = domainName();
    await this.#inner.sleep(delayMs, signal);
    if (this.#victim?.name === name) this.#strike(name, 'rejects');
  };
  #strike(name: string | undefined, how = this.#victim?.how): void {
    if (name === undefined || this.#victim?.name !== name) return;
    this.#victim = undefined;
    const error = new Error(`sabotage of ${name}`);
    if (how === 'throws') throw error;
    void Promise.reject(error);
  }
}
