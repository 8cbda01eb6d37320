// How many pods may be disrupted now (pkg/controller/disruption; https://kubernetes.io/docs/concepts/workloads/pods/disruptions/). Pure.
import type { Pod } from '#api/core/v1';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '#api/policy/v1';
import { scaledValue } from '#apimachinery/intstr';
import { formatTime } from '#apimachinery/meta';
import { isPodReady } from '#component-helpers/workload';
import type { Effect, Plan } from '#controller-runtime';
import { podDisruptionBudgets } from '#controller-runtime/platform';
import { deepEqual, own } from '#utils';
import type { ExpectedScale } from './scale.ts';

/** An evicted pod that is not seen deleted by then was not evicted after all. */
const deletionTimeoutMs = 120_000;

export interface BudgetView {
  budget: PodDisruptionBudget | undefined;
  /** The pods that the budget selects. */
  pods: readonly Pod[];
  scale: ExpectedScale;
}

type Condition = NonNullable<PodDisruptionBudgetStatus['conditions']>[number];

interface Counts {
  expected: number;
  desired: number;
  usesScale: boolean;
}

function counts({ spec }: PodDisruptionBudget, pods: readonly Pod[], scale: number): Counts {
  const { minAvailable, maxUnavailable } = spec ?? {};
  if (maxUnavailable !== undefined)
    return { expected: scale, desired: Math.max(0, scale - scaledValue(maxUnavailable, scale, true)), usesScale: true };
  if (typeof minAvailable === 'string')
    return { expected: scale, desired: scaledValue(minAvailable, scale, true), usesScale: true };
  return { expected: minAvailable === undefined ? 0 : pods.length, desired: minAvailable ?? 0, usesScale: false };
}

/** Whether the budget counts against the scale of its pods' controllers. */
export const usesScale = ({ spec }: PodDisruptionBudget): boolean =>
  spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === 'string';

function conditionsWith(old: readonly Condition[], condition: Omit<Condition, 'lastTransitionTime'>, now: number): Condition[] {
  const before = old.find(({ type }) => type === condition.type);
  const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
  const after = { ...condition, lastTransitionTime: since ?? formatTime(now) } as Condition;
  return before ? old.map((one) => (one === before ? after : one)) : [...old, after];
}

const typed = (budget: PodDisruptionBudget): PodDisruptionBudget => ({
  ...budget,
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
});

const tell = (budget: PodDisruptionBudget, type: 'Normal' | 'Warning', reason: string, message: string): Effect => ({
  op: 'event',
  regarding: typed(budget),
  type,
  reason,
  message,
});

const write = (budget: PodDisruptionBudget, status: PodDisruptionBudgetStatus): Effect => {
  const object: PodDisruptionBudget = { ...budget, status };
  return { op: 'update', resource: podDisruptionBudgets, subresource: 'status', object };
};

interface Disrupted {
  pods: Record<string, string>;
  recheckMs: number | undefined;
  effects: Effect[];
}

/** Evictions that were granted but not seen yet. */
function disrupted(budget: PodDisruptionBudget, pods: readonly Pod[], now: number): Disrupted {
  const result: Disrupted = { pods: {}, recheckMs: undefined, effects: [] };
  const { namespace } = budget.metadata;
  for (const pod of pods) {
    const name = pod.metadata.name ?? '';
    const since = own(budget.status?.disruptedPods ?? {}, name);
    if (since === undefined || pod.metadata.deletionTimestamp) continue;
    const leftMs = Date.parse(since) + deletionTimeoutMs - now;
    if (leftMs < 0) {
      const regarding: Pod = { ...pod, apiVersion: 'v1', kind: 'Pod' };
      const message = `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`;
      result.effects.push({ op: 'event', regarding, type: 'Warning', reason: 'NotDeleted', message });
      continue;
    }
    result.pods[name] = since;
    result.recheckMs = Math.min(result.recheckMs ?? leftMs, leftMs);
  }
  return result;
}

/** Nothing may be disrupted while nobody knows how many pods there should be. */
function failSafe(budget: PodDisruptionBudget, error: string, now: number): Plan {
  const { status = {} } = budget;
  const condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'SyncFailed',
    message: error,
    observedGeneration: status.observedGeneration ?? 0,
  };
  const next: PodDisruptionBudgetStatus = {
    ...status,
    disruptionsAllowed: 0,
    conditions: conditionsWith(status.conditions ?? [], condition, now),
  };
  return {
    effects: [
      tell(budget, 'Warning', 'CalculateExpectedPodCountFailed', `Failed to calculate the number of expected pods: ${error}`),
      ...(deepEqual(next, status) ? [] : [write(budget, next)]),
    ],
    requeueAfterMs: deletionTimeoutMs,
    because: `Nothing may be disrupted, as the number of expected pods is not known: ${error}.`,
  };
}

const unmanagedText = (budget: PodDisruptionBudget): string =>
  `Pods selected by this PodDisruptionBudget (selector: ${selectorText(budget)}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`;

/** The selector as Go prints a *metav1.LabelSelector. */
function selectorText({ spec }: PodDisruptionBudget): string {
  const { matchLabels = {}, matchExpressions = [] } = spec?.selector ?? {};
  const labels = Object.keys(matchLabels)
    .sort()
    .map((key) => `${key}: ${matchLabels[key]},`)
    .join('');
  const expressions = matchExpressions
    .map(
      ({ key, operator, values = [] }) =>
        `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
    )
    .join('');
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${expressions}},}`;
}

export function reconcileBudget({ budget, pods, scale }: BudgetView, now: number): Plan {
  if (!budget) return { effects: [] };
  if (scale.needsLive.length > 0) return { effects: [], needsLive: scale.needsLive };
  if (scale.error !== undefined) return failSafe(budget, scale.error, now);
  const { expected, desired, usesScale: scaled } = counts(budget, pods, scale.count);
  const pending = disrupted(budget, pods, now);
  const healthy = pods.filter(
    (pod) => !pod.metadata.deletionTimestamp && pending.pods[pod.metadata.name ?? ''] === undefined && isPodReady(pod),
  ).length;
  const allowed = expected <= 0 ? 0 : Math.max(0, healthy - desired);
  const generation = budget.metadata.generation ?? 0;
  const condition = {
    type: 'DisruptionAllowed',
    status: allowed > 0 ? 'True' : 'False',
    reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration: generation,
  };
  const status: PodDisruptionBudgetStatus = {
    observedGeneration: generation,
    ...(Object.keys(pending.pods).length > 0 && { disruptedPods: pending.pods }),
    disruptionsAllowed: allowed,
    currentHealthy: healthy,
    desiredHealthy: desired,
    expectedPods: expected,
    conditions: conditionsWith(budget.status?.conditions ?? [], condition, now),
  };
  return {
    effects: [
      ...(pods.length === 0 ? [tell(budget, 'Normal', 'NoPods', 'No matching pods found')] : []),
      ...(scaled && scale.unmanaged.length > 0 ? [tell(budget, 'Warning', 'UnmanagedPods', unmanagedText(budget))] : []),
      ...pending.effects,
      ...(deepEqual(status, budget.status) ? [] : [write(budget, status)]),
    ],
    ...(pending.recheckMs !== undefined && { requeueAfterMs: pending.recheckMs + 1 }),
    because: `${healthy} of ${expected} pods are healthy and ${desired} must be, so ${allowed} may be disrupted.`,
  };
}
