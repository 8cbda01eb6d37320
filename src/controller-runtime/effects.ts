// Carries a plan out: the only place where control loops write.
import { isAlreadyExists, isConflict, isNotFound, StatusError } from '#apimachinery/errors';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import type { EventRecorder, KubeClient } from '#client';
import type { OwnWrites } from './own-writes.ts';
import type { Action, Effect, EffectEvents } from './types.ts';

export interface EffectDeps {
  client: KubeClient;
  recorder: EventRecorder;
  writes: OwnWrites;
  actions: ReadonlyMap<string, Action>;
  signal: AbortSignal;
  /** An action asks for another look. */
  requeueAfter(delayMs: number): void;
  /** An action saw something to remember. */
  remember(memory: unknown): void;
}

export interface Failure {
  op: Effect['op'];
  error: Error;
}

/** Runs the effects in order. Gives the first failure; later effects then run only if they are events or status writes. */
export async function applyEffects(key: string, effects: readonly Effect[], deps: EffectDeps): Promise<Failure | undefined> {
  let failure: Failure | undefined;
  for (const effect of effects) {
    if (failure && !isReport(effect)) continue;
    failure = (await applyOne(key, effect, deps)) ?? failure;
  }
  return failure;
}

const isReport = (effect: Effect): boolean =>
  (effect.op === 'event' || ('subresource' in effect && effect.subresource === 'status')) &&
  !('afterSuccess' in effect && effect.afterSuccess);

async function applyOne(key: string, effect: Effect, deps: EffectDeps): Promise<Failure | undefined> {
  if (effect.op === 'parallel') return applyParallel(key, effect.effects, deps);
  if (effect.op === 'action') return applyAction(key, effect, deps);
  try {
    const name = await perform(key, effect, deps);
    if ('events' in effect) announce(deps, effect.events, 'success', name);
    return undefined;
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    if ((effect.op === 'delete' || (effect.op === 'patch' && effect.goneIsDone)) && isNotFound(error)) return undefined;
    // A namespace that is going away takes no new objects; nothing to retry.
    if (effect.op === 'create' && isNamespaceTerminating(error)) return undefined;
    if ('events' in effect && !isConflict(error)) announce(deps, effect.events, 'failure', '', error.message);
    return { op: effect.op, error };
  }
}

async function applyAction(
  key: string,
  { op, name, input }: Extract<Effect, { op: 'action' }>,
  deps: EffectDeps,
): Promise<Failure | undefined> {
  try {
    const action = deps.actions.get(name);
    if (!action) throw new Error(`no action named ${name}`);
    const plan = await action(input, deps.signal);
    if (plan?.requeueAfterMs !== undefined) deps.requeueAfter(plan.requeueAfterMs);
    if (plan?.remember !== undefined) deps.remember(plan.remember);
    const failure = plan && (await applyEffects(key, plan.effects, deps));
    return failure ?? (plan?.failure === undefined ? undefined : { op, error: new Error(plan.failure) });
  } catch (thrown) {
    return { op, error: thrown instanceof Error ? thrown : new Error(String(thrown)) };
  }
}

/** Slow start: one, then two, four, ... at a time, so that a systematic failure costs few requests. */
async function applyParallel(key: string, effects: readonly Effect[], deps: EffectDeps): Promise<Failure | undefined> {
  let size = 1;
  for (let from = 0; from < effects.length; from += size, size *= 2) {
    const failures = await Promise.all(effects.slice(from, from + size).map((effect) => applyOne(key, effect, deps)));
    const failure = failures.find((one) => one !== undefined);
    if (failure) return failure;
  }
  return undefined;
}

/** Performs one write; gives the name of what was written. */
async function perform(
  key: string,
  effect: Exclude<Effect, { op: 'parallel' | 'action' }>,
  { client, writes, recorder }: EffectDeps,
): Promise<string> {
  const on = (resource: GroupVersionResource, namespace: string | undefined) =>
    client.resource<KubeObject>(resource, namespace || undefined);
  switch (effect.op) {
    case 'create': {
      const { resource, object, subresource, name } = effect;
      const target = on(resource, object.metadata.namespace);
      if (subresource) {
        await target.createSubresource(name ?? object.metadata.name ?? '', subresource, object);
        return name ?? '';
      }
      const created = await target.create(object);
      writes.wrote(key, resource, created);
      return created.metadata.name ?? '';
    }
    case 'update': {
      const target = on(effect.resource, effect.object.metadata.namespace);
      const updated = effect.subresource === 'status' ? await target.updateStatus(effect.object) : await update(client, effect);
      writes.wrote(key, effect.resource, updated);
      return updated.metadata.name ?? '';
    }
    case 'patch': {
      const { ref, type, body, subresource, force, fieldManager } = effect;
      const options = { ...(subresource && { subresource }), ...(force && { force }), ...(fieldManager && { fieldManager }) };
      writes.wrote(key, ref.resource, await on(ref.resource, ref.namespace).patch(ref.name, type, body, options));
      return ref.name;
    }
    case 'delete': {
      const { ref, options } = effect;
      const uid = writes.uidOf(ref.resource, ref.namespace, ref.name);
      await on(ref.resource, ref.namespace).delete(ref.name, options);
      if (uid) writes.deleted(key, ref.resource, ref.namespace, ref.name, uid);
      return ref.name;
    }
    case 'event':
      recorder.event(effect.regarding, effect.type, effect.reason, effect.message);
      return '';
  }
}

function update(client: KubeClient, { resource, object, subresource }: Extract<Effect, { op: 'update' }>): Promise<KubeObject> {
  const { namespace, name = '' } = object.metadata;
  return client.transport.call<KubeObject>({
    ...resource,
    verb: 'update',
    namespace,
    name,
    object,
    ...(subresource && { subresource }),
  });
}

function announce(
  deps: EffectDeps,
  events: EffectEvents | undefined,
  outcome: 'success' | 'failure',
  name: string,
  error = '',
): void {
  const event: EffectEvents['success'] = events?.[outcome];
  if (!events || !event) return;
  const message = event.message.replaceAll('{name}', () => name).replaceAll('{error}', () => error);
  const type = outcome === 'failure' ? 'Warning' : (event.type ?? 'Normal');
  deps.recorder.event(events.regarding, type, event.reason, message);
}

const isNamespaceTerminating = (error: Error): boolean =>
  error instanceof StatusError && (error.status.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating');

/** Failures that only say the view was stale: tried again without a word. */
export const isStale = (error: Error): boolean => isConflict(error) || isAlreadyExists(error) || isNotFound(error);
