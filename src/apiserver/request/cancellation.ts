// The end of a request before its answer: whoever asked is gone, or its time is over. Most requests end well and are never asked about it, so
// the signal is made when first asked for.

/** The connection of whoever asked is gone, so that no answer reaches them. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError';
}

export class Cancellation {
  readonly #client: () => AbortSignal | undefined;
  readonly #isGone: () => boolean;
  #controller: AbortController | undefined;
  #release: (() => void) | undefined;
  #reason: unknown;

  /** `client`: aborted when whoever asked is gone; `isGone` answers the same without making a signal. */
  constructor(client: () => AbortSignal | undefined, isGone: () => boolean = () => client()?.aborted ?? false) {
    this.#client = client;
    this.#isGone = isGone;
  }

  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal;
    const controller = (this.#controller = new AbortController());
    const client = this.#client();
    if (this.#reason !== undefined) controller.abort(this.#reason);
    else if (client?.aborted) controller.abort(client.reason);
    else if (client) {
      const abort = (): void => controller.abort(client.reason);
      client.addEventListener('abort', abort, { once: true });
      this.#release = () => client.removeEventListener('abort', abort);
    }
    return controller.signal;
  }

  get cancelled(): boolean {
    return this.#reason !== undefined || this.#isGone();
  }

  /** Throws the reason where the request is over: work that nobody waits for is not begun. */
  check(): void {
    if (this.#reason !== undefined) throw this.#reason;
    if (this.#isGone()) throw new NoAnswerError('the client is gone');
  }

  cancel(reason: Error): void {
    this.#reason ??= reason;
    this.#controller?.abort(reason);
  }

  /** Stops listening to a signal that may live longer than the request. */
  release(): void {
    this.#release?.();
  }
}

/** The cancellation of requests that nobody can call off. */
export const neverCancelled = (): Cancellation => new Cancellation(() => undefined);
