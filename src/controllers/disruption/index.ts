// Keeps the status of PodDisruptionBudgets, which the eviction API goes by (pkg/controller/disruption).
import type { Pod, PodCondition } from '#api/core/v1';
import type { PodDisruptionBudget } from '#api/policy/v1';
import { fromLabelSelector, nothing, type Selector } from '#apimachinery/labels';
import { splitKey } from '#apimachinery/meta';
import { findCondition } from '#component-helpers/pod';
import { isPodTerminal } from '#component-helpers/workload';
import { type ControllerDefinition, defineController, ownKey, type Plan, watch } from '#controller-runtime';
import { patchPodStatus, podDisruptionBudgets, pods } from '#controller-runtime/platform';
import {
  allow,
  deployments,
  recordEvents,
  replicaSets,
  replicationControllers,
  statefulSets,
} from '#controller-runtime/workload';
import { type BudgetView, reconcileBudget, usesScale } from './budget.ts';
import { expectedScale } from './scale.ts';

const discoveryPeriodMs = 30_000;
/** A pod that was to be disrupted but is still not being deleted by then is no disruption target. */
const staleMs = 120_000;
const podPrefix = 'pod/';

type View = ({ of: 'budget' } & BudgetView) | { of: 'pod'; pod: Pod | undefined };

const selectors = new WeakMap<object, Selector>();

function selectorOf({ spec }: PodDisruptionBudget): Selector {
  const { selector } = spec ?? {};
  if (!selector) return nothing;
  const known = selectors.get(selector) ?? fromLabelSelector(selector);
  selectors.set(selector, known);
  return known;
}

const selects = (budget: PodDisruptionBudget, ...all: (Pod | undefined)[]): boolean =>
  all.some((pod) => pod && selectorOf(budget).matches(pod.metadata.labels ?? {}));

/** When the pod's DisruptionTarget condition goes stale; undefined: it has none that could. */
function staleAt(pod: Pod | undefined): number | undefined {
  const condition = pod && findCondition(pod.status?.conditions, 'DisruptionTarget');
  if (condition?.status !== 'True' || condition.reason === 'TerminationByKubelet') return undefined;
  if (!pod || pod.metadata.deletionTimestamp || isPodTerminal(pod)) return undefined;
  return Date.parse(condition.lastTransitionTime ?? '') + staleMs;
}

function reconcilePod(pod: Pod | undefined, now: number): Plan {
  const at = staleAt(pod);
  if (!pod || at === undefined || Number.isNaN(at)) return { effects: [] };
  if (at > now) return { effects: [], requeueAfterMs: at - now };
  const condition: PodCondition = { type: 'DisruptionTarget', status: 'False' };
  const { generation } = pod.metadata;
  return {
    effects: [
      patchPodStatus(pod, now, {
        ...condition,
        ...(generation !== undefined && { observedGeneration: generation }),
        reason: null,
        message: null,
      } as unknown as PodCondition),
    ],
    because: 'It was to be disrupted, but nobody deleted it.',
  };
}

export const disruptionController: ControllerDefinition = defineController<View>({
  name: 'disruption-controller',
  aliases: ['disruption'],
  for: podDisruptionBudgets,
  eventSource: 'controllermanager',
  rights: [
    allow('get,list,watch', 'apps,extensions', 'deployments'),
    allow('get,list,watch', 'apps,extensions', 'replicasets'),
    allow('get,list,watch', 'core', 'replicationcontrollers'),
    allow('get,list,watch', 'policy', 'poddisruptionbudgets'),
    allow('get,list,watch', 'apps', 'statefulsets'),
    allow('update', 'policy', 'poddisruptionbudgets/status'),
    allow('patch,update', 'core', 'pods/status'),
    allow('get', '*', '*/scale'),
    recordEvents,
  ],
  watches: [
    watch<PodDisruptionBudget>({ resource: podDisruptionBudgets, keys: (budget) => ownKey(budget) }),
    watch<Pod>({
      resource: pods,
      *keys(pod, old, cache) {
        for (const budget of cache.list<PodDisruptionBudget>(podDisruptionBudgets, pod.metadata.namespace))
          if (selects(budget, pod, old)) yield* ownKey(budget);
        if (staleAt(pod) !== undefined) yield `${podPrefix}${ownKey(pod)[0]}`;
      },
    }),
    ...[replicationControllers, deployments, replicaSets, statefulSets].map((resource) => watch({ resource })),
  ],
  discover: { everyMs: discoveryPeriodMs, watch: () => undefined },
  view(key, cache, { live }) {
    if (key.startsWith(podPrefix)) {
      const { namespace, name } = splitKey(key.slice(podPrefix.length));
      return { of: 'pod', pod: cache.get<Pod>(pods, namespace, name) };
    }
    const { namespace, name } = splitKey(key);
    const budget = cache.get<PodDisruptionBudget>(podDisruptionBudgets, namespace, name);
    const selected = budget ? cache.list<Pod>(pods, namespace).filter((pod) => selects(budget, pod)) : [];
    const none = { count: 0, unmanaged: [], needsLive: [] };
    return {
      of: 'budget',
      budget,
      pods: selected,
      scale: budget && usesScale(budget) ? expectedScale(selected, cache, live) : none,
    };
  },
  reconcile: (view, now) => (view.of === 'pod' ? reconcilePod(view.pod, now) : reconcileBudget(view, now)),
});
