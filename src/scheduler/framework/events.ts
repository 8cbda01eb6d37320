// What happens in the cluster, as far as it may make a waiting pod schedulable (upstream scheduler framework ClusterEvent, KEP-4247).
import type { KubeObject } from '#apimachinery/meta';
import type { PodInfo } from './pod-info.ts';
import type { ClusterView, ViewKind } from './view.ts';

export type EventResource = 'Node' | 'Pod' | ViewKind;

export type EventAction =
  | 'Add'
  | 'Delete'
  | 'Update'
  | 'UpdateNodeAllocatable'
  | 'UpdateNodeLabel'
  | 'UpdateNodeTaint'
  | 'UpdatePodLabel'
  | 'UpdatePodScaleDown'
  | 'UpdatePodToleration'
  | 'UpdatePodSchedulingGatesEliminated'
  | 'UpdatePodGeneratedResourceClaim';

/** `old` without `now` is a deletion, `now` without `old` an addition. */
export interface ClusterEvent<T extends KubeObject = KubeObject> {
  readonly resource: EventResource;
  readonly actions: readonly EventAction[];
  readonly old?: T;
  readonly now?: T;
}

/** Which events may help a pod that the plugin turned away. Without `helps` each of them may. */
export interface EventInterest {
  readonly resource: EventResource;
  readonly actions: readonly EventAction[];
  helps?(pod: PodInfo, event: ClusterEvent, view: ClusterView): boolean;
}

export const interest = <T extends KubeObject>(
  resource: EventResource,
  actions: readonly EventAction[],
  helps?: (pod: PodInfo, event: ClusterEvent<T>, view: ClusterView) => boolean,
): EventInterest => ({ resource, actions, ...(helps && { helps: helps as EventInterest['helps'] }) });
