// A pod (anti-)affinity term made ready to match (upstream scheduler framework AffinityTerm).
import type { Pod, PodAffinityTerm, WeightedPodAffinityTerm } from '#api/core/v1';
import { fromLabelSelector, nothing, type Labels, type Selector } from '#apimachinery/labels';
import { affinityTermsMax } from './limits.ts';

export interface AffinityTerm {
  readonly namespaces: ReadonlySet<string>;
  readonly namespaceSelector: Selector;
  readonly selector: Selector;
  readonly topologyKey: string;
}

export interface WeightedAffinityTerm extends AffinityTerm {
  readonly weight: number;
}

const none: ReadonlySet<string> = new Set();

/** Throws a StatusError when a selector is not valid, which validation keeps out. `own`: the pod's namespace, shared by its terms. */
function affinityTerm(own: ReadonlySet<string>, term: PodAffinityTerm): AffinityTerm {
  const { namespaces = [], namespaceSelector, labelSelector, topologyKey } = term;
  const named = namespaces.length === 0 ? none : new Set(namespaces);
  return {
    namespaces: namespaces.length === 0 && namespaceSelector === undefined ? own : named,
    namespaceSelector: namespaceSelector === undefined ? nothing : fromLabelSelector(namespaceSelector),
    selector: fromLabelSelector(labelSelector),
    topologyKey,
  };
}

const ownNamespace = ({ metadata }: Pod): ReadonlySet<string> => new Set([metadata.namespace ?? '']);

export function affinityTerms(pod: Pod, terms: readonly PodAffinityTerm[] = []): readonly AffinityTerm[] {
  const own = ownNamespace(pod);
  return terms.map((term) => affinityTerm(own, term));
}

export function weightedAffinityTerms(pod: Pod, terms: readonly WeightedPodAffinityTerm[] = []): readonly WeightedAffinityTerm[] {
  const own = ownNamespace(pod);
  return terms.map(({ weight, podAffinityTerm }) => ({ ...affinityTerm(own, podAffinityTerm), weight }));
}

/** The terms of a pod that are looked at. */
export interface KeptTerms {
  required: readonly PodAffinityTerm[];
  requiredAnti: readonly PodAffinityTerm[];
  preferred: readonly WeightedPodAffinityTerm[];
  preferredAnti: readonly WeightedPodAffinityTerm[];
  /** Required ones that the pod has, whether or not they are looked at. */
  requiredTotal: number;
}

/** The first of them, required ones before preferred ones. */
export function keptTerms({ spec }: Pod): KeptTerms {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {};
  let left = affinityTermsMax;
  const take = <T>(terms: readonly T[] = []): readonly T[] => {
    const taken = terms.length <= left ? terms : terms.slice(0, left);
    left -= taken.length;
    return taken;
  };
  const required = podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const requiredAnti = podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return {
    required: take(required),
    requiredAnti: take(requiredAnti),
    preferred: take(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    preferredAnti: take(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    requiredTotal: required.length + requiredAnti.length,
  };
}

/** Whether the term is about `pod`, whose namespace has these labels. */
export const termMatches = (term: AffinityTerm, pod: Pod, namespaceLabels: Labels | undefined): boolean =>
  (term.namespaces.has(pod.metadata.namespace ?? '') ||
    (!term.namespaceSelector.nothing && term.namespaceSelector.matches(namespaceLabels))) &&
  term.selector.matches(pod.metadata.labels);

/** All terms at once; no terms match nothing. */
export const allTermsMatch = (terms: readonly AffinityTerm[], pod: Pod, namespaceLabels?: Labels): boolean =>
  terms.length > 0 && terms.every((term) => termMatches(term, pod, namespaceLabels));
