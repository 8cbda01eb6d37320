// So many at once, and others after them in the order they came: what anybody may cause, as a review of a token that nobody knows, opens no more connections
// than that.

/** Given back once, by whoever has it. */
export type Leave = () => void;

export class Places {
  #free: number;
  /** In the order they came. */
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves when there is a place. Rejects with the signal's reason when it is called off before. */
  async take(signal: AbortSignal): Promise<Leave> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    return () => this.#leave();
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.#waiting.delete(enter);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(enter);
    });
  }

  /** The place goes to who waits longest. */
  #leave(): void {
    const [next] = this.#waiting;
    if (!next) this.#free++;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}
