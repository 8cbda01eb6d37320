// The shell around every control loop: informers feed keys, keys become views, views become plans, plans are carried out.
import { refKey, type ActionDeps, type ControllerDefinition, type Effect, type Plan, type ViewContext } from './types.ts';
import { isNotFound, StatusError } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import { createWorkQueue, type EventRecorder, type InformerFactory, type KubeClient, type WorkQueue } from '#client';
import type { Clock, Logger } from '#utils';
import { InformerCache } from './cache.ts';
import type { Decisions } from './decisions.ts';
import { applyEffects, isStale, type Failure } from './effects.ts';
import { concurrencyDefault, holdBackMs, liveRoundsMax } from './limits.ts';
import { OwnWrites } from './own-writes.ts';

export interface ExecutorDeps {
  client: KubeClient;
  /** Shared between controllers of one process. */
  informers: InformerFactory;
  recorder: EventRecorder;
  clock: Clock;
  logger: Logger;
  decisions?: Decisions;
}

export interface RunningController {
  readonly name: string;
  /** Resolves when all work in flight has ended. */
  stop(): Promise<void>;
  /** Keys waiting; for tests and metrics. */
  queueLength(): number;
}

const short = (effect: Effect): string => {
  switch (effect.op) {
    case 'parallel':
      return `${effect.effects.length} x ${effect.effects[0] ? short(effect.effects[0]) : 'nothing'}`;
    case 'create':
    case 'update':
      return `${effect.op} ${effect.resource.resource}${effect.subresource ? `/${effect.subresource}` : ''}`;
    case 'patch':
    case 'delete':
      return `${effect.op} ${effect.ref.resource.resource} ${effect.ref.name}`;
    case 'event':
      return `event ${effect.reason}`;
    case 'action':
      return effect.name;
  }
};

class Executor<View> implements RunningController {
  readonly #definition: ControllerDefinition<View>;
  readonly #deps: ExecutorDeps;
  readonly #cache: InformerCache;
  readonly #queue: WorkQueue;
  readonly #writes: OwnWrites;
  readonly #held = new Map<string, number>();
  readonly #failures = new Map<string, Failure>();
  readonly #abort = new AbortController();
  readonly #actions: Record<string, (input: unknown, signal: AbortSignal) => Promise<void>>;
  #workers: Promise<void>[] = [];
  #removeHandlers: (() => void)[] = [];

  constructor(definition: ControllerDefinition<View>, deps: ExecutorDeps) {
    this.#definition = definition;
    this.#deps = { ...deps, logger: deps.logger.with({ controller: definition.name }) };
    this.#cache = new InformerCache(deps.informers, definition.watches);
    this.#queue = createWorkQueue({ clock: deps.clock });
    this.#writes = new OwnWrites(this.#cache);
    const actionDeps: ActionDeps = { client: deps.client, clock: deps.clock, logger: this.#deps.logger };
    this.#actions = definition.actions?.(actionDeps) ?? {};
  }
  get name(): string {
    return this.#definition.name;
  }
  queueLength(): number {
    return this.#queue.length();
  }

  async run(): Promise<void> {
    this.#listen();
    await this.#deps.informers.waitForSync(this.#abort.signal).catch(() => {});
    if (this.#abort.signal.aborted) return;
    this.#tick();
    const count = this.#definition.concurrency ?? concurrencyDefault;
    this.#workers = Array.from({ length: count }, () => this.#work());
  }
  async stop(): Promise<void> {
    this.#abort.abort();
    for (const remove of this.#removeHandlers) remove();
    this.#queue.shutDown();
    await Promise.all(this.#workers);
  }

  #listen(): void {
    for (const { resource, keys } of this.#definition.watches) {
      const enqueue = (object: KubeObject, old?: KubeObject): void => {
        this.#releaseHeld();
        if (keys) for (const key of keys(object, old, this.#cache)) this.#queue.add(key);
      };
      const informer = this.#cache.informer(resource);
      this.#removeHandlers.push(
        informer.addHandler({
          onAdd: (object) => enqueue(object),
          onUpdate: (object, old) => enqueue(object, old),
          onDelete: (object) => enqueue(object),
        }),
      );
    }
  }
  /** Keys that waited for the cache to see their writes go on as soon as it has. */
  #releaseHeld(): void {
    for (const key of this.#held.keys())
      if (this.#writes.seen(key)) {
        this.#held.delete(key);
        this.#queue.add(key);
      }
  }
  #tick(): void {
    const { periodic } = this.#definition;
    if (!periodic || this.#abort.signal.aborted) return;
    for (const key of periodic.keys(this.#cache)) this.#queue.add(key);
    const timer = this.#deps.clock.setTimer(periodic.everyMs, () => this.#tick());
    this.#abort.signal.addEventListener('abort', () => timer.cancel(), { once: true });
  }
  async #work(): Promise<void> {
    for (let key = await this.#queue.next(); key !== undefined; key = await this.#queue.next()) {
      try {
        if (!this.#mustHold(key)) await this.#process(key);
      } catch (error) {
        // A bug in a loop must not stop the others, nor spin.
        this.#deps.logger.error('reconcile failed', { key, error: error instanceof Error ? error.stack : String(error) });
        this.#queue.addRateLimited(key);
      } finally {
        this.#queue.done(key);
      }
    }
  }
  #mustHold(key: string): boolean {
    if (this.#writes.seen(key)) {
      this.#held.delete(key);
      return false;
    }
    const nowMs = this.#deps.clock.monotonic();
    const since = this.#held.get(key) ?? nowMs;
    if (nowMs - since >= holdBackMs) {
      this.#held.delete(key);
      this.#writes.forget(key);
      return false;
    }
    this.#held.set(key, since);
    this.#queue.addAfter(key, holdBackMs - (nowMs - since));
    return true;
  }
  async #process(key: string): Promise<void> {
    const plan = await this.#plan(key);
    const failure = await applyEffects(key, plan.effects, {
      ...this.#deps,
      writes: this.#writes,
      actions: this.#actions,
      signal: this.#abort.signal,
    });
    if (plan.because !== undefined)
      this.#deps.decisions?.record({
        controller: this.name,
        key,
        atMs: this.#deps.clock.now(),
        because: plan.because,
        effects: plan.effects.map(short),
        ...(failure && { failure: failure.error.message }),
      });
    this.#settle(key, plan, failure);
  }
  async #plan(key: string): Promise<Plan> {
    const live = new Map<string, KubeObject | undefined>();
    const failed = this.#failures.get(key);
    const context: ViewContext = { live, ...(failed && { lastFailure: describe(failed) }) };
    for (let round = 0; round < liveRoundsMax; round++) {
      const plan = this.#definition.reconcile(this.#definition.view(key, this.#cache, context), this.#deps.clock.now());
      const missing = (plan.needsLive ?? []).filter((ref) => !live.has(refKey(ref)));
      if (missing.length === 0) return plan;
      const answers = await Promise.all(
        missing.map(({ resource, namespace, name }) =>
          this.#deps.client
            .resource<KubeObject>(resource, namespace || undefined)
            .get(name)
            .catch((error: unknown) => {
              if (isNotFound(error)) return undefined;
              throw error;
            }),
        ),
      );
      missing.forEach((ref, index) => live.set(refKey(ref), answers[index]));
    }
    throw new Error(`${this.name} asked for live reads more than ${liveRoundsMax} times for ${key}`);
  }
  #settle(key: string, plan: Plan, failure: Failure | undefined): void {
    if (failure) {
      this.#failures.set(key, failure);
      const report = isStale(failure.error) ? 'debug' : 'warn';
      this.#deps.logger[report]('effect failed', { key, op: failure.op, error: failure.error.message });
      this.#queue.addRateLimited(key);
      return;
    }
    this.#failures.delete(key);
    this.#queue.forget(key);
    if (plan.requeueAfterMs !== undefined) this.#queue.addAfter(key, plan.requeueAfterMs);
  }
}

const describe = ({ op, error }: Failure): NonNullable<ViewContext['lastFailure']> => ({
  op,
  message: error.message,
  reason: error instanceof StatusError ? (error.status.reason ?? '') : '',
});

/** Starts one controller; it works once the shared informers are started and synced. */
export function startController<View>(definition: ControllerDefinition<View>, deps: ExecutorDeps): RunningController {
  const executor = new Executor(definition, deps);
  void executor.run();
  return executor;
}
