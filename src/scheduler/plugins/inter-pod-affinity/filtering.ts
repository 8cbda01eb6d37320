// Required terms: the pod's own, and those of pods already there that keep it off (upstream plugins/interpodaffinity filtering.go).
import type { Labels } from '#apimachinery/labels';
import { own } from '#utils';
import {
  type AffinityTerm,
  allTermsMatch,
  type Cycle,
  type NodeInfo,
  type PodInfo,
  type Status,
  termMatches,
  unresolvable,
  unschedulable,
} from '../../framework/index.ts';
import { addAsked, addCounts, addSum, anySum, copySums, sumAt, type TopologySums } from './sums.ts';
import { podsMatching, resolveTerm } from './terms.ts';

const name = 'InterPodAffinity';
const noAffinity = unresolvable(name, "node(s) didn't match pod affinity rules");
const antiAffinity = unschedulable(name, "node(s) didn't match pod anti-affinity rules");
const existingAntiAffinity = unschedulable(name, "node(s) didn't satisfy existing pods anti-affinity rules");

export interface FilterState {
  readonly namespaceLabels: Labels | undefined;
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
  /** Pods that all affinity terms are about. */
  readonly wanted: TopologySums;
  /** Pods that one of the anti-affinity terms is about. */
  readonly unwanted: TopologySums;
  /** Pods whose own anti-affinity is about this one. */
  readonly unwelcome: TopologySums;
}

export const namespaceLabelsOf = ({ view, pod }: Cycle): Labels | undefined =>
  view.get('Namespace', '', pod.namespace)?.metadata.labels;

export function filterState(cycle: Cycle): FilterState {
  const { pod, snapshot, view } = cycle;
  const namespaceLabels = namespaceLabelsOf(cycle);
  const state: FilterState = {
    namespaceLabels,
    affinity: pod.requiredAffinity.map((term) => resolveTerm(term, view)),
    antiAffinity: pod.requiredAntiAffinity.map((term) => resolveTerm(term, view)),
    wanted: new Map(),
    unwanted: new Map(),
    unwelcome: new Map(),
  };
  if (snapshot.nodesWithRequiredAntiAffinity.size > 0) {
    addAsked(state.unwelcome, snapshot, (other) =>
      refusals(state, other, cycle).map(({ topologyKey }) => ({ topologyKey, by: 1 })),
    );
  }
  if (state.affinity.length > 0) {
    const counts = podsMatching(state.affinity, snapshot);
    for (const { topologyKey } of state.affinity) addCounts(state.wanted, counts, topologyKey, 1, snapshot);
  }
  for (const term of state.antiAffinity) addCounts(state.unwanted, podsMatching([term], snapshot), term.topologyKey, 1, snapshot);
  return state;
}

export const isIdle = ({ affinity, antiAffinity: anti, unwelcome }: FilterState): boolean =>
  affinity.length === 0 && anti.length === 0 && unwelcome.size === 0;

export const copyFilterState = (state: FilterState): FilterState => ({
  ...state,
  wanted: copySums(state.wanted),
  unwanted: copySums(state.unwanted),
  unwelcome: copySums(state.unwelcome),
});

/** Terms of another pod's that keep this one away. */
const refusals = (state: FilterState, other: PodInfo, { pod }: Cycle): AffinityTerm[] =>
  other.requiredAntiAffinity.filter((term) => termMatches(term, pod.pod, state.namespaceLabels));

/** A pod comes to (`by` 1) or leaves (-1) a node. */
export function updateState(state: FilterState, other: PodInfo, node: NodeInfo, cycle: Cycle, by: 1 | -1): void {
  const { snapshot } = cycle;
  for (const { topologyKey } of refusals(state, other, cycle)) addSum(state.unwelcome, node, topologyKey, by, snapshot);
  if (allTermsMatch(state.affinity, other.pod)) {
    for (const { topologyKey } of state.affinity) addSum(state.wanted, node, topologyKey, by, snapshot);
  }
  for (const term of state.antiAffinity) {
    if (termMatches(term, other.pod, undefined)) addSum(state.unwanted, node, term.topologyKey, by, snapshot);
  }
}

/** Wanted pods are in every topology asked for; a pod that wants its own kind may be the first of it. */
function hasCompany(state: FilterState, node: NodeInfo, { pod }: Cycle): boolean {
  let all = true;
  for (const { topologyKey } of state.affinity) {
    if (own(node.node.metadata.labels ?? {}, topologyKey) === undefined) return false;
    if (sumAt(state.wanted, node, topologyKey) <= 0) all = false;
  }
  return all || (!anySum(state.wanted) && allTermsMatch(state.affinity, pod.pod));
}

export function affinityVerdict(state: FilterState, node: NodeInfo, cycle: Cycle): Status | undefined {
  if (state.affinity.length > 0 && !hasCompany(state, node, cycle)) return noAffinity;
  for (const { topologyKey } of state.antiAffinity) if (sumAt(state.unwanted, node, topologyKey) > 0) return antiAffinity;
  for (const key of state.unwelcome.keys()) if (sumAt(state.unwelcome, node, key) > 0) return existingAntiAffinity;
  return undefined;
}
