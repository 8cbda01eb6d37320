// A pod (anti-)affinity term made ready to match (upstream scheduler framework AffinityTerm).
import type { Pod, PodAffinityTerm, WeightedPodAffinityTerm } from '#api/core/v1';
import { fromLabelSelector, nothing, type Labels, type Selector } from '#apimachinery/labels';

export interface AffinityTerm {
  readonly namespaces: ReadonlySet<string>;
  readonly namespaceSelector: Selector;
  readonly selector: Selector;
  readonly topologyKey: string;
}

export interface WeightedAffinityTerm extends AffinityTerm {
  readonly weight: number;
}

/** Throws a StatusError when a selector is not valid, which validation keeps out. */
export function affinityTerm(pod: Pod, term: PodAffinityTerm): AffinityTerm {
  const { namespaces = [], namespaceSelector, labelSelector, topologyKey } = term;
  const own = namespaces.length === 0 && namespaceSelector === undefined ? [pod.metadata.namespace ?? ''] : namespaces;
  return {
    namespaces: new Set(own),
    namespaceSelector: namespaceSelector === undefined ? nothing : fromLabelSelector(namespaceSelector),
    selector: fromLabelSelector(labelSelector),
    topologyKey,
  };
}

export const affinityTerms = (pod: Pod, terms: readonly PodAffinityTerm[] | undefined): readonly AffinityTerm[] =>
  (terms ?? []).map((term) => affinityTerm(pod, term));

export const weightedAffinityTerms = (
  pod: Pod,
  terms: readonly WeightedPodAffinityTerm[] | undefined,
): readonly WeightedAffinityTerm[] =>
  (terms ?? []).map(({ weight, podAffinityTerm }) => ({ ...affinityTerm(pod, podAffinityTerm), weight }));

/** Whether the term is about `pod`, whose namespace has these labels. */
export const termMatches = (term: AffinityTerm, pod: Pod, namespaceLabels: Labels | undefined): boolean =>
  (term.namespaces.has(pod.metadata.namespace ?? '') ||
    (!term.namespaceSelector.nothing && term.namespaceSelector.matches(namespaceLabels))) &&
  term.selector.matches(pod.metadata.labels);

/** All terms at once; no terms match nothing. */
export const allTermsMatch = (terms: readonly AffinityTerm[], pod: Pod, namespaceLabels?: Labels): boolean =>
  terms.length > 0 && terms.every((term) => termMatches(term, pod, namespaceLabels));
