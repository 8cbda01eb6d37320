// A change of the Deployment's size (or any work while it is paused): sizes follow in proportion, without moving the rollout on
// (pkg/controller/deployment/sync.go scale; GetReplicaSetProportion).
import { desiredReplicasAnnotation, maxReplicasAnnotation, noLimit } from './names.ts';
import { byRevision } from './new-replica-set.ts';
import {
  allDrafts,
  annotatedCount,
  availableReplicas,
  byCreation,
  type Draft,
  isActive,
  isRollingUpdate,
  resize,
  type Rollout,
  specReplicas,
  sum,
} from './rollout.ts';

/** Whether the size changed since the ReplicaSets were last resized. */
export const isScaling = (rollout: Rollout): boolean =>
  allDrafts(rollout)
    .filter(isActive)
    .some((draft) => (annotatedCount(draft, desiredReplicasAnnotation) ?? rollout.replicas) !== rollout.replicas);

export function scale(rollout: Rollout): void {
  const { replicas, newest, spec } = rollout;
  const only = activeOrLatest(rollout);
  if (only) {
    if (only.replicas !== replicas) {
      rollout.told.push(`it is resized from ${only.replicas} to ${replicas} pods`);
      resize(rollout, only, replicas);
    }
    return;
  }
  if (newest && isSaturated(rollout, newest)) {
    for (const draft of rollout.older.filter(isActive)) resize(rollout, draft, 0);
    return;
  }
  if (isRollingUpdate(spec)) spread(rollout);
}

/** The one ReplicaSet with pods, or the latest when none has any; undefined when several have. */
function activeOrLatest(rollout: Rollout): Draft | undefined {
  const active = allDrafts(rollout).filter(isActive);
  if (active.length > 1) return undefined;
  return active[0] ?? rollout.newest ?? [...rollout.older].sort(byCreation).at(-1);
}

const isSaturated = ({ replicas }: Rollout, newest: Draft): boolean =>
  newest.replicas === replicas &&
  annotatedCount(newest, desiredReplicasAnnotation) === replicas &&
  availableReplicas(newest) === replicas;

/** Shares the difference among the ReplicaSets by their size; the largest takes what rounding leaves. */
function spread(rollout: Rollout): void {
  const drafts = allDrafts(rollout).filter(isActive);
  const allowed = rollout.replicas > 0 ? rollout.replicas + rollout.maxSurge : 0;
  const change = allowed - sum(drafts, specReplicas);
  const newerFirst = change > 0 ? -1 : 1;
  if (change !== 0) drafts.sort((a, b) => b.replicas - a.replicas || newerFirst * byCreation(a, b));
  let spent = 0;
  const sizes = drafts.map((draft) => {
    const part = proportion(rollout, draft, change, spent);
    spent += part;
    return draft.replicas + part;
  });
  const [largest] = sizes;
  if (largest !== undefined && change !== 0) sizes[0] = Math.max(0, largest + change - spent);
  rollout.told.push('its size changed in the middle of a rollout, so its ReplicaSets change in proportion');
  drafts.forEach((draft, index) => resize(rollout, draft, sizes[index] ?? draft.replicas));
}

function proportion(rollout: Rollout, draft: Draft, change: number, spent: number): number {
  const left = change - spent;
  if (draft.replicas === 0 || left === 0) return 0;
  const part = fraction(rollout, draft);
  return change > 0 ? Math.min(part, left) : Math.max(part, left);
}

function fraction({ replicas, maxSurge, status }: Rollout, draft: Draft): number {
  if (replicas === 0) return -draft.replicas;
  const before = annotatedCount(draft, maxReplicasAnnotation) || (status.replicas ?? 0);
  if (before === 0) return 0;
  return Math.round((draft.replicas * (replicas + maxSurge)) / before) - draft.replicas;
}

/** Old ReplicaSets without pods, beyond `revisionHistoryLimit`, go; lowest revision first. */
export function cleanUp(rollout: Rollout): void {
  const { revisionHistoryLimit = noLimit } = rollout.spec;
  if (revisionHistoryLimit === noLimit) return;
  const alive = rollout.older.filter(({ source }) => source.metadata.deletionTimestamp === undefined);
  alive.sort((a, b) => byRevision(a, b) || byCreation(a, b));
  for (const draft of alive.slice(0, Math.max(0, alive.length - revisionHistoryLimit))) {
    const { status, metadata } = draft.source;
    const settled = (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0);
    if (draft.replicas === 0 && (status?.replicas ?? 0) === 0 && settled) rollout.doomed.push(draft);
  }
}
