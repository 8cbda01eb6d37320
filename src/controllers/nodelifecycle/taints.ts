// Taints that say how a node is doing (https://kubernetes.io/docs/reference/labels-annotations-taints/). Pure.
import type { Node, Taint } from '#api/core/v1';
import { formatTime } from '#apimachinery/meta';

export const notReady = 'node.kubernetes.io/not-ready';
export const unreachable = 'node.kubernetes.io/unreachable';
const unschedulable = 'node.kubernetes.io/unschedulable';

/** Condition type and status, and the key of the taint that goes with it. */
const conditionTaints: readonly [type: string, status: string, key: string][] = [
  ['Ready', 'False', notReady],
  ['Ready', 'Unknown', unreachable],
  ['MemoryPressure', 'True', 'node.kubernetes.io/memory-pressure'],
  ['DiskPressure', 'True', 'node.kubernetes.io/disk-pressure'],
  ['NetworkUnavailable', 'True', 'node.kubernetes.io/network-unavailable'],
  ['PIDPressure', 'True', 'node.kubernetes.io/pid-pressure'],
];
const conditionKeys = new Set([...conditionTaints.map(([, , key]) => key), unschedulable]);

export const readyCondition = (node: Node) => node.status?.conditions?.find(({ type }) => type === 'Ready');

export const hasTaint = (node: Node, key: string, effect: string): boolean =>
  (node.spec?.taints ?? []).some((taint) => taint.key === key && taint.effect === effect);

/** The node's taints without some and with others; undefined when that changes nothing. */
export function changedTaints(
  node: Node,
  change: { effect: string; add: readonly string[]; remove: readonly string[] },
  now: number,
): Taint[] | undefined {
  const { effect, add, remove } = change;
  const missing = add.filter((key) => !hasTaint(node, key, effect));
  const old = node.spec?.taints ?? [];
  const kept = old.filter((taint) => !(taint.effect === effect && remove.includes(taint.key)));
  if (missing.length === 0 && kept.length === old.length) return undefined;
  return [...kept, ...missing.map((key) => ({ key, effect, timeAdded: formatTime(now) }))];
}

/** NoSchedule taints as the node's conditions and `spec.unschedulable` ask for them; undefined when it has them already. */
export function scheduleTaints(node: Node, now: number): Taint[] | undefined {
  const wanted = conditionTaints
    .filter(([type, status]) =>
      node.status?.conditions?.some((condition) => condition.type === type && condition.status === status),
    )
    .map(([, , key]) => key);
  if (node.spec?.unschedulable) wanted.push(unschedulable);
  const remove = [...conditionKeys].filter((key) => !wanted.includes(key));
  return changedTaints(node, { effect: 'NoSchedule', add: wanted, remove }, now);
}

/** NoExecute taint of a node with that Ready status: `not-ready` and `unreachable` exclude each other. */
export function executeTaint(status: string | undefined): { add: string[]; remove: string[] } {
  if (status === 'False') return { add: [notReady], remove: [unreachable] };
  if (status === 'Unknown') return { add: [unreachable], remove: [notReady] };
  return { add: [], remove: [notReady, unreachable] };
}
