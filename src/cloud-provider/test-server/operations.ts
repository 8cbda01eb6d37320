// Long-running operations of an account: begun by a request, done after a while, and now and then failed at their end, with or without their work
// done. What they work on is busy meanwhile.
import { operationsMax } from './limits.ts';
import { Refusal } from './request.ts';

export interface Operation<Result = unknown> {
  id: string;
  /** The vendor's word for it, as `insert`. */
  kind: string;
  /** What it works on. */
  target: string;
  state: 'pending' | 'running' | 'done' | 'failed';
  startedMs: number;
  endsMs: number;
  error?: { code: string; message: string };
  result?: Result;
}

export interface BeginOptions<Result> {
  kind: string;
  target: string;
  /** Its work, done at its end. A `Refusal` that it throws is a late failure. */
  work(): Result;
  /** Default: `operationMs` of the rates. */
  durationMs?: number;
  /** Makes it fail at its end although all was well. */
  failure?: { code: string; message: string; workDone?: boolean };
}

export interface OperationsOptions {
  now(): number;
  durationMs(): number;
  idOf(number: number): string;
  /** Called for each one that begins: the failure that it will end with. */
  failureOf?(kind: string, target: string): { code: string; message: string; workDone?: boolean } | undefined;
}

interface Entry {
  operation: Operation;
  work(): unknown;
  failure: { code: string; message: string; workDone?: boolean } | undefined;
}

export class Operations {
  readonly #options: OperationsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #open = new Set<Entry>();
  #count = 0;

  constructor(options: OperationsOptions) {
    this.#options = options;
  }
  /** Begins one. Without a duration it is done at once. */
  begin<Result>({ kind, target, work, durationMs, failure }: BeginOptions<Result>): Operation<Result> {
    const { now, durationMs: usual, idOf, failureOf } = this.#options;
    const startedMs = now();
    const operation: Operation<Result> = {
      id: idOf(++this.#count),
      kind,
      target,
      state: 'pending',
      startedMs,
      endsMs: startedMs + (durationMs ?? usual()),
    };
    const entry: Entry = { operation, work, failure: failure ?? failureOf?.(kind, target) };
    this.#entries.set(operation.id, entry);
    this.#open.add(entry);
    this.settle();
    return operation;
  }
  /** Ends what is due, in the order of its end. Called before each request is looked at. */
  settle(): void {
    const nowMs = this.#options.now();
    const due = [...this.#open].filter(({ operation }) => operation.endsMs <= nowMs);
    for (const entry of due.sort((a, b) => a.operation.endsMs - b.operation.endsMs)) this.#end(entry);
    for (const { operation } of this.#open) if (operation.startedMs < nowMs) operation.state = 'running';
  }
  /** Takes up the operations of an earlier life, all of them over. */
  restore(operations: readonly Operation[]): void {
    const over = { work() {}, failure: undefined };
    for (const operation of operations) this.#entries.set(operation.id, { operation, ...over });
  }
  get(id: string): Operation | undefined {
    this.settle();
    return this.#entries.get(id)?.operation;
  }
  all(): Operation[] {
    this.settle();
    return [...this.#entries.values()].map(({ operation }) => operation);
  }
  /** The one that is under way on a target. */
  busyWith(target: string): Operation | undefined {
    this.settle();
    return [...this.#open].find(({ operation }) => operation.target === target)?.operation;
  }
  /** Forgets the operations that have been over for the longest time. */
  #forget(): void {
    for (const [id, entry] of this.#entries) {
      if (this.#entries.size <= operationsMax) return;
      if (!this.#open.has(entry)) this.#entries.delete(id);
    }
  }
  #end(entry: Entry): void {
    const { operation, work, failure } = entry;
    this.#open.delete(entry);
    this.#forget();
    try {
      if (!failure || failure.workDone) operation.result = work();
      operation.state = failure ? 'failed' : 'done';
      if (failure) operation.error = { code: failure.code, message: failure.message };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      operation.state = 'failed';
      operation.error = { code: error.code, message: error.message };
    }
  }
}
