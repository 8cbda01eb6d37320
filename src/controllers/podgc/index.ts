// Removes pods that nobody else would: of nodes that are gone or out of service, never scheduled and deleted, finished in too great a
// number (pkg/controller/podgc).
import type { Node, Pod, PodCondition } from '#api/core/v1';
import {
  type ControllerDefinition,
  defineController,
  type Effect,
  type Plan,
  type Ref,
  refKey,
  watch,
  wholeCluster,
} from '#controller-runtime';
import { nodes, patchPodStatus, pods, refOf } from '#controller-runtime/platform';
import { allow } from '#controller-runtime/workload';
import type { KubeObject } from '#apimachinery/meta';
import type { ControllersConfig } from '../config.ts';

const checkPeriodMs = 20_000;
/** A node must have been missing for this long: the pod may have been seen before its node. */
const quarantineMs = 40_000;
const key = 'pods';

const orphaned: PodCondition = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByPodGC',
  message: 'PodGC: node no longer exists',
};

export interface PodGcView {
  pods: readonly Pod[];
  nodes: ReadonlyMap<string, Node>;
  /** Since when nodes that pods are bound to are missing. */
  missing: ReadonlyMap<string, number>;
  live: ReadonlyMap<string, KubeObject | undefined>;
}

const isFinished = ({ status }: Pod): boolean => !['Pending', 'Running', 'Unknown'].includes(status?.phase ?? '');
const isDeleting = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;
const isEvicted = ({ status }: Pod): boolean => status?.phase === 'Failed' && status.reason === 'Evicted';

const isOutOfService = (node: Node | undefined): boolean =>
  node !== undefined &&
  !(node.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True') &&
  (node.spec?.taints ?? []).some((taint) => taint.key === 'node.kubernetes.io/out-of-service');

const order = (a: Pod, b: Pod): number =>
  Number(isEvicted(b)) - Number(isEvicted(a)) ||
  compare(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
  compare(a.metadata.name ?? '', b.metadata.name ?? '');
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Marks the pod failed, if it has not finished, and deletes it without waiting for its kubelet. */
function remove(pod: Pod, now: number, condition?: PodCondition): Effect[] {
  const { phase } = pod.status ?? {};
  const { generation } = pod.metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const failed =
    phase === 'Succeeded' || phase === 'Failed'
      ? []
      : [patchPodStatus(pod, now, condition && { ...condition, ...observed }, { phase: 'Failed', ...observed })];
  return [...failed, { op: 'delete', ref: refOf(pods, pod), options: { gracePeriodSeconds: 0 } }];
}

const nodeRef = (name: string): Ref => ({ resource: nodes, namespace: '', name });

/** Decides which pods are deleted. */
export function collect(threshold: number, view: PodGcView, now: number): Plan {
  const missing = new Map<string, number>();
  for (const { spec } of view.pods)
    if (spec?.nodeName && !view.nodes.has(spec.nodeName)) missing.set(spec.nodeName, view.missing.get(spec.nodeName) ?? now);
  const overdue = [...missing].filter(([, since]) => now - since >= quarantineMs).map(([name]) => name);
  const needsLive = overdue.map(nodeRef).filter((ref) => !view.live.has(refKey(ref)));
  if (needsLive.length > 0) return { effects: [], needsLive, remember: missing };
  const gone = new Set(overdue.filter((name) => view.live.get(refKey(nodeRef(name))) === undefined));

  const finished = threshold > 0 ? view.pods.filter(isFinished) : [];
  const surplus = new Set(finished.sort(order).slice(0, Math.max(0, finished.length - threshold)));
  const effects: Effect[] = [];
  const counts = { surplus: 0, outOfService: 0, orphaned: 0, unscheduled: 0 };
  for (const pod of view.pods) {
    const nodeName = pod.spec?.nodeName ?? '';
    const reason = surplus.has(pod)
      ? 'surplus'
      : isDeleting(pod) && isOutOfService(view.nodes.get(nodeName))
        ? 'outOfService'
        : gone.has(nodeName)
          ? 'orphaned'
          : isDeleting(pod) && nodeName === ''
            ? 'unscheduled'
            : undefined;
    if (!reason) continue;
    counts[reason]++;
    effects.push(...remove(pod, now, reason === 'orphaned' ? orphaned : undefined));
  }
  return {
    effects,
    remember: missing,
    ...(effects.length > 0 && {
      because: `Nobody else removes these pods: ${counts.orphaned} of nodes that are gone, ${counts.outOfService} of nodes out of service, ${counts.unscheduled} deleted before they were scheduled, ${counts.surplus} finished beyond the limit.`,
    }),
  };
}

export const podGarbageCollector = (config: Pick<ControllersConfig, 'terminatedPodGcThreshold'>): ControllerDefinition =>
  defineController<PodGcView>({
    name: 'pod-garbage-collector-controller',
    aliases: ['podgc'],
    for: wholeCluster,
    serviceAccount: 'pod-garbage-collector',
    rights: [
      allow('delete,list,watch', 'core', 'pods'),
      allow('get,list,watch', 'core', 'nodes'),
      allow('patch', 'core', 'pods/status'),
    ],
    watches: [watch<Pod>({ resource: pods }), watch<Node>({ resource: nodes })],
    periodic: { everyMs: checkPeriodMs, keys: () => [key] },
    view: (_key, cache, { memory, live }) => ({
      pods: cache.list<Pod>(pods),
      nodes: new Map(cache.list<Node>(nodes).map((node) => [node.metadata.name ?? '', node])),
      missing: (memory as Map<string, number> | undefined) ?? new Map<string, number>(),
      live,
    }),
    reconcile: (view, now) => collect(config.terminatedPodGcThreshold, view, now),
    concurrency: 1,
  });
