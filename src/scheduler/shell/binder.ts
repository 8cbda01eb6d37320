// Carries out a decision: writes what plugins want written first, then binds the pod (upstream schedule_one.go bindingCycle).
import type { KubeClient } from '#client';
import { isNotFound, StatusError } from '#apimachinery/errors';
import type { Clock } from '#utils';
import type { BindEffect, ClusterView, PodInfo } from '../framework/index.ts';
import { pods } from './resources.ts';

/** Waits for a change of the cluster, at most `timeoutMs`. */
export type NextChange = (timeoutMs: number) => Promise<void>;

export interface BinderDeps {
  client: KubeClient;
  clock: Clock;
  view: ClusterView;
  nextChange: NextChange;
}

async function awaitEffect(
  effect: Extract<BindEffect, { kind: 'await' }>,
  { clock, view, nextChange }: BinderDeps,
): Promise<void> {
  const deadlineMs = clock.monotonic() + effect.timeoutMs;
  for (;;) {
    const done = effect.done(view);
    if (done === true) return;
    if (done !== false) throw new Error(done.reasons.join(', '));
    const leftMs = deadlineMs - clock.monotonic();
    if (leftMs <= 0) throw new Error(`timed out waiting for ${effect.describe}`);
    await nextChange(leftMs);
  }
}

async function carryOut(effect: BindEffect, deps: BinderDeps): Promise<void> {
  if (effect.kind === 'await') return awaitEffect(effect, deps);
  const resource = deps.client.resource(effect.resource, effect.object.metadata.namespace);
  await (effect.subresource === 'status' ? resource.updateStatus(effect.object) : resource.update(effect.object));
}

/** Rejects with the first error; what was written before stays, and is found by the next try. */
export async function bindPod(info: PodInfo, nodeName: string, effects: readonly BindEffect[], deps: BinderDeps): Promise<void> {
  for (const effect of effects) await carryOut(effect, deps);
  const { namespace, name = '', uid } = info.pod.metadata;
  await deps.client.resource(pods, namespace).createSubresource(name, 'binding', {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { namespace, name, uid },
    target: { kind: 'Node', name: nodeName },
  });
}

/** The pod is gone: nothing is left to do for it. */
export const isPodGone = (error: unknown): boolean => isNotFound(error);

export const errorText = (error: unknown): string =>
  error instanceof StatusError ? (error.status.message ?? String(error)) : error instanceof Error ? error.message : String(error);
