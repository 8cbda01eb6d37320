// Group commit: whatever was accepted in one turn, or while a commit was under way, becomes one durable batch. Results are published
// strictly in the order of acceptance, and a few at a time: each wakes somebody up, and all of it in one turn would hold up everything else.
// When the log cannot take a batch, everything that was accepted and is not durable is taken back, and what comes later is tried anew.
import { nextTurn, type Turns } from '#host';
import { ClosedError, StoreError } from '../errors.ts';
import { batchRevisionsMax, publishTicketsMax } from '../limits.ts';
import type { LogEntry, RevisionLog } from './log.ts';
import type { Version } from './record.ts';

/** An accepted request that waits until it is durable. */
export interface Ticket extends LogEntry {
  readonly versions: readonly Version[];
  /** Takes back what acceptance did beyond `versions`. */
  undo?(): void;
  resolve(): void;
  reject(error: Error): void;
}

export interface CommitterOptions {
  /** Absent: everything is durable at once. */
  log: RevisionLog | undefined;
  turns: Turns;
  /** Makes durable tickets visible and tells watchers; the committer resolves the tickets afterwards. */
  publish(tickets: readonly Ticket[]): void;
  /** Takes back accepted tickets, all that there are, the oldest first. */
  takeBack(tickets: readonly Ticket[]): void;
  /** Called once when nothing can be accepted any more because the store itself has failed. */
  failed(error: ClosedError): void;
}

export class Committer {
  readonly #options: CommitterOptions;
  #queue: Ticket[] = [];
  #inFlight: readonly Ticket[] = [];
  #running: Promise<void> | undefined;
  #failure: ClosedError | undefined;

  constructor(options: CommitterOptions) {
    this.#options = options;
  }

  /** Nothing waits: everything accepted so far is durable and published. */
  get idle(): boolean {
    return this.#queue.length === 0 && this.#inFlight.length === 0;
  }

  get waiting(): number {
    return this.#queue.length + this.#inFlight.length;
  }

  submit(ticket: Ticket): void {
    if (this.#failure) {
      ticket.reject(this.#failure);
      return;
    }
    this.#queue.push(ticket);
    this.#start();
  }

  /** Resolves when nothing waits any more, or after a failure. */
  async drain(): Promise<void> {
    await this.#running;
  }

  #start(): void {
    const { log, turns } = this.#options;
    // Without a log the batch is what one synchronous stretch accepted, and an old turn ends here: writers that wait for nothing but each
    // other would otherwise never let anybody else run.
    this.#running ??= (log ? this.#gathered() : turns.spent() ? nextTurn() : Promise.resolve()).then(() => this.#run());
  }

  async #run(): Promise<void> {
    const { log, turns } = this.#options;
    try {
      while (this.#queue.length > 0) {
        const batch = this.#take();
        const done = log ? await this.#append(log, batch) : batch.length;
        this.#putBack(batch.slice(done));
        await this.#handOut(batch.slice(0, done));
        // What the answers lead to in this turn joins the next batch.
        if (log) await this.#gathered();
        else if (turns.spent()) await nextTurn();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#running = undefined;
    }
  }

  /** With a log the batch is what a whole turn of the event loop accepts; while turns are slow, what is there goes to the disk meanwhile. */
  #gathered(): Promise<void> {
    return this.#options.turns.slow() ? Promise.resolve() : nextTurn();
  }

  /** How many were appended. None: the log could not, and nothing is left waiting. */
  async #append(log: RevisionLog, batch: Ticket[]): Promise<number> {
    try {
      return await log.append(batch);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      const waiting = this.#clear();
      this.#options.takeBack(waiting);
      for (const ticket of waiting) ticket.reject(error);
      batch.length = 0;
      return 0;
    }
  }

  #putBack(rest: readonly Ticket[]): void {
    if (rest.length === 0) return;
    this.#inFlight = this.#inFlight.slice(0, this.#inFlight.length - rest.length);
    this.#queue = [...rest, ...this.#queue];
  }

  async #handOut(batch: readonly Ticket[]): Promise<void> {
    const { publish, turns } = this.#options;
    for (let from = 0; from < batch.length; from += publishTicketsMax) {
      if (from > 0) await turns.rest();
      const some = batch.slice(from, from + publishTicketsMax);
      publish(some);
      this.#inFlight = batch.slice(from + publishTicketsMax);
      for (const ticket of some) ticket.resolve();
    }
  }

  #take(): Ticket[] {
    const all = this.#queue;
    this.#queue = all.length > batchRevisionsMax ? all.splice(batchRevisionsMax) : [];
    this.#inFlight = all;
    return all;
  }

  #clear(): Ticket[] {
    const waiting = [...this.#inFlight, ...this.#queue];
    this.#inFlight = [];
    this.#queue = [];
    return waiting;
  }

  #fail(cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    this.#failure = new ClosedError(`store stopped after a failure: ${reason}`, { cause });
    const waiting = this.#clear();
    this.#options.failed(this.#failure);
    for (const ticket of waiting) ticket.reject(this.#failure);
  }
}
