// What a DaemonSet does next (pkg/controller/daemon syncDaemonSet). Pure.
import type { ControllerRevision, DaemonSet, DaemonSetSpec, DaemonSetStatus } from '#api/apps/v1';
import type { Node, Pod } from '#api/core/v1';
import { isPodAvailable, isPodReady, untilAvailableMs } from '#component-helpers/workload';
import type { Effect, Plan, ViewContext } from '#controller-runtime';
import {
  burstReplicasMax,
  claimChildren,
  controllerRevisions,
  createPod,
  daemonSets,
  deletePod,
  newPod,
  pods as podResource,
  typed,
} from '#controller-runtime/workload';
import { deepEqual } from '#utils';
import { daemonSetKind } from './kind.ts';
import { type DaemonState, type DaemonWork, managePods, recentFailures, rollingUpdate, type Site } from './manage.ts';
import { isUpdated, onNode, placer, podTemplate, targetNode } from './placement.ts';
import { cleanUp, historyOf } from './revisions.ts';

export interface DaemonSetView {
  /** Undefined: it is gone. */
  set: DaemonSet | undefined;
  /** Its own, and the orphans of its namespace. */
  pods: readonly Pod[];
  revisions: readonly ControllerRevision[];
  /** The ControllerRevision that already has the name of the next revision; undefined when the name is free. */
  holder: ControllerRevision | undefined;
  nodes: readonly Node[];
  context: ViewContext;
}

export function reconcile(view: DaemonSetView, now: number): Plan {
  const { set: cached, context, nodes } = view;
  if (!cached?.spec) return { effects: [] };
  const set = typed(cached, 'apps/v1', 'DaemonSet');
  const { spec } = cached;
  if (Object.keys(spec.selector).length === 0) {
    const message = 'This daemon set is selecting all pods. A non-empty selector is required.';
    return { effects: [{ op: 'event', regarding: set, type: 'Warning', reason: 'SelectingAll', message }], because: message };
  }
  if (set.metadata.deletionTimestamp !== undefined)
    return { effects: [], because: `DaemonSet ${set.metadata.name ?? ''} is being deleted.` };
  const shared = { owner: set, kind: daemonSetKind, live: context.live };
  const pods = claimChildren({ ...shared, children: view.pods, resource: podResource });
  const revisions = claimChildren({ ...shared, children: view.revisions, resource: controllerRevisions });
  const needsLive = [...pods.needsLive, ...revisions.needsLive];
  if (needsLive.length > 0) return { effects: [], needsLive };
  const history = historyOf(set, spec, revisions.children, view.holder, pods.children);
  const claims = [...pods.effects, ...revisions.effects];
  if (history.hash === undefined)
    return { effects: [...claims, collision(set)], because: 'The name of its next revision is taken, so another hash is tried.' };
  const state: DaemonState = {
    ...sitesOf(spec, pods.children, nodes),
    set,
    spec,
    hash: history.hash,
    failures: recentFailures(context.memory, now),
    now,
  };
  const missing = managePods(state);
  const busy = missing.create.length + missing.remove.length > 0;
  const update = !busy && spec.updateStrategy?.type === 'RollingUpdate' ? rollingUpdate(state) : undefined;
  const work = update ? { ...update, ...(missing.waitMs !== undefined && { waitMs: missing.waitMs }) } : missing;
  const waits = [work.waitMs, ...pods.children.map((pod) => untilAvailableMs(pod, spec.minReadySeconds ?? 0, now))].filter(
    (wait) => wait !== undefined,
  );
  return {
    effects: [
      ...claims,
      ...history.effects,
      ...podEffects(state, work),
      ...cleanUp(spec, history.old, pods.children),
      ...statusEffects(state),
    ],
    ...(waits.length > 0 && { requeueAfterMs: Math.min(...waits) }),
    ...(state.failures.size > 0 && { remember: state.failures }),
    because: explain(state, work, update !== undefined),
  };
}

const createdMs = ({ metadata }: Pod): number => Date.parse(metadata.creationTimestamp ?? '') || 0;

/** Pods that are on their node first, then by age. */
const byPresence = (a: Pod, b: Pod): number =>
  Number(!a.spec?.nodeName) - Number(!b.spec?.nodeName) ||
  createdMs(a) - createdMs(b) ||
  ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);

function sitesOf(spec: DaemonSetSpec, pods: readonly Pod[], nodes: readonly Node[]): Pick<DaemonState, 'sites' | 'lost'> {
  const byNode = new Map<string, Pod[]>();
  for (const pod of [...pods].sort(byPresence)) {
    const node = targetNode(pod);
    if (node === undefined) continue;
    const there = byNode.get(node);
    if (there) there.push(pod);
    else byNode.set(node, [pod]);
  }
  const place = placer(spec);
  const sites = nodes.map((node): Site => ({ node, placement: place(node), pods: byNode.get(node.metadata.name ?? '') ?? [] }));
  const known = new Set(nodes.map(({ metadata }) => metadata.name));
  const lost = [...byNode].flatMap(([node, there]) =>
    known.has(node) ? [] : there.filter((pod) => !pod.spec?.nodeName && !pod.metadata.deletionTimestamp),
  );
  return { sites, lost };
}

function podEffects({ set, spec, hash }: DaemonState, { create, remove, events }: DaemonWork): Effect[] {
  const template = podTemplate(set, spec.template, hash);
  const creates = create.slice(0, burstReplicasMax).map((node) => createPod(newPod(onNode(template, node), set), set));
  const deletes = remove.slice(0, burstReplicasMax).map((pod) => deletePod(pod, set));
  const parallel = (effects: Effect[]): Effect[] => (effects.length > 0 ? [{ op: 'parallel', effects }] : []);
  return [...events, ...parallel(creates), ...parallel(deletes)];
}

function collision(set: DaemonSet): Effect {
  const status: DaemonSetStatus = { ...emptyStatus, ...set.status, collisionCount: (set.status?.collisionCount ?? 0) + 1 };
  const object: DaemonSet = { ...set, status };
  return { op: 'update', resource: daemonSets, object, subresource: 'status' };
}

const emptyStatus = { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 };

function statusOf({ set, spec, sites, hash, now }: DaemonState): DaemonSetStatus {
  const counts = { ...emptyStatus, updatedNumberScheduled: 0, numberAvailable: 0 };
  for (const { placement, pods } of sites) {
    const [pod] = pods;
    if (!placement.run) {
      if (pod) counts.numberMisscheduled++;
      continue;
    }
    counts.desiredNumberScheduled++;
    if (!pod) continue;
    counts.currentNumberScheduled++;
    if (isPodReady(pod)) counts.numberReady++;
    if (isPodAvailable(pod, spec.minReadySeconds ?? 0, now)) counts.numberAvailable++;
    if (isUpdated(pod, set, hash)) counts.updatedNumberScheduled++;
  }
  const numberUnavailable = counts.desiredNumberScheduled - counts.numberAvailable;
  return { ...set.status, ...counts, numberUnavailable, observedGeneration: set.metadata.generation };
}

/** The status as it is stored: counts of zero are left out, except for those that upstream always writes. */
function compact(status: DaemonSetStatus): DaemonSetStatus {
  const { updatedNumberScheduled, numberAvailable, numberUnavailable, observedGeneration, ...kept } = status;
  return {
    ...kept,
    ...(observedGeneration && { observedGeneration }),
    ...(updatedNumberScheduled && { updatedNumberScheduled }),
    ...(numberAvailable && { numberAvailable }),
    ...(numberUnavailable && { numberUnavailable }),
  };
}

function statusEffects(state: DaemonState): Effect[] {
  const status = compact(statusOf(state));
  if (deepEqual(compact({ ...emptyStatus, ...state.set.status }), status)) return [];
  const object: DaemonSet = { ...state.set, status };
  return [{ op: 'update', resource: daemonSets, object, subresource: 'status' }];
}

function explain({ set, sites }: DaemonState, { create, remove }: DaemonWork, updating: boolean): string {
  const name = `DaemonSet ${set.metadata.name ?? ''}`;
  const wanted = sites.filter(({ placement }) => placement.run).length;
  if (create.length + remove.length === 0) return `${name} has a pod on each of the ${wanted} nodes that should have one.`;
  const why = updating ? 'its template changed' : `${wanted} nodes should have a pod`;
  return `${name}: ${why}, so ${create.length} pods are created and ${remove.length} deleted.`;
}
