// What each operation does: questions about the world, changes of it, and the cloud's own affairs (faults, the audit log).
import { createHash } from 'node:crypto';
import type { Clock, Logger, Rng, Timer } from '#utils';
import { conflicting, internalError, invalid } from '../api/errors.ts';
import { type OperationId, operations, Refusal } from '../api/index.ts';
import {
  type Account,
  apply,
  type ChangeId,
  type Context,
  forget,
  isChange,
  observe,
  type Outcome,
  read,
  type Settings,
} from '../core/index.ts';
import { FaultGate, laggingWorlds, type LaggingWorlds } from '../faults/index.ts';
import { type Faults, noFaults, type Observation, type World } from '../model/index.ts';
import { AuditLog, type AuditFilter } from './audit-log.ts';
import { JournalError } from './journal.ts';
import { limits } from './limits.ts';
import type { WorldStore } from './world-store.ts';

export interface ServiceDeps {
  store: WorldStore;
  settings: Settings;
  clock: Clock;
  rng: Rng;
  logger: Logger;
}

const hashOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64url');

/** A misspelt operation would fail nothing, and nobody would know why. */
function checkFaults(faults: Faults): void {
  const unknown = faults.operations.find((operation) => !Object.hasOwn(operations, operation));
  if (unknown !== undefined) throw invalid('operations', `there is no operation ${unknown}`);
}

/** An observation, and which of all it was. */
interface Seen {
  observation: Observation;
  at: number;
}

/** Names the part of the world that an observation is about. */
const subjectOf = ({ kind, ...of }: Observation): string =>
  JSON.stringify([kind, 'loadBalancerId' in of && of.loadBalancerId, 'instanceId' in of && of.instanceId]);

export class CloudService {
  readonly gate = new FaultGate();
  readonly audit = new AuditLog();
  readonly #deps: ServiceDeps;
  readonly #lagging: LaggingWorlds;
  /** By what it is about: the newest of each counts, so a disk that stays full costs no more than the world has parts. */
  readonly #unwritten = new Map<string, Seen>();
  #observed = 0;
  #again: Timer | undefined;

  constructor(deps: ServiceDeps) {
    this.#deps = deps;
    this.#lagging = laggingWorlds(deps.store.published);
    deps.store.watch((world) => {
      if (this.gate.faults.eventualConsistencyMs > 0) this.#lagging.push(world, deps.clock.monotonic());
    });
  }
  /** Throws a Refusal for operations that do not exist. */
  setFaults(faults: Faults): void {
    checkFaults(faults);
    if (this.gate.faults.eventualConsistencyMs === 0)
      this.#lagging.reset(this.#deps.store.published, this.#deps.clock.monotonic());
    this.gate.set(faults);
  }
  /** The answer's body. Rejects with a Refusal. `breakInMiddle`: see `Verdict`. */
  async perform(
    operation: OperationId,
    input: Record<string, unknown>,
    account: Account,
    breakInMiddle: boolean,
  ): Promise<unknown> {
    if (isChange(operation)) return this.#change(operation, input, account, breakInMiddle);
    switch (operation) {
      case 'getFaults':
        return this.gate.faults;
      case 'putFaults':
        this.setFaults(input as Faults);
        return this.gate.faults;
      case 'deleteFaults':
        return this.setFaults(noFaults);
      case 'listEvents':
        return { items: this.audit.list(account.role === 'service' ? undefined : account.id, input as unknown as AuditFilter) };
      default:
        return read(this.#readable(), operation, input, { account, settings: this.#deps.settings });
    }
  }
  /** Folds in what a driver saw. What the disk does not take is not seen again: it is kept until it can be written, in its order. */
  observe(observation: Observation): void {
    const seen = { observation, at: ++this.#observed };
    if (this.#unwritten.size > 0) this.#keep(seen);
    else this.#fold(seen);
  }
  #fold(seen: Seen): void {
    const { store, settings, clock, logger } = this.#deps;
    const world = observe(store.accepted, seen.observation, { now: clock.now(), settings });
    if (world === store.accepted) return;
    logger.info('observed', { ...seen.observation });
    store.change(world).catch((error: unknown) => {
      logger.error('the world cannot be written', { error });
      if (!(error instanceof JournalError && error.mends)) return;
      this.#keep(seen);
      this.#again ??= clock.setTimer(limits.mendMs, () => {
        this.#again = undefined;
        const kept = [...this.#unwritten.values()].sort((a, b) => a.at - b.at);
        this.#unwritten.clear();
        for (const one of kept) this.#fold(one);
      });
    });
  }
  #keep(seen: Seen): void {
    const key = subjectOf(seen.observation);
    if ((this.#unwritten.get(key)?.at ?? 0) < seen.at) this.#unwritten.set(key, seen);
  }
  /** Nothing is written any more. */
  close(): void {
    this.#again?.cancel();
  }
  /** Forgets what was terminated long enough ago. */
  forgetTerminated(): void {
    const { store, settings, clock, logger } = this.#deps;
    const world = forget(store.accepted, { now: clock.now(), settings });
    if (world === store.accepted) return;
    store.change(world).catch((error: unknown) => logger.error('the world cannot be written', { error }));
  }
  #readable(): World {
    const { eventualConsistencyMs } = this.gate.faults;
    if (eventualConsistencyMs === 0) return this.#deps.store.published;
    return this.#lagging.at(this.#deps.clock.monotonic() - eventualConsistencyMs);
  }
  #context(account: Account): Context {
    const { rng, clock, settings } = this.#deps;
    return {
      account,
      settings,
      now: clock.now(),
      ids: (prefix) => `${prefix}-${rng.uuid().replaceAll('-', '').slice(0, 8)}`,
    };
  }
  async #change(operation: ChangeId, given: Record<string, unknown>, account: Account, breakInMiddle: boolean): Promise<unknown> {
    const { store } = this.#deps;
    const { clientToken, ...input } = given;
    const key = typeof clientToken === 'string' ? `${account.id} ${operation} ${clientToken}` : undefined;
    const known = key === undefined ? undefined : store.remembered(key);
    if (known) {
      if (known.hash !== hashOf(input))
        throw conflicting('IdempotentParameterMismatch', 'this token was used with another request');
      await this.#durable(store.settled());
      return known.result;
    }
    const context = this.#context(account);
    const outcome = apply(store.accepted, { operation, input }, context);
    if (outcome instanceof Refusal) throw outcome;
    if (breakInMiddle && outcome.halfway) return this.#breakOff(operation, outcome.halfway);
    const { world, result } = outcome satisfies Outcome;
    const request = key === undefined ? undefined : { key, hash: hashOf(input), time: context.now, result };
    await this.#durable(store.change(world, request));
    return result;
  }
  async #breakOff(operation: ChangeId, halfway: World): Promise<never> {
    this.gate.spent();
    await this.#durable(this.#deps.store.change(halfway));
    throw internalError(`${operation} failed after some of its steps (asked for by faults)`);
  }
  async #durable(written: Promise<void>): Promise<void> {
    try {
      await written;
    } catch (error) {
      this.#deps.logger.error('the world cannot be written', { error });
      throw internalError('the change could not be written to disk');
    }
  }
}
