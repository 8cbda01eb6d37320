// Small patches. `metadata.uid` in a body is a precondition: the patch is refused for another object of the same name;
// `metadata.resourceVersion` one against any write in between, for lists that are replaced whole.
import type { Pod, PodCondition } from '#api/core/v1';
import { findCondition } from '#component-helpers/pod';
import { formatTime, type GroupVersionResource, type KubeObject } from '#apimachinery/meta';
import type { Effect, Ref } from '../types.ts';
import { pods } from './resources.ts';

export const refOf = (resource: GroupVersionResource, { metadata }: KubeObject): Ref => ({
  resource,
  namespace: metadata.namespace ?? '',
  name: metadata.name ?? '',
});

type Patch = Extract<Effect, { op: 'patch' }>;

/** A JSON merge patch: objects are merged, lists replaced, null removes. */
export const mergePatch = (
  resource: GroupVersionResource,
  object: KubeObject,
  body: Record<string, unknown>,
  more: Pick<Patch, 'subresource' | 'events'> = {},
): Patch => ({ op: 'patch', ref: refOf(resource, object), type: 'application/merge-patch+json', body, ...more });

/** The effect that takes a finalizer off an object, unless the object has changed meanwhile. */
export const withoutFinalizer = (resource: GroupVersionResource, object: KubeObject, finalizer: string): Patch =>
  mergePatch(resource, object, {
    metadata: {
      uid: object.metadata.uid,
      resourceVersion: object.metadata.resourceVersion,
      finalizers: (object.metadata.finalizers ?? []).filter((one) => one !== finalizer),
    },
  });

/** Writes pod status fields and one condition, merged by type. */
export function patchPodStatus(
  pod: Pod,
  now: number,
  condition: PodCondition | undefined,
  fields: Record<string, unknown> = {},
): Patch {
  const old = condition && findCondition(pod.status?.conditions, condition.type);
  const changed = condition && {
    ...condition,
    lastProbeTime: null,
    lastTransitionTime: old?.status === condition.status && old.lastTransitionTime ? old.lastTransitionTime : formatTime(now),
  };
  return {
    op: 'patch',
    ref: refOf(pods, pod),
    type: 'application/strategic-merge-patch+json',
    subresource: 'status',
    body: { metadata: { uid: pod.metadata.uid }, status: { ...fields, ...(changed && { conditions: [changed] }) } },
  };
}

/** Whether the pod's conditions already say this. */
export const saysCondition = (pod: Pod, condition: PodCondition): boolean => {
  const old = findCondition(pod.status?.conditions, condition.type);
  return old?.status === condition.status && old.reason === condition.reason && old.message === condition.message;
};
