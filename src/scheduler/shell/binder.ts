// Carries out a decision: writes what plugins want written first, then binds the pod (upstream schedule_one.go bindingCycle).
import type { KubeClient } from '#client';
import { isNotFound, StatusError } from '#apimachinery/errors';
import { keyOf, type KubeObject } from '#apimachinery/meta';
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
  /** An object was written for the last time before its pod is bound. */
  onWritten?(effect: Write, written: KubeObject): void;
}

type Write = Extract<BindEffect, { kind: 'update' }>;

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

const objectKey = ({ resource, object }: Write): string => `${resource.resource}/${keyOf(object.metadata)}`;

/** Writes an object. `version` is what an earlier write of the same pod has made of it. */
export async function write(effect: Write, client: KubeClient, version?: string): Promise<KubeObject> {
  const { metadata } = effect.object;
  const object =
    version === undefined ? effect.object : { ...effect.object, metadata: { ...metadata, resourceVersion: version } };
  const resource = client.resource(effect.resource, metadata.namespace);
  return effect.subresource === 'status' ? resource.updateStatus(object) : resource.update(object);
}

async function carryOut(effects: readonly BindEffect[], deps: BinderDeps): Promise<void> {
  const versions = new Map<string, string | undefined>();
  for (const [index, effect] of effects.entries()) {
    if (effect.kind === 'await') {
      await awaitEffect(effect, deps);
      continue;
    }
    const key = objectKey(effect);
    const written = await write(effect, deps.client, versions.get(key));
    versions.set(key, written.metadata.resourceVersion);
    if (!effects.slice(index + 1).some((later) => later.kind === 'update' && objectKey(later) === key))
      deps.onWritten?.(effect, written);
  }
}

/** Rejects with the first error; what was written before stays, and is found by the next try. */
export async function bindPod(info: PodInfo, nodeName: string, effects: readonly BindEffect[], deps: BinderDeps): Promise<void> {
  await carryOut(effects, deps);
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
