// What a StatefulSet does next (pkg/controller/statefulset). Pure.
import type { ControllerRevision, StatefulSet, StatefulSetStatus } from '#api/apps/v1';
import type { Pod } from '#api/core/v1';
import { isPodAvailable, isPodReady, untilAvailableMs } from '#component-helpers/workload';
import type { Effect, Plan, ViewContext } from '#controller-runtime';
import { claimChildren, controllerRevisions, pods as podResource, statefulSets, typed } from '#controller-runtime/workload';
import { deepEqual } from '#utils';
import type { Claims } from './claims.ts';
import { ordinalOf, replicasOf, statefulSetKind } from './kind.ts';
import { manageSet, type SetState, type SetWork } from './manage.ts';
import { revisionOfPod } from './pods.ts';
import { revisionsOf, truncate } from './revisions.ts';

export interface StatefulSetView {
  /** Undefined: it is gone. */
  set: StatefulSet | undefined;
  /** Its own, and the orphans of its namespace. */
  pods: readonly Pod[];
  revisions: readonly ControllerRevision[];
  /** The ControllerRevision that already has the name of the next revision; undefined when the name is free. */
  holder: ControllerRevision | undefined;
  /** Claims that its pods have or will have. */
  claims: Claims;
  context: ViewContext;
}

export function reconcile({ set: cached, pods, revisions, holder, claims, context }: StatefulSetView, now: number): Plan {
  if (!cached?.spec) return { effects: [] };
  const set = typed(cached, 'apps/v1', 'StatefulSet');
  const { spec } = cached;
  const selector = statefulSetKind.selector(set);
  const shared = { owner: set, kind: statefulSetKind, live: context.live };
  const claimedPods = claimChildren({
    ...shared,
    children: pods,
    resource: podResource,
    selects: (pod) => selector.matches(pod.metadata.labels) && ordinalOf(set, pod) !== undefined,
  });
  const claimedRevisions = claimChildren({ ...shared, children: revisions, resource: controllerRevisions });
  const needsLive = [...claimedPods.needsLive, ...claimedRevisions.needsLive];
  if (needsLive.length > 0) return { effects: [], needsLive };
  const adopted = [...claimedRevisions.effects, ...claimedPods.effects];
  const history = revisionsOf(set, spec, claimedRevisions.children, holder);
  if (!history)
    return {
      effects: [...adopted, collision(set)],
      because: 'The name of its next revision is taken, so another hash is tried.',
    };
  const state: SetState = { set, spec, pods: claimedPods.children, claims, revisions: history, now };
  const leaving = set.metadata.deletionTimestamp !== undefined;
  const work: SetWork = leaving ? { effects: [], updated: 0, told: 'it is being deleted' } : manageSet(state);
  const waits = [work.waitMs, ...state.pods.map((pod) => untilAvailableMs(pod, spec.minReadySeconds ?? 0, now))].filter(
    (wait) => wait !== undefined,
  );
  return {
    effects: [
      ...adopted,
      ...history.effects,
      ...work.effects,
      ...statusEffects(state, work.updated),
      ...truncate(spec, claimedRevisions.children, history, state.pods),
    ],
    ...(waits.length > 0 && { requeueAfterMs: Math.min(...waits) }),
    because: `StatefulSet ${set.metadata.name ?? ''} wants ${replicasOf(spec)} pods: ${work.told || 'nothing to do'}.`,
  };
}

function collision(set: StatefulSet): Effect {
  const status: StatefulSetStatus = { replicas: 0, ...set.status, collisionCount: (set.status?.collisionCount ?? 0) + 1 };
  const object: StatefulSet = { ...set, status };
  return { op: 'update', resource: statefulSets, object, subresource: 'status' };
}

function statusOf({ set, spec, pods, revisions, now }: SetState, updated: number): StatefulSetStatus {
  const created = pods.filter(({ status }) => status?.phase);
  const present = created.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isPodReady(pod));
  const ofRevision = (name: string | undefined): number => present.filter((pod) => revisionOfPod(pod) === name).length;
  const status: StatefulSetStatus = {
    observedGeneration: set.metadata.generation,
    replicas: created.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isPodAvailable(pod, spec.minReadySeconds ?? 0, now)).length,
    currentReplicas: ofRevision(revisions.current.metadata.name) - updated,
    updatedReplicas: ofRevision(revisions.update.metadata.name),
    currentRevision: revisions.current.metadata.name,
    updateRevision: revisions.update.metadata.name,
    collisionCount: set.status?.collisionCount ?? 0,
  };
  const wanted = replicasOf(spec);
  const done = [status.updatedReplicas, status.readyReplicas, status.replicas].every((count) => count === wanted);
  if (done && spec.updateStrategy?.type === 'RollingUpdate') {
    status.currentReplicas = status.updatedReplicas;
    status.currentRevision = status.updateRevision;
  }
  return status;
}

/** The status as it is stored: counts of zero are left out, except for those that upstream always writes. */
function compact({
  readyReplicas,
  currentReplicas,
  updatedReplicas,
  observedGeneration,
  ...kept
}: StatefulSetStatus): StatefulSetStatus {
  return {
    ...kept,
    ...(observedGeneration && { observedGeneration }),
    ...(readyReplicas && { readyReplicas }),
    ...(currentReplicas && currentReplicas > 0 && { currentReplicas }),
    ...(updatedReplicas && { updatedReplicas }),
  };
}

function statusEffects(state: SetState, updated: number): Effect[] {
  const { set } = state;
  const conditions = set.status?.conditions;
  const status = compact({ ...statusOf(state, updated), ...(conditions && { conditions }) });
  if (deepEqual(compact({ replicas: 0, availableReplicas: 0, ...set.status }), status)) return [];
  const object: StatefulSet = { ...set, status };
  return [{ op: 'update', resource: statefulSets, object, subresource: 'status' }];
}
