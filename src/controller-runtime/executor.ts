// The shell around every control loop: informers feed keys, keys become views, views become plans, plans are carried out.
import {
  type Action,
  type ActionDeps,
  type ControllerDefinition,
  type Effect,
  type Named,
  objectOf,
  type Plan,
  type ViewContext,
  type WatchDefinition,
} from './types.ts';
import { isConflict, StatusError } from '#apimachinery/errors';
import { apiVersionOf, type KubeObject } from '#apimachinery/meta';
import {
  createWorkQueue,
  type EventRecorder,
  type Informer,
  type InformerFactory,
  type KubeClient,
  type WorkQueue,
} from '#client';
import { type Metrics, noteCaught, type WorkQueueMetrics } from '#component-base';
import type { Clock, Logger, Timer } from '#utils';
import { type Burst, burst } from './bursts.ts';
import { InformerCache } from './cache.ts';
import type { Decisions } from './decisions.ts';
import { sharedDiscovery } from './discovery.ts';
import { exposeGauges } from './gauges.ts';
import { applyEffects, isStale, type Failure } from './effects.ts';
import { HeldKeys } from './held-keys.ts';
import { concurrencyDefault } from './limits.ts';
import { OwnWrites } from './own-writes.ts';
import { Planner } from './planner.ts';

export interface ExecutorDeps {
  client: KubeClient;
  /** Shared between controllers of one process. */
  informers: InformerFactory;
  recorder: EventRecorder;
  clock: Clock;
  logger: Logger;
  decisions?: Decisions;
  /** For the loops' own metrics. */
  metrics?: Metrics;
  /** Metrics of a queue by the loop's name. */
  queueMetrics?(queue: string): WorkQueueMetrics;
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

const byName = <Do>(named: readonly Named<Do>[] = []): ReadonlyMap<string, Do> =>
  new Map(named.map(({ name, run }) => [name, run]));

class Executor<View> implements RunningController {
  readonly #definition: ControllerDefinition<View>;
  readonly #deps: ExecutorDeps;
  readonly #cache: InformerCache;
  readonly #queue: WorkQueue;
  readonly #writes: OwnWrites;
  readonly #held: HeldKeys;
  readonly #planner: Planner<View>;
  readonly #failures = new Map<string, Failure>();
  readonly #abort = new AbortController();
  readonly #bursts: Burst[] = [];
  readonly #actions: ReadonlyMap<string, Action>;
  /** Workers wait for it: new watches must be filled before a loop over everything may conclude from absence. */
  #filled: Promise<void> = Promise.resolve();
  readonly #timers: { tick?: Timer; discover?: Timer } = {};
  readonly #workers: Promise<void>[] = [];
  /** Workers that wait for a key, or are about to. */
  #idle = 0;
  #removeHandlers: (() => void)[] = [];

  constructor(definition: ControllerDefinition<View>, deps: ExecutorDeps) {
    this.#definition = definition;
    this.#deps = { ...deps, logger: deps.logger.with({ controller: definition.name }) };
    this.#cache = new InformerCache(deps.informers, definition.watches);
    this.#queue = createWorkQueue({ clock: deps.clock, ...definition.backoff, metrics: deps.queueMetrics?.(definition.name) });
    this.#writes = new OwnWrites(this.#cache);
    const { client, clock, metrics } = deps;
    this.#held = new HeldKeys(this.#writes, this.#queue, clock);
    const actionDeps: ActionDeps = { client, clock, logger: this.#deps.logger, ...(metrics && { metrics }) };
    this.#actions = byName(definition.actions?.(actionDeps));
    this.#planner = new Planner(definition, {
      client,
      clock,
      cache: this.#cache,
      askers: byName(definition.questions?.(actionDeps)),
      signal: this.#abort.signal,
    });
  }
  get name(): string {
    return this.#definition.name;
  }
  queueLength(): number {
    return this.#queue.length();
  }

  async run(): Promise<void> {
    for (const definition of this.#definition.watches) this.#listen(definition);
    await this.#synced(this.#cache.informers());
    if (this.#definition.discover) await this.#discover();
    if (this.#abort.signal.aborted) return;
    const { gauges } = this.#definition;
    const { metrics } = this.#deps;
    if (gauges && metrics) exposeGauges(gauges, metrics, this.#cache, () => !this.#abort.signal.aborted);
    this.#tick();
    this.#hire();
  }
  async stop(): Promise<void> {
    this.#abort.abort();
    this.#timers.tick?.cancel();
    this.#timers.discover?.cancel();
    for (const remove of this.#removeHandlers) remove();
    this.#queue.shutDown();
    await Promise.all(this.#workers);
  }

  #listen({ resource, keys, burstMs }: WatchDefinition): void {
    const measured = burstMs && burst(this.#deps.clock, burstMs);
    if (measured) this.#bursts.push(measured);
    const enqueue = (object: KubeObject, old?: KubeObject): void => {
      this.#held.release();
      if (keys) this.#enqueue(resource, () => keys(object, old, this.#cache), measured);
    };
    this.#removeHandlers.push(
      this.#cache.informer(resource).addHandler({
        onAdd: (object) => enqueue(object),
        onUpdate: (object, old) => enqueue(object, old),
        onDelete: (object) => {
          if (this.#definition.discover && object.metadata.uid) this.#cache.noteGone(object.metadata.uid);
          enqueue(object);
        },
      }),
    );
  }
  /** A key function with a bug loses its own loop an event; the informer and the process live on. */
  #enqueue(of: { resource: string }, keys: () => Iterable<string> | undefined, measured?: Burst): void {
    try {
      const made = keys();
      if (made === undefined) return;
      const all = measured ? [...made] : made;
      measured?.begun(all);
      for (const key of all) this.#queue.add(key);
    } catch (error) {
      noteCaught(`event of ${of.resource}`, error);
      this.#deps.logger.error('event not turned into keys', {
        resource: of.resource,
        error: error instanceof Error ? error.stack : String(error),
      });
    }
  }
  async #synced(informers: readonly Informer<KubeObject>[]): Promise<void> {
    const { signal } = this.#abort;
    const filling = informers.filter((informer) => !informer.hasSynced());
    if (signal.aborted || filling.length === 0) return;
    let onAbort = (): void => {};
    const aborted = new Promise<void>((resolve) => {
      onAbort = resolve;
      signal.addEventListener('abort', onAbort, { once: true });
    });
    await Promise.race([Promise.all(filling.map((informer) => informer.whenSynced())), aborted]);
    signal.removeEventListener('abort', onAbort);
  }
  /** Asks what is served, watches what is new, and asks again later. A resource that cannot be listed is waited for one round only. */
  async #discover(): Promise<void> {
    const { discover } = this.#definition;
    const { signal } = this.#abort;
    const { clock, client, logger, informers } = this.#deps;
    if (!discover || signal.aborted) return;
    try {
      const ageMaxMs = discover.everyMs / 2;
      const { resources, failed } = await sharedDiscovery(informers, client.transport, clock.monotonic(), ageMaxMs);
      if (signal.aborted) return;
      const lost = new Set(failed.map(({ groupVersion }) => groupVersion));
      const kept = this.#cache.discovered().filter(({ group, version }) => lost.has(apiVersionOf(group, version)));
      const fresh = resources
        .filter((resource) => resource.preferred && !this.#cache.watched(resource))
        .flatMap((resource) => discover.watch(resource) ?? []);
      // What is discovered can be read, and all of it before the first event: key functions look across resources.
      for (const definition of fresh) this.#cache.add(definition);
      this.#cache.setDiscovered([...resources, ...kept]);
      for (const definition of fresh) this.#listen(definition);
      const filling = fresh.map(({ resource }) => this.#cache.informer(resource));
      const deadline = new AbortController();
      this.#filled = Promise.race([this.#synced(filling), clock.sleep(discover.everyMs, deadline.signal).catch(() => {})]).then(
        () => deadline.abort(),
      );
      await this.#filled;
    } catch (error) {
      logger.warn('discovery failed', { error: String(error) });
    }
    if (!signal.aborted) this.#timers.discover = clock.setTimer(discover.everyMs, () => void this.#discover());
  }
  #tick(): void {
    const { periodic } = this.#definition;
    if (!periodic || this.#abort.signal.aborted) return;
    this.#enqueue({ resource: 'periodic' }, () => periodic.keys(this.#cache));
    this.#timers.tick = this.#deps.clock.setTimer(periodic.everyMs, () => this.#tick());
  }
  #hire(): void {
    this.#idle++;
    this.#workers.push(this.#work());
  }
  /** The last worker that has nothing to do hires another before it begins: keys of most loops come one at a time, and few need all their workers. */
  async #work(): Promise<void> {
    const { concurrency = concurrencyDefault } = this.#definition;
    const workersMax = typeof concurrency === 'number' ? concurrency : concurrency.default;
    for (let key = await this.#queue.next(); key !== undefined; key = await this.#queue.next()) {
      this.#idle--;
      if (this.#idle === 0 && this.#workers.length < workersMax) this.#hire();
      try {
        await this.#filled;
        if (this.#held.mustWait(key)) continue;
        await this.#process(key).finally(() => this.#looked(key));
      } catch (error) {
        // A bug in a loop must not stop the others, nor spin.
        this.#deps.logger.error('reconcile failed', { key, error: error instanceof Error ? error.stack : String(error) });
        this.#queue.addRateLimited(key);
      } finally {
        this.#queue.done(key);
        this.#idle++;
      }
    }
  }
  #looked(key: string): void {
    for (const measured of this.#bursts) measured.done(key);
  }
  async #process(key: string): Promise<void> {
    const before = this.#failures.get(key);
    const plan = await this.#planner.plan(key, before && describe(before));
    this.#planner.remember(key, plan.remember);
    this.#explain(key, plan, before?.error.message ?? plan.failure);
    let { requeueAfterMs } = plan;
    const failed = await applyEffects(key, plan.effects, {
      ...this.#deps,
      writes: this.#writes,
      actions: this.#actions,
      signal: this.#abort.signal,
      remember: (memory) => this.#planner.remember(key, memory),
      requeueAfter(delayMs) {
        requeueAfterMs = Math.min(requeueAfterMs ?? delayMs, delayMs);
      },
    });
    const failure =
      failed ?? (plan.failure === undefined ? undefined : { op: 'action' as const, error: new Error(plan.failure) });
    if (before ?? failed) this.#explain(key, plan, failure?.error.message);
    this.#settle(key, plan, requeueAfterMs, failure);
  }
  /** Records a decision for `sagong explain`. It runs before the effects begin, so that no effect can be seen before its reason can be read. */
  #explain(key: string, plan: Plan, failure: string | undefined): void {
    if (plan.because === undefined) return;
    this.#deps.decisions?.record({
      controller: this.name,
      key,
      about: objectOf(this.#definition.for, key),
      atMs: this.#deps.clock.now(),
      because: plan.because,
      effects: plan.effects.map(short),
      ...(failure !== undefined && { failure }),
    });
  }
  #settle(key: string, { afterConflictMs }: Plan, requeueAfterMs: number | undefined, failure: Failure | undefined): void {
    if (failure) {
      this.#failures.set(key, failure);
      const report = isStale(failure.error) ? 'debug' : 'warn';
      this.#deps.logger[report]('effect failed', { key, op: failure.op, error: failure.error.message });
      if (afterConflictMs !== undefined && isConflict(failure.error)) this.#queue.addAfter(key, afterConflictMs);
      else this.#queue.addRateLimited(key);
      return;
    }
    this.#failures.delete(key);
    this.#queue.forget(key);
    if (requeueAfterMs !== undefined) this.#queue.addAfter(key, requeueAfterMs);
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
