// Why a node takes no pods. Pure.
import { own } from '#utils';
import type { Node } from '#api/core/v1';
import { conditionsOf, conditionText } from './conditions.ts';

/** Whoever takes away the taints that a cluster sets itself. */
const knownTaints: Readonly<Record<string, string>> = {
  'node.cloudprovider.kubernetes.io/uninitialized': 'until the cloud-controller-manager knows its machine',
  'node.cloudprovider.kubernetes.io/shutdown': 'its machine is switched off',
  'node.kubernetes.io/not-ready': 'until it is ready',
  'node.kubernetes.io/unreachable': 'its kubelet is not heard of',
  'node.kubernetes.io/unschedulable': 'it is cordoned: kubectl uncordon',
  'node.kubernetes.io/network-unavailable': 'until its routes are made',
  'node-role.kubernetes.io/control-plane': 'it is for the control plane',
};

export function nodeSentences(node: Node, nowMs: number): string[] {
  const { spec = {}, status } = node;
  const conditions = conditionsOf(node)
    .filter(({ type, status: value }) => value !== (type === 'Ready' ? 'True' : 'False'))
    .map((condition) => conditionText(condition, nowMs));
  const taints = (spec.taints ?? []).map(({ key, value, effect }) => {
    const why = own(knownTaints, key);
    return `taint ${key}${value ? `=${value}` : ''}:${effect}${why ? ` (${why})` : ''}`;
  });
  return [
    ...conditions,
    ...((status?.conditions ?? []).length === 0 ? ['its kubelet has told nothing yet'] : []),
    ...(spec.unschedulable ? ['is cordoned: it takes no new pods'] : []),
    ...taints,
  ];
}
