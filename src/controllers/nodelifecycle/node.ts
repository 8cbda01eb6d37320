// What follows at once from one node's state: NoSchedule taints, labels under their older names, pods that cannot be ready on a silent
// node. Pure.
import type { Node, Pod } from '#api/core/v1';
import type { Effect, Plan } from '#controller-runtime';
import { mergePatch, nodes as nodeResource, patchPodStatus } from '#controller-runtime/platform';
import { readyCondition, scheduleTaints } from './taints.ts';

/** Label, and the older label that must say the same. */
const sameLabels: readonly [string, string][] = [
  ['kubernetes.io/os', 'beta.kubernetes.io/os'],
  ['kubernetes.io/arch', 'beta.kubernetes.io/arch'],
];

export interface NodeView {
  node: Node | undefined;
  /** The pods of a node whose kubelet is silent. */
  pods: readonly Pod[];
}

/** Whether the kubelet is known to be silent: then nobody else writes the status of its pods. */
export const isSilent = (node: Node | undefined): boolean => node !== undefined && readyCondition(node)?.status === 'Unknown';

function olderLabels({ metadata: { labels = {} } }: Node): Record<string, string> | undefined {
  const wrong = sameLabels.flatMap(([label, older]) => {
    const value = labels[label];
    return value !== undefined && labels[older] !== value ? [[older, value] as const] : [];
  });
  return wrong.length > 0 ? Object.fromEntries(wrong) : undefined;
}

const podNotReady = (pod: Pod, now: number): Effect[] => {
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') return [];
  const { observedGeneration: _, ...rest } = ready;
  const regarding: Pod = { ...pod, apiVersion: 'v1', kind: 'Pod' };
  return [
    patchPodStatus(pod, now, { ...rest, status: 'False' }),
    { op: 'event', regarding, type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready' },
  ];
};

export function reconcileNode({ node, pods }: NodeView, now: number): Plan {
  if (!node) return { effects: [] };
  const taints = scheduleTaints(node, now);
  const labels = olderLabels(node);
  const { uid, resourceVersion } = node.metadata;
  const patches: Effect[] =
    taints || labels
      ? [
          mergePatch(nodeResource, node, {
            metadata: { uid, ...(taints && { resourceVersion }), ...(labels && { labels }) },
            ...(taints && { spec: { taints: taints.length > 0 ? taints : null } }),
          }),
        ]
      : [];
  const marks = pods.flatMap((pod) => podNotReady(pod, now));
  return {
    effects: [...patches, ...marks],
    ...(taints && { because: 'Its conditions say where new pods should not go; taints make the scheduler follow.' }),
    ...(marks.length > 0 && { because: 'Its kubelet is silent, so its pods cannot be called ready.' }),
  };
}
