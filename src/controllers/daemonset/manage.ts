// One pod on each node that should have one (pkg/controller/daemon manage, rollingUpdate).
import type { DaemonSet, DaemonSetSpec } from '#api/apps/v1';
import type { Node, Pod } from '#api/core/v1';
import { scaledValue } from '#apimachinery/intstr';
import { isPodAvailable, isPodReady } from '#component-helpers/workload';
import type { Effect } from '#controller-runtime';
import { failedPodBackoffMaxMs, failedPodBackoffMs } from './limits.ts';
import { isUpdated, type Placement } from './placement.ts';

export interface Site {
  node: Node;
  placement: Placement;
  /** Oldest first, those on the node before those still bound for it. */
  pods: readonly Pod[];
}

export interface DaemonState {
  set: DaemonSet;
  spec: DaemonSetSpec;
  sites: readonly Site[];
  /** Pods bound for nodes that are gone and not yet there. */
  lost: readonly Pod[];
  hash: string;
  /** Daemon pods that failed lately, by node. Changed as pods are deleted. */
  failures: Map<string, NodeFailures>;
  now: number;
}

export interface NodeFailures {
  count: number;
  atMs: number;
}

export interface DaemonWork {
  /** Names of nodes that get a pod. */
  create: string[];
  remove: Pod[];
  events: Effect[];
  waitMs?: number;
}

const isLeaving = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

const isAvailable = ({ spec, now }: DaemonState, pod: Pod): boolean => isPodAvailable(pod, spec.minReadySeconds ?? 0, now);

function bounds({ spec, sites }: DaemonState): { maxSurge: number; maxUnavailable: number; desired: number } {
  const desired = sites.filter(({ placement }) => placement.run).length;
  if (spec.updateStrategy?.type !== 'RollingUpdate') return { maxSurge: 0, maxUnavailable: 0, desired };
  const { maxSurge: over = 0, maxUnavailable: under = 0 } = spec.updateStrategy.rollingUpdate ?? {};
  const [maxSurge, maxUnavailable] = [scaledValue(over, desired, true), scaledValue(under, desired, true)];
  return { maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable, desired };
}

export function allowsSurge({ updateStrategy }: DaemonSetSpec): boolean {
  return updateStrategy?.type === 'RollingUpdate' && scaledValue(updateStrategy.rollingUpdate?.maxSurge ?? 0, 1, true) > 0;
}

/** Pods that are missing or too many, whatever their template. */
export function managePods(state: DaemonState): DaemonWork {
  const work: DaemonWork = { create: [], remove: [...state.lost], events: [] };
  for (const site of state.sites) manageSite(state, site, work);
  return work;
}

function manageSite(state: DaemonState, { node, placement, pods }: Site, work: DaemonWork): void {
  const name = node.metadata.name ?? '';
  if (placement.run && pods.length === 0) work.create.push(name);
  else if (!placement.stay) work.remove.push(...pods.filter((pod) => !isLeaving(pod)));
  else {
    const running = pods.filter((pod) => !isLeaving(pod) && !hasEnded(state, pod, name, work));
    if (!allowsSurge(state.spec)) work.remove.push(...running.slice(1));
    else if (running.length === 0) {
      if (placement.run) work.create.push(name);
    } else work.remove.push(...surplusDuringSurge(state, running));
  }
}

/** Ended pods make room for new ones; failed ones after a while, if it is not the first time. */
function hasEnded({ set, failures, now }: DaemonState, pod: Pod, node: string, work: DaemonWork): boolean {
  const phase = pod.status?.phase;
  if (phase !== 'Failed' && phase !== 'Succeeded') return false;
  const name = `${pod.metadata.namespace}/${pod.metadata.name} on node ${node}`;
  if (phase === 'Succeeded') {
    work.events.push(event(set, 'Normal', 'SucceededDaemonPod', `Found succeeded daemon pod ${name}, will try to delete it`));
    work.remove.push(pod);
    return true;
  }
  const last = failures.get(node);
  const waitMs = last ? last.atMs + backoffMs(last.count) - now : 0;
  if (waitMs > 0) work.waitMs = Math.min(work.waitMs ?? waitMs, waitMs);
  else {
    failures.set(node, { count: (last?.count ?? 0) + 1, atMs: now });
    work.events.push(event(set, 'Warning', 'FailedDaemonPod', `Found failed daemon pod ${name}, will try to kill it`));
    work.remove.push(pod);
  }
  return true;
}

const backoffMs = (count: number): number => Math.min(failedPodBackoffMs * 2 ** Math.min(count - 1, 30), failedPodBackoffMaxMs);

/** Failures that still count, from what the last plan remembered. */
export const recentFailures = (memory: unknown, now: number): Map<string, NodeFailures> =>
  new Map(
    [...((memory as Map<string, NodeFailures> | undefined) ?? [])].filter(
      ([, { atMs }]) => now - atMs < 2 * failedPodBackoffMaxMs,
    ),
  );

const event = (regarding: DaemonSet, type: 'Normal' | 'Warning', reason: string, message: string): Effect => ({
  op: 'event',
  regarding,
  type,
  reason,
  message,
});

/** The pods beyond one of the old and one of the new template. The old one stays until the new one is available. */
function surplusDuringSurge(state: DaemonState, running: readonly Pod[]): Pod[] {
  if (running.length <= 1) return [];
  const fresh = running.filter((pod) => isUpdated(pod, state.set, state.hash));
  const old = running.filter((pod) => !fresh.includes(pod));
  const [newest, oldest] = [fresh[0], old[0]];
  const replaced = newest && oldest && (!isPodReady(oldest) || isAvailable(state, newest)) ? [oldest] : [];
  return [...fresh.slice(1), ...old.slice(1), ...replaced];
}

interface Pair {
  site: Site;
  fresh: Pod | undefined;
  old: Pod | undefined;
}

/** The new and the old pod of a node; undefined where there is more than one of either, which `managePods` sorts out. */
function pairOf(state: DaemonState, site: Site): Pair | undefined {
  const present = site.pods.filter((pod) => !isLeaving(pod));
  const fresh = present.filter((pod) => isUpdated(pod, state.set, state.hash));
  const old = present.filter((pod) => !fresh.includes(pod));
  return fresh.length > 1 || old.length > 1 ? undefined : { site, fresh: fresh[0], old: old[0] };
}

/** The next pods of old templates to be replaced. */
export function rollingUpdate(state: DaemonState): DaemonWork {
  const { maxSurge, maxUnavailable, desired } = bounds(state);
  const concerned = state.sites.filter(({ placement, pods }) => placement.run || pods.length > 0);
  const pairs = concerned.map((site) => pairOf(state, site));
  return maxSurge > 0 ? surgeUpdate(state, pairs, maxSurge, desired) : plainUpdate(state, pairs, maxUnavailable);
}

function plainUpdate(state: DaemonState, pairs: readonly (Pair | undefined)[], maxUnavailable: number): DaemonWork {
  const broken: Pod[] = [];
  const candidates: Pod[] = [];
  let unavailable = 0;
  for (const pair of pairs) {
    if (!pair || (pair.old === undefined) === (pair.fresh === undefined)) unavailable++;
    else if (pair.fresh) unavailable += isAvailable(state, pair.fresh) ? 0 : 1;
    else if (pair.old && !isAvailable(state, pair.old)) {
      broken.push(pair.old);
      unavailable++;
    } else if (pair.old) candidates.push(pair.old);
  }
  return { create: [], remove: [...broken, ...candidates.slice(0, Math.max(0, maxUnavailable - unavailable))], events: [] };
}

function surgeUpdate(state: DaemonState, pairs: readonly (Pair | undefined)[], maxSurge: number, desired: number): DaemonWork {
  const work: DaemonWork = { create: [], remove: [], events: [] };
  const misplaced: Pod[] = [];
  const candidates: string[] = [];
  let [surge, available] = [0, 0];
  for (const pair of pairs) {
    if (!pair) {
      surge++;
      continue;
    }
    const { site, fresh, old } = pair;
    const shown = old ?? fresh;
    if (shown && isAvailable(state, shown)) available++;
    if (!old) continue;
    const name = site.node.metadata.name ?? '';
    if (fresh) {
      if (isAvailable(state, fresh)) work.remove.push(old);
      else surge++;
    } else if (isAvailable(state, old)) {
      if (site.placement.run) candidates.push(name);
      else misplaced.push(old);
    } else if (site.placement.run) work.create.push(name);
    else work.remove.push(old);
  }
  work.remove.push(...misplaced.slice(0, Math.max(0, available - desired)));
  work.create.push(...candidates.slice(0, Math.max(0, maxSurge - surge)));
  return work;
}
