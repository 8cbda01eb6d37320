// Brings one driver to the newest world: one call at a time, changes meanwhile folded into the next call, failures tried again with a growing
// pause that a new change cuts short.
import type { Clock, Logger, Timer } from '#utils';
import { type Driver, NotYetError, type World } from '../model/index.ts';
import { limits } from './limits.ts';

export interface DriverLoop {
  readonly name: string;
  /** Text of the last failure; undefined after a success. */
  readonly failure: string | undefined;
  /** There is a new world. */
  changed(): void;
  /** Lets a running call end, then closes the driver. */
  close(): Promise<void>;
}

interface LoopDeps {
  clock: Clock;
  logger: Logger;
  world(): World;
}

/** All of what failed waits for another driver, which begins at the same time. */
const isNotYet = (error: unknown): boolean =>
  error instanceof AggregateError ? error.errors.every(isNotYet) : error instanceof NotYetError;

export const driverLoop = (driver: Driver, deps: LoopDeps): DriverLoop => new Loop(driver, deps);

class Loop implements DriverLoop {
  readonly name: string;
  readonly #driver: Driver;
  readonly #deps: LoopDeps;
  #failure: string | undefined;
  #failures = 0;
  #failedAtMs = 0;
  #dirty = false;
  #closing = false;
  #running: Promise<void> | undefined;
  #pause: Timer | undefined;

  constructor(driver: Driver, deps: LoopDeps) {
    this.name = driver.name;
    this.#driver = driver;
    this.#deps = deps;
  }
  get failure(): string | undefined {
    return this.#failure;
  }
  changed(): void {
    this.#dirty = true;
    if (this.#running || this.#closing) return;
    const sinceMs = this.#deps.clock.monotonic() - this.#failedAtMs;
    this.#startIn(this.#failures === 0 ? 0 : Math.max(0, limits.driverRetryMinMs - sinceMs));
  }
  async close(): Promise<void> {
    this.#closing = true;
    this.#pause?.cancel();
    await this.#running;
    await this.#driver.close();
  }

  #startIn(delayMs: number): void {
    this.#pause?.cancel();
    this.#pause = undefined;
    if (delayMs === 0) {
      this.#running ??= this.#run();
      return;
    }
    this.#pause = this.#deps.clock.setTimer(delayMs, () => {
      this.#pause = undefined;
      this.#running ??= this.#run();
    });
  }
  async #run(): Promise<void> {
    // Changes of one turn are one call.
    await Promise.resolve();
    do {
      this.#dirty = false;
      await this.#realise();
    } while (this.#dirty && this.#failure === undefined && !this.#closing);
    this.#running = undefined;
    if (this.#failure !== undefined && !this.#closing)
      this.#startIn(Math.min(limits.driverRetryMinMs * 2 ** (this.#failures - 1), limits.driverRetryMaxMs));
  }
  async #realise(): Promise<void> {
    try {
      await this.#driver.realise(this.#deps.world());
      if (this.#failures > 0) this.#deps.logger.info('driver works again', { driver: this.name });
      this.#failure = undefined;
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      this.#failedAtMs = this.#deps.clock.monotonic();
      this.#failure = error instanceof Error ? error.message : String(error);
      const early = isNotYet(error) && this.#failures <= limits.driverNotYetMax;
      this.#deps.logger[early ? 'debug' : 'error']('driver failed', { driver: this.name, failures: this.#failures, error });
    }
  }
}
