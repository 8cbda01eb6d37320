// A pod's affinity terms with their namespaces worked out, and sums per topology value (upstream plugins/interpodaffinity).
import type { Node } from '#api/core/v1';
import { type AffinityTerm, allTermsMatch, type ClusterView, type PodInfo, type Snapshot } from '../../framework/index.ts';

/** Sums by topology key and value. */
export type TopologySums = Map<string, Map<string, number>>;

export function addSum(sums: TopologySums, node: Node, key: string, by: number): void {
  const value = node.metadata.labels?.[key];
  if (value === undefined) return;
  const values = sums.get(key) ?? new Map<string, number>();
  sums.set(key, values.set(value, (values.get(value) ?? 0) + by));
}

export const sumAt = (sums: TopologySums, node: Node, key: string): number => {
  const value = node.metadata.labels?.[key];
  return value === undefined ? 0 : (sums.get(key)?.get(value) ?? 0);
};

export const copySums = (sums: TopologySums): TopologySums => new Map([...sums].map(([key, values]) => [key, new Map(values)]));

export const anySum = (sums: TopologySums): boolean =>
  [...sums.values()].some((values) => [...values.values()].some((sum) => sum > 0));

/** The term with the namespaces that its selector selects now. A selector of all namespaces stays as it is. */
export function resolveTerm<T extends AffinityTerm>(term: T, view: ClusterView): T {
  if (term.namespaceSelector.nothing || term.namespaceSelector.empty) return term;
  const selected = view.list('Namespace').filter(({ metadata }) => term.namespaceSelector.matches(metadata.labels));
  return { ...term, namespaces: new Set([...term.namespaces, ...selected.map(({ metadata }) => metadata.name ?? '')]) };
}

const termKey = ({ namespaces, namespaceSelector, selector }: AffinityTerm): string =>
  `${namespaceSelector.empty ? '*' : [...namespaces].sort().join()} ${selector.nothing ? '-' : selector.toString()}`;

const resolvedMatches = (terms: readonly AffinityTerm[], { pod }: PodInfo): boolean => allTermsMatch(terms, pod);

/** Pods per node that all of these (resolved) terms are about. */
export const podsMatching = (terms: readonly AffinityTerm[], snapshot: Snapshot): Int32Array =>
  snapshot.podCounts(`affinity ${terms.map(termKey).join(' & ')}`, (info) => resolvedMatches(terms, info));

/** Adds `weight` for each counted pod at the node's value of `key`. */
export function addCounts(sums: TopologySums, counts: Int32Array, key: string, weight: number, snapshot: Snapshot): void {
  const { ids, values } = snapshot.labelColumn(key);
  const totals = new Float64Array(values.length);
  const seen = new Uint8Array(values.length);
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i] as number;
    const id = ids[i] as number;
    if (count === 0 || id < 0) continue;
    totals[id] = (totals[id] as number) + count * weight;
    seen[id] = 1;
  }
  const byValue = sums.get(key) ?? new Map<string, number>();
  values.forEach((value, id) => {
    if (seen[id]) byValue.set(value, (byValue.get(value) ?? 0) + (totals[id] as number));
  });
  if (byValue.size > 0) sums.set(key, byValue);
}
