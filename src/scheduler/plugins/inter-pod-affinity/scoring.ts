// Preferred terms: the pod's own, and those of pods already there (upstream plugins/interpodaffinity scoring.go).
import { type AffinityTerm, type Cycle, maxNodeScore, type NodeInfo, type PodInfo, termMatches } from '../../framework/index.ts';
import { namespaceLabelsOf } from './filtering.ts';
import { addAsked, addCounts, sumAt, type TopologySums } from './sums.ts';
import { podsMatching, resolveTerm } from './terms.ts';

interface Wish extends AffinityTerm {
  readonly weight: number;
}

/** What a pod already there wishes for or against. */
function wishesOf(other: PodInfo, hardWeight: number): Wish[] {
  return [
    ...(hardWeight > 0 ? other.requiredAffinity.map((term) => ({ ...term, weight: hardWeight })) : []),
    ...other.preferredAffinity,
    ...other.preferredAntiAffinity.map((term) => ({ ...term, weight: -term.weight })),
  ];
}

/** Sums of the pod's and the existing pods' preferences by topology; undefined when nobody has any. */
export function scoreSums(cycle: Cycle, hardWeight: number, ignoreExisting: boolean): TopologySums | undefined {
  const { pod, snapshot, view } = cycle;
  const own: Wish[] = [...pod.preferredAffinity, ...pod.preferredAntiAffinity.map((term) => ({ ...term, weight: -term.weight }))];
  if (ignoreExisting && own.length === 0) return undefined;
  const sums: TopologySums = new Map();
  for (const wish of own) {
    addCounts(sums, podsMatching([resolveTerm(wish, view)], snapshot), wish.topologyKey, wish.weight, snapshot);
  }
  if (snapshot.affinityGroups.size > 0) {
    const namespaceLabels = namespaceLabelsOf(cycle);
    addAsked(sums, snapshot, (other) =>
      wishesOf(other, hardWeight)
        .filter((wish) => termMatches(wish, pod.pod, namespaceLabels))
        .map(({ topologyKey, weight }) => ({ topologyKey, by: weight })),
    );
  }
  return sums.size === 0 ? undefined : sums;
}

export function affinityScore(sums: TopologySums, node: NodeInfo): number {
  let score = 0;
  for (const key of sums.keys()) score += sumAt(sums, node, key);
  return score;
}

/** Stretches the scores from the least to the most liked node. */
export function normalizeAffinity(scores: Float64Array): void {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const score of scores) {
    if (score < min) min = score;
    if (score > max) max = score;
  }
  const span = max - min;
  for (let i = 0; i < scores.length; i++) {
    scores[i] = span > 0 ? Math.trunc(maxNodeScore * (((scores[i] as number) - min) / span)) : 0;
  }
}
