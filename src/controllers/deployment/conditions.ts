// Conditions and counts of a Deployment's status (pkg/controller/deployment progress.go, calculateStatus).
import type { DeploymentCondition, DeploymentStatus, ReplicaSetCondition } from '#api/apps/v1';
import { formatTime } from '#apimachinery/meta';
import { conditionOf, setCondition, withoutCondition } from '#component-helpers/workload';
import { noLimit, reasons } from './names.ts';
import {
  actualReplicas,
  allDrafts,
  availableReplicas,
  type Draft,
  progressingOf,
  type Rollout,
  specReplicas,
  sum,
} from './rollout.ts';

export const hasProgressDeadline = ({ spec }: Rollout): boolean =>
  spec.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== noLimit;

function put(status: DeploymentStatus, condition: DeploymentCondition): void {
  const current = conditionOf(status.conditions, condition.type);
  const kept = current?.status === condition.status ? current.lastTransitionTime : condition.lastTransitionTime;
  status.conditions = setCondition(status.conditions, { ...condition, lastTransitionTime: kept });
}

const condition = (now: number, type: string, status: string, reason: string, message: string): DeploymentCondition => ({
  type,
  status,
  lastUpdateTime: formatTime(now),
  lastTransitionTime: formatTime(now),
  reason,
  message,
});

/** Sets the condition Progressing of the working copy. */
export function progress(rollout: Rollout, status: string, reason: string, message: string): void {
  put(rollout.status, condition(rollout.now, 'Progressing', status, reason, message));
}

/** Notes a pause or its end. */
export function notePause(rollout: Rollout): void {
  if (!hasProgressDeadline(rollout)) return;
  const reason = progressingOf(rollout.status)?.reason;
  if (reason === reasons.timedOut) return;
  if (rollout.spec.paused && reason !== reasons.paused) progress(rollout, 'Unknown', reasons.paused, 'Deployment is paused');
  if (!rollout.spec.paused && reason === reasons.paused) progress(rollout, 'Unknown', reasons.resumed, 'Deployment is resumed');
}

function terminatingReplicas(drafts: readonly Draft[]): number | undefined {
  let total = 0;
  for (const { source } of drafts) {
    const count = source.status?.terminatingReplicas;
    if (count === undefined && (source.status?.observedGeneration ?? 0) !== 0) return undefined;
    total += count ?? 0;
  }
  return total;
}

/** Counts of the ReplicaSets, and whether enough pods are available. */
export function countedStatus(rollout: Rollout): DeploymentStatus {
  const drafts = allDrafts(rollout);
  const available = sum(drafts, availableReplicas);
  const status: DeploymentStatus = {
    observedGeneration: rollout.deployment.metadata.generation,
    replicas: sum(drafts, actualReplicas),
    updatedReplicas: rollout.newest ? actualReplicas(rollout.newest) : 0,
    readyReplicas: sum(drafts, ({ source }) => source.status?.readyReplicas ?? 0),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sum(drafts, specReplicas) - available),
    terminatingReplicas: terminatingReplicas(drafts),
    collisionCount: rollout.status.collisionCount,
    conditions: rollout.status.conditions,
  };
  const enough = available >= rollout.replicas - rollout.maxUnavailable;
  put(
    status,
    enough
      ? condition(rollout.now, 'Available', 'True', reasons.minimumAvailable, 'Deployment has minimum availability.')
      : condition(
          rollout.now,
          'Available',
          'False',
          reasons.minimumUnavailable,
          'Deployment does not have minimum availability.',
        ),
  );
  return status;
}

export const isComplete = ({ replicas, deployment }: Rollout, status: DeploymentStatus): boolean =>
  (status.updatedReplicas ?? 0) === replicas &&
  (status.replicas ?? 0) === replicas &&
  (status.availableReplicas ?? 0) === replicas &&
  (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0);

function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const grew = (name: 'updatedReplicas' | 'readyReplicas' | 'availableReplicas'): boolean =>
    (after[name] ?? 0) > (before[name] ?? 0);
  const old = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus): number => replicas - updatedReplicas;
  return grew('updatedReplicas') || old(after) < old(before) || grew('readyReplicas') || grew('availableReplicas');
}

const deadlineMs = ({ spec }: Rollout, current: DeploymentCondition): number =>
  Date.parse(current.lastUpdateTime ?? '') + (spec.progressDeadlineSeconds ?? 0) * 1000;

function isTimedOut(rollout: Rollout, current: DeploymentCondition | undefined): boolean {
  if (!current || current.reason === reasons.available) return false;
  return current.reason === reasons.timedOut || deadlineMs(rollout, current) < rollout.now;
}

/** The status during a rollout: counts, and how it is getting on. */
export function rolloutStatus(rollout: Rollout): DeploymentStatus {
  const status = countedStatus(rollout);
  const before = rollout.status;
  const current = progressingOf(before);
  const done = (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && current?.reason === reasons.available;
  if (!hasProgressDeadline(rollout)) status.conditions = withoutCondition(status.conditions, 'Progressing');
  else if (!done) judgeProgress(rollout, status, before, current);
  const failure = replicaFailure(rollout);
  if (failure) put(status, failure);
  else status.conditions = withoutCondition(status.conditions, 'ReplicaFailure');
  return status;
}

function judgeProgress(
  rollout: Rollout,
  status: DeploymentStatus,
  before: DeploymentStatus,
  current: DeploymentCondition | undefined,
): void {
  const name = JSON.stringify(rollout.newest?.source.metadata.name ?? rollout.deployment.metadata.name);
  const subject = `${rollout.newest ? 'ReplicaSet' : 'Deployment'} ${name}`;
  const say = (value: string, reason: string, message: string) =>
    condition(rollout.now, 'Progressing', value, reason, `${subject} ${message}`);
  if (isComplete(rollout, status)) put(status, say('True', reasons.available, 'has successfully progressed.'));
  else if (hasProgressed(before, status)) {
    const next = say('True', reasons.updated, 'is progressing.');
    const lastTransitionTime = current?.status === 'True' ? current.lastTransitionTime : next.lastTransitionTime;
    // Written anew each time, so that the deadline counts from the last progress.
    status.conditions = [...withoutCondition(status.conditions, 'Progressing'), { ...next, lastTransitionTime }];
  } else if (isTimedOut(rollout, current)) put(status, say('False', reasons.timedOut, 'has timed out progressing.'));
}

function replicaFailure(rollout: Rollout): DeploymentCondition | undefined {
  const drafts = rollout.newest ? [rollout.newest, ...rollout.older] : rollout.older;
  for (const { source } of drafts) {
    const found = source.status?.conditions?.find(({ type }) => type === 'ReplicaFailure');
    if (found) return fromReplicaSet(found);
  }
  return undefined;
}

const fromReplicaSet = (found: ReplicaSetCondition): DeploymentCondition => ({
  ...found,
  lastUpdateTime: found.lastTransitionTime,
});

const settledReasons: readonly (string | undefined)[] = [reasons.timedOut, reasons.available, reasons.paused];

/** When to look whether the rollout is stuck; undefined when nothing is under way. */
export function progressCheckMs(rollout: Rollout, status: DeploymentStatus): number | undefined {
  const current = progressingOf(status);
  if (!hasProgressDeadline(rollout) || !current || isComplete(rollout, status)) return undefined;
  if (settledReasons.includes(current.reason)) return undefined;
  return Math.max(0, deadlineMs(rollout, current) - rollout.now) + 1000;
}
