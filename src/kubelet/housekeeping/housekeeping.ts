// What a node does now and then: eviction, log rotation, fresh volumes, image collection (upstream kubelet.go StartGarbageCollection). One thing after
// the other; what fails is said and tried again in the next round.
import type { Clock, Logger, Timer } from '#utils';
import { housekeepingMs, imageCollectMs, volumeRefreshMs } from '../limits.ts';

/** What the kubelet does from time to time, apart from when. */
export interface Chores {
  /** Takes a reading of CPU use for the next one to compare with. */
  sample(): Promise<void>;
  evict(): Promise<void>;
  rotateLogs(): Promise<void>;
  refreshVolumes(): Promise<void>;
  collectImages(): Promise<void>;
}

export class Housekeeping {
  readonly #chores: Chores;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #timer: Timer | undefined;
  #refreshedAtMs: number;
  #collectedAtMs = -Infinity;
  #closed = false;

  constructor(chores: Chores, { clock, logger }: { clock: Clock; logger: Logger }) {
    this.#chores = chores;
    this.#clock = clock;
    this.#logger = logger;
    this.#refreshedAtMs = clock.now();
  }
  /** Images are looked at at once, everything else after a while. */
  start(): void {
    void this.#attempt('reading CPU use', () => this.#chores.sample())
      .then(() => this.#imagesInTurn())
      .finally(() => this.#next());
  }
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }
  #next(): void {
    if (this.#closed) return;
    this.#timer = this.#clock.setTimer(housekeepingMs, () => void this.#round().finally(() => this.#next()));
  }
  async #round(): Promise<void> {
    const now = this.#clock.now();
    await this.#attempt('reading CPU use', () => this.#chores.sample());
    await this.#attempt('eviction', () => this.#chores.evict());
    await this.#attempt('log rotation', () => this.#chores.rotateLogs());
    if (now - this.#refreshedAtMs >= volumeRefreshMs) {
      this.#refreshedAtMs = now;
      await this.#attempt('volume refresh', () => this.#chores.refreshVolumes());
    }
    await this.#imagesInTurn();
  }
  async #imagesInTurn(): Promise<void> {
    const now = this.#clock.now();
    if (now - this.#collectedAtMs < imageCollectMs) return;
    this.#collectedAtMs = now;
    await this.#attempt('image garbage collection', () => this.#chores.collectImages());
  }
  async #attempt(what: string, work: () => Promise<void>): Promise<void> {
    try {
      if (!this.#closed) await work();
    } catch (error) {
      if (!this.#closed) this.#logger.warn(`${what} failed`, { error: String(error) });
    }
  }
}
