// How pods move from old ReplicaSets to the newest one (pkg/controller/deployment rolling.go, recreate.go).
import type { Pod } from '#api/core/v1';
import { newReplicas } from './new-replica-set.ts';
import {
  actualReplicas,
  allDrafts,
  availableReplicas,
  byCreation,
  isActive,
  resize,
  type Rollout,
  specReplicas,
  sum,
} from './rollout.ts';

/** One step of a rolling update; whether anything changed size. */
export function rollingStep(rollout: Rollout): boolean {
  return growNewest(rollout) || shrinkOlder(rollout);
}

function growNewest(rollout: Rollout): boolean {
  const { newest, replicas } = rollout;
  if (!newest || newest.replicas === replicas) return false;
  const size = newest.replicas > replicas ? replicas : newReplicas(rollout, newest.replicas);
  if (size === newest.replicas) return false;
  rollout.told.push(`its new ReplicaSet goes from ${newest.replicas} to ${size} pods`);
  return resize(rollout, newest, size);
}

function shrinkOlder(rollout: Rollout): boolean {
  const { newest, replicas, maxUnavailable } = rollout;
  const older = rollout.older.filter(isActive).sort(byCreation);
  if (older.length === 0) return false;
  const needed = replicas - maxUnavailable;
  const newUnavailable = newest ? newest.replicas - availableReplicas(newest) : 0;
  const mayGo = sum(allDrafts(rollout), specReplicas) - needed - newUnavailable;
  if (mayGo <= 0) {
    rollout.told.push('it waits for new pods to become available before old ones go');
    return false;
  }
  const unhealthy = take(mayGo, older, rollout, ({ replicas: size }, available) => size - available);
  const spare = sum(allDrafts(rollout), availableReplicas) - needed;
  const healthy = take(spare, older, rollout, ({ replicas: size }) => size);
  if (unhealthy + healthy > 0) rollout.told.push(`${unhealthy + healthy} pods of old ReplicaSets go`);
  return unhealthy + healthy > 0;
}

type Drafts = Rollout['older'];

/** Takes up to `count` pods from `drafts` in order, from each at most what `share` says; gives how many it took. */
function take(
  count: number,
  drafts: Drafts,
  rollout: Rollout,
  share: (draft: Drafts[number], available: number) => number,
): number {
  let taken = 0;
  for (const draft of drafts) {
    if (taken >= count) break;
    if (draft.replicas === 0) continue;
    const part = Math.min(count - taken, share(draft, availableReplicas(draft)));
    if (part <= 0) continue;
    resize(rollout, draft, draft.replicas - part);
    taken += part;
  }
  return taken;
}

/** Recreate: all old pods go first. Whether they are gone. */
export function oldPodsAreGone(rollout: Rollout, pods: ReadonlyMap<string, readonly Pod[]>): boolean {
  const running = rollout.older.filter(isActive);
  for (const draft of running) resize(rollout, draft, 0);
  if (running.length > 0) {
    rollout.told.push('its strategy is Recreate, so all old pods go first');
    return false;
  }
  if (sum(rollout.older, actualReplicas) > 0) return false;
  const newest = rollout.newest?.source.metadata.uid;
  for (const [owner, owned] of pods) {
    if (owner !== newest && owned.some(({ status }) => status?.phase !== 'Failed' && status?.phase !== 'Succeeded')) return false;
  }
  return true;
}

/** Gives the newest ReplicaSet all replicas at once, for Recreate. */
export function fillNewest(rollout: Rollout): void {
  const { newest, replicas } = rollout;
  if (newest && newest.replicas !== replicas) resize(rollout, newest, replicas);
}
