// Evicts pods from nodes with NoExecute taints, after the time their tolerations give them (pkg/controller/tainteviction;
// https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/#taint-based-evictions).
import type { Node, Pod, PodCondition, Taint, Toleration } from '#api/core/v1';
import { type ControllerDefinition, defineController, type Effect, ownKey, type Plan, watch } from '#controller-runtime';
import { nodeIndexer, nodes, patchPodStatus, pods, podsByNode, refOf, saysCondition } from '#controller-runtime/platform';
import { nodeControllerRights } from '../node-controller-rights.ts';
import { tolerates } from '#component-helpers/pod';
import { keyOf, splitKey } from '#apimachinery/meta';
import { deepEqual } from '#utils';

const condition: PodCondition = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
};

const executing = (node: Node | undefined): Taint[] => (node?.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');

/** Milliseconds a pod may stay among these taints; 0: none, undefined: forever. */
export function toleratedMs(taints: readonly Taint[], tolerations: readonly Toleration[]): number | undefined {
  const used: Toleration[] = [];
  for (const taint of taints) {
    const toleration = tolerations.find((one) => tolerates(one, taint));
    if (!toleration) return 0;
    used.push(toleration);
  }
  const limits = used.flatMap(({ tolerationSeconds }) => tolerationSeconds ?? []);
  return limits.length === 0 ? undefined : Math.max(0, Math.min(...limits)) * 1000;
}

export interface EvictionView {
  pod: Pod | undefined;
  node: Node | undefined;
  /** Since when the pod is among taints it does not tolerate forever. */
  since: number | undefined;
}

const event = (pod: Pod, message: string): Effect => ({
  op: 'event',
  regarding: { apiVersion: 'v1', kind: 'Pod', metadata: { name: pod.metadata.name, namespace: pod.metadata.namespace } },
  type: 'Normal',
  reason: 'TaintManagerEviction',
  message,
});

/** Decides whether the pod stays, waits or goes. */
export function reconcileEviction({ pod, node, since }: EvictionView, now: number): Plan {
  if (!pod) return { effects: [] };
  const name = keyOf(pod.metadata);
  const taints = executing(node);
  const allowedMs = taints.length === 0 ? undefined : toleratedMs(taints, pod.spec?.tolerations ?? []);
  if (allowedMs === undefined) {
    if (since === undefined) return { effects: [] };
    return {
      effects: [event(pod, `Cancelling deletion of Pod ${name}`)],
      because: 'Its node is well again, or the pod tolerates what it has.',
    };
  }
  const start = since ?? now;
  const keys = taints.map(({ key }) => key).join(', ');
  const waitMs = start + allowedMs - now;
  if (waitMs > 0)
    return {
      effects: [],
      remember: start,
      requeueAfterMs: waitMs,
      because: `Its node has ${keys}, which the pod tolerates for ${allowedMs / 1000} s.`,
    };
  if (pod.metadata.deletionTimestamp) return { effects: [] };
  return {
    // Should it fail, the next attempt is due at once too.
    remember: start,
    effects: [
      event(pod, `Marking for deletion Pod ${name}`),
      ...(saysCondition(pod, condition)
        ? []
        : [patchPodStatus(pod, now, { ...condition, observedGeneration: pod.metadata.generation })]),
      { op: 'delete', ref: refOf(pods, pod) },
    ],
    because: `Its node has ${keys}, which the pod does not tolerate${allowedMs > 0 ? ' any longer' : ''}: it is deleted, so that it can be replaced elsewhere.`,
  };
}

export const taintEvictionController: ControllerDefinition = defineController<EvictionView>({
  name: 'taint-eviction-controller',
  for: pods,
  serviceAccount: 'node-controller',
  rights: nodeControllerRights,
  watches: [
    watch<Node>({
      resource: nodes,
      keys(node, old, cache) {
        if (old ? deepEqual(executing(old), executing(node)) : executing(node).length === 0) return [];
        return cache.byIndex<Pod>(pods, podsByNode, node.metadata.name ?? '').flatMap(ownKey);
      },
    }),
    watch<Pod>({
      resource: pods,
      indexers: nodeIndexer,
      keys(pod, old, cache) {
        const nodeName = pod.spec?.nodeName;
        if (!nodeName || executing(cache.get<Node>(nodes, '', nodeName)).length === 0) return [];
        const same = old?.spec?.nodeName === nodeName && deepEqual(old.spec.tolerations, pod.spec?.tolerations);
        return same ? [] : ownKey(pod);
      },
    }),
  ],
  view(key, cache, { memory }) {
    const { namespace, name } = splitKey(key);
    const pod = cache.get<Pod>(pods, namespace, name);
    const known = memory as { uid: string | undefined; since: number } | undefined;
    return {
      pod,
      node: pod?.spec?.nodeName ? cache.get<Node>(nodes, '', pod.spec.nodeName) : undefined,
      since: known && known.uid === pod?.metadata.uid ? known.since : undefined,
    };
  },
  reconcile(view, now) {
    const plan = reconcileEviction(view, now);
    return plan.remember === undefined ? plan : { ...plan, remember: { uid: view.pod?.metadata.uid, since: plan.remember } };
  },
});
