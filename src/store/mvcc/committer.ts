// Group commit: whatever was accepted in one turn, or while a commit was under way, becomes one durable batch. Results are published
// strictly in the order of acceptance, and a few at a time: each wakes somebody up, and all of it in one turn would hold up everything else.
// The first failure stops the store for good (fail-stop): what a failed flush left on disk is unknown.
import { nextTurn, type Turns } from '#host';
import { ClosedError } from '../errors.ts';
import { batchRemovalsMax, batchRevisionsMax, publishTicketsMax } from '../limits.ts';
import type { Change, ChangeId, LeaseGrant, LogBatch, RevisionLog } from './log.ts';
import type { Version } from './record.ts';

/** Something accepted that waits for durability. */
export interface Ticket {
  /** Changes of one revision; empty when nothing was written. */
  readonly versions: readonly Version[];
  readonly granted?: LeaseGrant;
  readonly revoked?: number;
  readonly compactedRevision?: number;
  resolve(): void;
  reject(error: Error): void;
}

export interface CommitterOptions {
  /** Absent: everything is durable at once. */
  log: RevisionLog | undefined;
  turns: Turns;
  /** Makes durable tickets visible and tells watchers; the committer resolves the tickets afterwards. */
  publish(tickets: readonly Ticket[]): void;
  /** Called once when nothing can be accepted any more because of a failure. */
  failed(error: ClosedError): void;
}

export class Committer {
  readonly #options: CommitterOptions;
  #queue: Ticket[] = [];
  #inFlight: readonly Ticket[] = [];
  readonly #dead: ChangeId[] = [];
  #running: Promise<void> | undefined;
  #failure: ClosedError | undefined;

  constructor(options: CommitterOptions) {
    this.#options = options;
  }

  /** Nothing waits: everything accepted so far is durable and published. */
  get idle(): boolean {
    return this.#queue.length === 0 && this.#inFlight.length === 0;
  }

  submit(ticket: Ticket): void {
    if (this.#failure) {
      ticket.reject(this.#failure);
      return;
    }
    this.#queue.push(ticket);
    this.#start();
  }

  /** Removes these changes from disk, a bounded number with each batch. */
  remove(dead: readonly ChangeId[]): void {
    if (!this.#options.log || this.#failure) return;
    for (const id of dead) this.#dead.push(id);
    if (this.#dead.length > 0) this.#start();
  }

  /** Resolves when nothing waits any more, or after a failure. Records still to be removed are left to the next start. */
  async drain(): Promise<void> {
    this.#dead.length = 0;
    await this.#running;
  }

  #start(): void {
    const { log, turns } = this.#options;
    // Without a log the batch is what one synchronous stretch accepted; with one, what a whole turn of the event loop did. Without one, too,
    // an old turn ends here: writers that wait for nothing but each other would otherwise never let anybody else run.
    this.#running ??= (log || turns.spent() ? nextTurn() : Promise.resolve()).then(() => this.#run());
  }

  async #run(): Promise<void> {
    const { log, turns } = this.#options;
    try {
      while (this.#queue.length > 0 || this.#dead.length > 0) {
        const batch = this.#take();
        if (log) await log.append(toLogBatch(batch, this.#dead.splice(0, batchRemovalsMax)));
        await this.#handOut(batch);
        // What the answers lead to in this turn joins the next batch.
        if (log || turns.spent()) await nextTurn();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#running = undefined;
    }
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

  #take(): readonly Ticket[] {
    const all = this.#queue;
    this.#queue = all.length > batchRevisionsMax ? all.splice(batchRevisionsMax) : [];
    this.#inFlight = all;
    return all;
  }

  #fail(cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    this.#failure = new ClosedError(`store stopped after a failed commit: ${reason}`, { cause });
    const waiting = [...this.#inFlight, ...this.#queue];
    this.#inFlight = [];
    this.#queue = [];
    this.#dead.length = 0;
    this.#options.failed(this.#failure);
    for (const ticket of waiting) ticket.reject(this.#failure);
  }
}

function toLogBatch(tickets: readonly Ticket[], dead: readonly ChangeId[]): LogBatch {
  const changes: Change[] = [];
  const granted: LeaseGrant[] = [];
  const revoked: number[] = [];
  let compactedRevision = 0;
  for (const ticket of tickets) {
    const last = ticket.versions.length - 1;
    ticket.versions.forEach(({ kv, deleted, sub }, i) => changes.push({ kv, deleted, sub, last: i === last }));
    if (ticket.granted) granted.push(ticket.granted);
    if (ticket.revoked !== undefined) revoked.push(ticket.revoked);
    if (ticket.compactedRevision) compactedRevision = ticket.compactedRevision;
  }
  return { changes, granted, revoked, compactedRevision, dead };
}
