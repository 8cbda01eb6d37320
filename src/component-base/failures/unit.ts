// One component under a supervisor: its lives, one after the other.
import type { Clock, Logger } from '#utils';
import { type Domain, inDomain } from './domain.ts';
import { restartMs, stopPatienceMs } from './limits.ts';
import type { ComponentFailure, ComponentStatus, Running } from './supervisor.ts';

export interface UnitDeps {
  clock: Clock;
  logger: Logger;
  onFailure(kind: ComponentFailure['kind'], where: string, error: unknown): ComponentFailure;
  onRestart(): void;
}

/** Starts the component; it may call `fail` when it can no longer do its work. */
export type Begin<R> = (fail: (error: unknown) => void) => Promise<R> | R;

/** From a start to the failure that ends it. Errors that come later of what an ended life left behind are noted, and end nothing. */
interface Life<R> {
  readonly domain: Domain;
  readonly startedMs: number;
  running: R | undefined;
  over: boolean;
  /** Resolves when the component failed. */
  readonly failed: Promise<void>;
}

export class Unit<R extends Running> {
  readonly name: string;
  readonly #begin: Begin<R>;
  readonly #deps: UnitDeps;
  readonly #stopping = new AbortController();
  #state: ComponentStatus['state'] = 'starting';
  #restarts = 0;
  #failures = 0;
  #last: ComponentFailure | undefined;
  #nextStartMs: number | undefined;
  #pauseMs = restartMs.first;
  #life: Life<R> | undefined;
  #kept: Promise<void> = Promise.resolve();

  constructor(name: string, begin: Begin<R>, deps: UnitDeps) {
    this.name = name;
    this.#begin = begin;
    this.#deps = deps;
  }
  get current(): R | undefined {
    return this.#state === 'running' ? this.#life?.running : undefined;
  }
  status(): ComponentStatus {
    return {
      component: this.name,
      state: this.#state,
      restarts: this.#restarts,
      failures: this.#failures,
      ...(this.#last && { last: this.#last }),
      ...(this.#nextStartMs !== undefined && { nextStartMs: this.#nextStartMs }),
    };
  }
  /** Throws while it does not run. */
  check(): void {
    if (this.#state !== 'running') throw new Error(`${this.#state} after: ${this.#last?.message ?? 'nothing yet'}`);
  }
  /** Rejects when the component cannot be started, unless it is to be tried again; resolves when it runs, or waits for its next start. */
  async start(retry: boolean): Promise<void> {
    const first = this.#newLife();
    await this.#run(first).catch((error: unknown) => {
      if (!retry) throw error;
      first.domain.stray(error);
    });
    this.#kept = this.#keepRunning(first);
  }
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#kept;
    this.#state = 'stopped';
    const life = this.#life;
    if (!life || life.over) return;
    life.over = true;
    await inDomain(life.domain, () => life.running?.stop());
  }

  #newLife(): Life<R> {
    let fail = (): void => {};
    const failed = new Promise<void>((resolve) => {
      fail = resolve;
    });
    const { logger } = this.#deps;
    const domain: Domain = {
      name: this.name,
      stray: (error) => {
        const { text } = this.#note('stray', '', error);
        logger.error('component failed', { component: this.name, error: text });
        fail();
      },
      caught: (where, error) => void this.#note('caught', where, error),
    };
    const life: Life<R> = { domain, failed, running: undefined, over: false, startedMs: this.#deps.clock.monotonic() };
    this.#life = life;
    return life;
  }
  #note(kind: ComponentFailure['kind'], where: string, error: unknown): ComponentFailure {
    this.#failures++;
    this.#last = this.#deps.onFailure(kind, where, error);
    return this.#last;
  }
  /** Resolves when the component runs, or has failed before it did. */
  async #run(life: Life<R>): Promise<void> {
    this.#state = 'starting';
    this.#nextStartMs = undefined;
    const begun = inDomain(life.domain, async () => this.#begin((error) => life.domain.stray(error))).then((running) => {
      life.running = running;
      if (!life.over) this.#state = 'running';
      else void this.#end(life);
    });
    // A life that fails before it has begun may never begin.
    await Promise.race([begun, life.failed]);
    begun.catch(() => {});
  }
  async #keepRunning(first: Life<R>): Promise<void> {
    const { clock, logger } = this.#deps;
    const { signal } = this.#stopping;
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    for (let life = first; ; ) {
      await Promise.race([life.failed, stopped]);
      if (signal.aborted) return;
      this.#state = 'waiting';
      await this.#end(life);
      if (clock.monotonic() - life.startedMs > restartMs.forgivenAfter) this.#pauseMs = restartMs.first;
      this.#nextStartMs = clock.now() + this.#pauseMs;
      logger.error('component is started again', { component: this.name, pauseMs: this.#pauseMs });
      await clock.sleep(this.#pauseMs, signal).catch(() => {});
      this.#pauseMs = Math.min(this.#pauseMs * 2, restartMs.max);
      if (signal.aborted) return;
      this.#restarts++;
      this.#deps.onRestart();
      life = this.#newLife();
      await this.#run(life).catch((error: unknown) => life.domain.stray(error));
    }
  }
  /** Stops what failed, as far as it still can be stopped. */
  async #end(life: Life<R>): Promise<void> {
    const { running, domain } = life;
    life.over = true;
    life.running = undefined;
    if (!running) return;
    const { clock, logger } = this.#deps;
    const patience = new AbortController();
    const late = clock.sleep(stopPatienceMs, patience.signal).catch(() => {});
    const stopped = inDomain(domain, async () => running.stop()).catch((error: unknown) =>
      logger.warn('failed component does not stop in order', { component: this.name, error: String(error) }),
    );
    await Promise.race([stopped, late]);
    patience.abort();
  }
}
