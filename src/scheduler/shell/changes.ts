// What changed between two versions of a node or a pod, in the terms of queueing hints (upstream scheduler framework/events.go).
import type { Node, Pod } from '#api/core/v1';
import { podRequests } from '#component-helpers/pod';
import { deepEqual } from '#utils';
import type { EventAction } from '../framework/index.ts';

export function nodeChanges(old: Node, now: Node): EventAction[] {
  const changes: EventAction[] = [];
  if (!deepEqual(old.status?.allocatable, now.status?.allocatable)) changes.push('UpdateNodeAllocatable');
  if (!deepEqual(old.metadata.labels, now.metadata.labels)) changes.push('UpdateNodeLabel');
  const cordonChanged = (old.spec?.unschedulable ?? false) !== (now.spec?.unschedulable ?? false);
  if (cordonChanged || !deepEqual(old.spec?.taints, now.spec?.taints)) changes.push('UpdateNodeTaint');
  return changes;
}

function asksLess(old: Pod, now: Pod): boolean {
  if (old.spec === now.spec && old.status?.containerStatuses === now.status?.containerStatuses) return false;
  const after = podRequests(now, { useStatus: true });
  for (const [name, amount] of podRequests(old, { useStatus: true })) {
    const left = after.get(name);
    if (left === undefined || left.compare(amount) < 0) return true;
  }
  return false;
}

export function podChanges(old: Pod, now: Pod): EventAction[] {
  const changes: EventAction[] = [];
  if (!deepEqual(old.metadata.labels, now.metadata.labels)) changes.push('UpdatePodLabel');
  if (asksLess(old, now)) changes.push('UpdatePodScaleDown');
  if (old.spec?.schedulingGates?.length && !now.spec?.schedulingGates?.length) changes.push('UpdatePodSchedulingGatesEliminated');
  if (!deepEqual(old.spec?.tolerations, now.spec?.tolerations)) changes.push('UpdatePodToleration');
  if (!deepEqual(old.status?.resourceClaimStatuses, now.status?.resourceClaimStatuses))
    changes.push('UpdatePodGeneratedResourceClaim');
  return changes;
}
