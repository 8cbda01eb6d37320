// A pod's affinity terms with their namespaces worked out (upstream plugins/interpodaffinity plugin.go).
import { type AffinityTerm, allTermsMatch, type ClusterView, type Snapshot } from '../../framework/index.ts';

/** The term with the namespaces that its selector selects now. A selector of all namespaces stays as it is. */
export function resolveTerm<T extends AffinityTerm>(term: T, view: ClusterView): T {
  if (term.namespaceSelector.nothing || term.namespaceSelector.empty) return term;
  const selected = view.list('Namespace').filter(({ metadata }) => term.namespaceSelector.matches(metadata.labels));
  return { ...term, namespaces: new Set([...term.namespaces, ...selected.map(({ metadata }) => metadata.name ?? '')]) };
}

const termKey = ({ namespaces, namespaceSelector, selector }: AffinityTerm): string =>
  `${namespaceSelector.empty ? '*' : [...namespaces].sort().join()} ${selector.nothing ? '-' : selector.toString()}`;

/** Pods per node that all of these (resolved) terms are about. */
export const podsMatching = (terms: readonly AffinityTerm[], snapshot: Snapshot): Int32Array =>
  snapshot.podCounts(`affinity ${terms.map(termKey).join(' & ')}`, ({ pod }) => allTermsMatch(terms, pod));
