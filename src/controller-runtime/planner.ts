// From a key to its plan: the loop decides over a view of the cache, and where it says that it must know more (objects as they are in the apiserver now,
// answers of others), that is asked and it decides again.
import { isNotFound } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import type { KubeClient } from '#client';
import { noteCaught } from '#component-base';
import type { Clock } from '#utils';
import type { InformerCache } from './cache.ts';
import { liveRoundsMax } from './limits.ts';
import {
  type Answer,
  type Asker,
  type ControllerDefinition,
  type Plan,
  type Question,
  questionKey,
  type Ref,
  refKey,
  type ViewContext,
} from './types.ts';

export interface PlannerDeps {
  client: KubeClient;
  clock: Clock;
  cache: InformerCache;
  /** What answers questions, by name. */
  askers: ReadonlyMap<string, Asker>;
  /** Ends with the loop. */
  signal: AbortSignal;
}

export class Planner<View> {
  readonly #definition: ControllerDefinition<View>;
  readonly #deps: PlannerDeps;
  readonly #memory = new Map<string, unknown>();

  constructor(definition: ControllerDefinition<View>, deps: PlannerDeps) {
    this.#definition = definition;
    this.#deps = deps;
  }

  /** What the next view of this key shows as its memory; undefined and null: nothing. */
  remember(key: string, memory: unknown): void {
    if (memory === undefined || memory === null) this.#memory.delete(key);
    else this.#memory.set(key, memory);
  }

  /** Rejects when an object cannot be read, when the loop throws, and when it asks for more again and again. */
  async plan(key: string, lastFailure: ViewContext['lastFailure']): Promise<Plan> {
    const live = new Map<string, KubeObject | undefined>();
    const answers = new Map<string, Answer>();
    const context: ViewContext = {
      live,
      answers,
      memory: this.#memory.get(key),
      monotonicMs: this.#deps.clock.monotonic(),
      ...(lastFailure && { lastFailure }),
    };
    for (let round = 0; round < liveRoundsMax; round++) {
      const plan = this.#decide(key, context);
      const missing = (plan.needsLive ?? []).filter((ref) => !live.has(refKey(ref)));
      const unasked = (plan.needsAnswers ?? []).filter((question) => !answers.has(questionKey(question)));
      if (missing.length === 0 && unasked.length === 0) return plan;
      await Promise.all([
        ...missing.map(async (ref) => live.set(refKey(ref), await this.#read(ref))),
        ...unasked.map(async (question) => answers.set(questionKey(question), await this.#ask(question))),
      ]);
    }
    throw new Error(`${this.#definition.name} asked for live reads more than ${liveRoundsMax} times for ${key}`);
  }

  #decide(key: string, context: ViewContext): Plan {
    const { cache, clock } = this.#deps;
    try {
      return this.#definition.reconcile(this.#definition.view(key, cache, context), clock.now());
    } catch (error) {
      noteCaught(`reconcile of ${key}`, error);
      throw error;
    }
  }

  async #read({ resource: { group, version, resource }, namespace, name, subresource }: Ref): Promise<KubeObject | undefined> {
    const optional = { ...(namespace && { namespace }), ...(subresource && { subresource }) };
    try {
      return await this.#deps.client.transport.call<KubeObject>({ verb: 'get', group, version, resource, name, ...optional });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #ask({ name, input }: Question): Promise<Answer> {
    const { askers, signal } = this.#deps;
    try {
      const asker = askers.get(name);
      if (!asker) throw new Error(`nobody answers ${name}`);
      return { value: await asker(input, signal) };
    } catch (thrown) {
      return { error: thrown instanceof Error ? thrown : new Error(String(thrown)) };
    }
  }
}
