// Tells in a pod's status why it is not scheduled, and which node it is nominated to (upstream schedule_one.go updatePod).
import type { Pod, PodCondition } from '#api/core/v1';
import { formatTime } from '#apimachinery/meta';
import type { KubeClient } from '#client';
import { findCondition } from '#component-helpers/pod';
import { pods } from './resources.ts';

export interface PodStatusChange {
  condition?: Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>;
  /** '' takes the nomination back. */
  nominatedNodeName?: string;
}

/** The patch with what differs in the status; undefined when nothing does. */
export function statusPatch(pod: Pod, { condition, nominatedNodeName }: PodStatusChange, nowMs: number): object | undefined {
  const known = condition && findCondition(pod.status?.conditions, condition.type);
  const { generation } = pod.metadata;
  const same =
    known !== undefined &&
    known.status === condition?.status &&
    (known.reason ?? '') === (condition?.reason ?? '') &&
    (known.message ?? '') === (condition?.message ?? '');
  const nominationChanged = nominatedNodeName !== undefined && nominatedNodeName !== (pod.status?.nominatedNodeName ?? '');
  if ((condition === undefined || same) && !nominationChanged) return undefined;
  const lastTransitionTime = known?.status === condition?.status ? known?.lastTransitionTime : undefined;
  const conditions = condition !== undefined &&
    !same && [
      {
        ...condition,
        lastProbeTime: null,
        lastTransitionTime: lastTransitionTime ?? formatTime(nowMs),
        ...(generation !== undefined && { observedGeneration: generation }),
      },
    ];
  return {
    status: { ...(conditions && { conditions }), ...(nominationChanged && { nominatedNodeName: nominatedNodeName || null }) },
  };
}

/** Writes a change of a pod's status. Rejects with the StatusError of the apiserver. */
export async function patchPodStatus(client: KubeClient, pod: Pod, change: PodStatusChange, nowMs: number): Promise<void> {
  const body = statusPatch(pod, change, nowMs);
  if (body === undefined) return;
  const { namespace, name = '', uid } = pod.metadata;
  const guarded = { metadata: { uid }, ...body };
  await client
    .resource(pods, namespace)
    .patch(name, 'application/strategic-merge-patch+json', guarded, { subresource: 'status' });
}
