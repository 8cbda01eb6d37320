// Keeping a number of equal pods: the loop of ReplicaSet and ReplicationController (pkg/controller/replicaset; upstream's
// replicationcontroller is an adapter over the same code).
import type { Pod, PodTemplateSpec } from '#api/core/v1';
import { fromSet } from '#apimachinery/labels';
import { controllerOf, formatTime, type KubeObject, splitKey } from '#apimachinery/meta';
import {
  conditionOf,
  deletionOrder,
  isPodActive,
  isPodAvailable,
  isPodReady,
  isPodTerminating,
  setCondition,
  untilAvailableMs,
  withoutCondition,
  type WorkloadCondition,
} from '#component-helpers/workload';
import { deepEqual } from '#utils';
import { ownKey } from '../cache.ts';
import {
  type Cache,
  type ConcurrencyFlag,
  type ControllerDefinition,
  defineController,
  type Effect,
  type Plan,
  type PolicyRule,
  type ViewContext,
} from '../types.ts';
import { claimChildren, childrenOf, type OwnerKind, watchChildren } from './children.ts';
import { burstReplicasMax } from './limits.ts';
import { createPod, deletePod, newPod, typed } from './pod-control.ts';
import { pods as podResource } from './resources.ts';

interface ReplicaStatus {
  replicas: number;
  fullyLabeledReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  terminatingReplicas?: number;
  observedGeneration?: number;
  conditions?: WorkloadCondition[];
}

/** What ReplicaSets and ReplicationControllers have in common. */
export interface ReplicaOwner extends KubeObject {
  spec?: { replicas?: number; minReadySeconds?: number; template?: PodTemplateSpec };
  status?: ReplicaStatus;
}

export interface ReplicaFlavour<Owner extends ReplicaOwner> extends OwnerKind<Owner> {
  name: string;
  aliases: string[];
  serviceAccount?: string;
  eventSource?: string;
  concurrency: ConcurrencyFlag;
  rights: PolicyRule[];
  /** Whether the status counts pods that are going away (KEP-3973). */
  countsTerminating: boolean;
}

export interface ReplicaView<Owner extends ReplicaOwner> {
  /** Undefined: it is gone. */
  owner: Owner | undefined;
  /** Pods it owns, and the orphans of its namespace. */
  pods: readonly Pod[];
  /** Active pods of owners under the same controller, by node; only counted when pods must go. */
  crowd: ReadonlyMap<string, number>;
  context: ViewContext;
}

export function replicaView<Owner extends ReplicaOwner>(
  flavour: ReplicaFlavour<Owner>,
  key: string,
  cache: Cache,
  context: ViewContext,
): ReplicaView<Owner> {
  const { namespace, name } = splitKey(key);
  const owner = cache.get<Owner>(flavour.resource, namespace, name);
  if (!owner) return { owner, pods: [], crowd: new Map(), context };
  const pods = childrenOf<Pod>(cache, podResource, owner);
  const surplus = pods.filter(isPodActive).length > (owner.spec?.replicas ?? 1);
  return { owner, pods, crowd: surplus ? crowdOf(flavour, owner, cache) : new Map(), context };
}

function crowdOf<Owner extends ReplicaOwner>(flavour: ReplicaFlavour<Owner>, owner: Owner, cache: Cache): Map<string, number> {
  const controller = controllerOf(owner.metadata);
  const siblings = controller ? cache.ownedBy<Owner>(flavour.resource, controller.uid) : [owner];
  const crowd = new Map<string, number>();
  for (const sibling of siblings) {
    for (const pod of cache.ownedBy<Pod>(podResource, sibling.metadata.uid ?? '')) {
      const node = pod.spec?.nodeName;
      if (node && isPodActive(pod)) crowd.set(node, (crowd.get(node) ?? 0) + 1);
    }
  }
  return crowd;
}

export function reconcileReplicas<Owner extends ReplicaOwner>(
  flavour: ReplicaFlavour<Owner>,
  { owner: cached, pods, crowd, context }: ReplicaView<Owner>,
  now: number,
): Plan {
  if (!cached) return { effects: [] };
  const owner = typed(cached, flavour.apiVersion, flavour.kind);
  const claimed = claimChildren({
    owner,
    kind: flavour,
    children: pods.filter(isPodActive),
    resource: podResource,
    live: context.live,
  });
  if (claimed.needsLive.length > 0) return { effects: [], needsLive: claimed.needsLive };
  const active = claimed.children;
  const managed = owner.metadata.deletionTimestamp === undefined ? manage(owner, active, crowd, now) : [];
  const selector = flavour.selector(owner);
  const terminating = pods.filter(
    (pod) =>
      isPodTerminating(pod) && controllerOf(pod.metadata)?.uid === owner.metadata.uid && selector.matches(pod.metadata.labels),
  );
  const status = statusOf(owner, active, flavour.countsTerminating ? terminating.length : undefined, context, now);
  const requeueAfterMs = nextCheckMs(owner, active, now);
  return {
    effects: [...claimed.effects, ...managed, ...statusEffect(flavour, owner, status)],
    ...(requeueAfterMs !== undefined && { requeueAfterMs }),
    because: explain(owner, active.length),
  };
}

const wanted = (owner: ReplicaOwner): number => owner.spec?.replicas ?? 1;

function manage(owner: ReplicaOwner, active: readonly Pod[], crowd: ReadonlyMap<string, number>, now: number): Effect[] {
  const template = owner.spec?.template;
  const missing = Math.min(wanted(owner) - active.length, burstReplicasMax);
  if (missing > 0 && template) {
    const create = createPod(newPod(template, owner), owner);
    return [{ op: 'parallel', effects: Array.from({ length: missing }, () => create) }];
  }
  const surplus = Math.min(active.length - wanted(owner), burstReplicasMax);
  if (surplus <= 0) return [];
  const ordered =
    surplus < active.length ? deletionOrder(active, (pod) => crowd.get(pod.spec?.nodeName ?? '') ?? 0, now) : active;
  return [{ op: 'parallel', effects: ordered.slice(0, surplus).map((pod) => deletePod(pod, owner)) }];
}

function statusOf(
  owner: ReplicaOwner,
  active: readonly Pod[],
  terminating: number | undefined,
  { lastFailure }: ViewContext,
  now: number,
): ReplicaStatus {
  const templateLabels = fromSet(owner.spec?.template?.metadata?.labels);
  const ready = active.filter(isPodReady);
  const minReadySeconds = owner.spec?.minReadySeconds ?? 0;
  const failed = lastFailure?.op === 'create' || lastFailure?.op === 'delete' ? lastFailure : undefined;
  const conditions = failureConditions(owner, active.length, failed?.message, now);
  return compact({
    replicas: active.length,
    fullyLabeledReplicas: active.filter((pod) => templateLabels.matches(pod.metadata.labels)).length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isPodAvailable(pod, minReadySeconds, now)).length,
    terminatingReplicas: terminating,
    observedGeneration: owner.metadata.generation,
    conditions,
  });
}

function failureConditions(owner: ReplicaOwner, active: number, message: string | undefined, now: number): WorkloadCondition[] {
  const conditions = owner.status?.conditions;
  if (message === undefined) return withoutCondition(conditions, 'ReplicaFailure');
  if (conditionOf(conditions, 'ReplicaFailure')) return [...(conditions ?? [])];
  const reason = active < wanted(owner) ? 'FailedCreate' : active > wanted(owner) ? 'FailedDelete' : '';
  return setCondition(conditions, {
    type: 'ReplicaFailure',
    status: 'True',
    lastTransitionTime: formatTime(now),
    reason,
    message,
  });
}

/** The status as it is stored: counts of zero are left out, except for the two that upstream always writes. */
function compact(status: ReplicaStatus): ReplicaStatus {
  const { replicas, terminatingReplicas, conditions = [], ...counts } = status;
  const kept = Object.fromEntries(Object.entries(counts).filter(([, count]) => (count ?? 0) !== 0));
  return {
    replicas,
    ...kept,
    ...(terminatingReplicas !== undefined && { terminatingReplicas }),
    ...(conditions.length > 0 && { conditions }),
  };
}

function statusEffect<Owner extends ReplicaOwner>(flavour: ReplicaFlavour<Owner>, owner: Owner, status: ReplicaStatus): Effect[] {
  if (deepEqual(compact({ ...owner.status, replicas: owner.status?.replicas ?? 0 }), status)) return [];
  return [{ op: 'update', resource: flavour.resource, object: { ...owner, status }, subresource: 'status' }];
}

/** When the next ready pod becomes available. */
function nextCheckMs(owner: ReplicaOwner, active: readonly Pod[], now: number): number | undefined {
  const minReadySeconds = owner.spec?.minReadySeconds ?? 0;
  if (minReadySeconds === 0) return undefined;
  const waits = active.map((pod) => untilAvailableMs(pod, minReadySeconds, now)).filter((wait) => wait !== undefined);
  return waits.length > 0 ? Math.min(...waits) : undefined;
}

function explain(owner: ReplicaOwner, active: number): string {
  const want = wanted(owner);
  const name = `${owner.kind ?? ''} ${owner.metadata.name ?? ''}`;
  if (owner.metadata.deletionTimestamp !== undefined)
    return `${name} is being deleted, so its pods are left to the garbage collector.`;
  if (active < want) return `${name} wants ${want} pods and has ${active}, so ${want - active} more are created.`;
  if (active > want) return `${name} wants ${want} pods and has ${active}, so ${active - want} are deleted.`;
  return `${name} wants ${want} pods and has ${active}: nothing to do.`;
}

/** The whole controller of one of the two kinds. */
export const replicaController = <Owner extends ReplicaOwner>(flavour: ReplicaFlavour<Owner>): ControllerDefinition =>
  defineController<ReplicaView<Owner>>({
    name: flavour.name,
    aliases: flavour.aliases,
    for: flavour.resource,
    concurrency: flavour.concurrency,
    ...(flavour.serviceAccount && { serviceAccount: flavour.serviceAccount }),
    ...(flavour.eventSource && { eventSource: flavour.eventSource }),
    rights: flavour.rights,
    watches: [{ resource: flavour.resource, keys: ownKey }, watchChildren(podResource, flavour)],
    view: (key, cache, context) => replicaView(flavour, key, cache, context),
    reconcile: (view, now) => reconcileReplicas(flavour, view, now),
  });
