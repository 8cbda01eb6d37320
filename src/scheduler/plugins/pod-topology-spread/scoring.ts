// Constraints that should hold: nodes in emptier domains are better (upstream plugins/podtopologyspread scoring.go).
import { type Cycle, type LabelColumn, maxNodeScore, type NodeInfo } from '../../framework/index.ts';
import { hostnameLabel, inclusion, matchingPods, type SpreadConstraint } from './constraints.ts';

interface Topology {
  readonly constraint: SpreadConstraint;
  readonly column: LabelColumn;
  /** Matching pods per node. */
  readonly pods: Int32Array | undefined;
  /** Matching pods by place of the value, shifted by one: 0 stands for nodes without the label. Not for hostnames. */
  readonly counts: Float64Array | undefined;
  readonly weight: number;
}

export interface ScoreState {
  readonly topologies: readonly Topology[];
  /** By node index: 1 where the node lacks one of the labels. */
  readonly ignored: Uint8Array;
}

const lacksLabel = (columns: readonly LabelColumn[], index: number): boolean =>
  columns.some(({ ids }) => (ids[index] as number) < 0);

/** `requireAll`: nodes that lack one of the labels do not take part. */
export function scoreState(
  cycle: Cycle,
  constraints: readonly SpreadConstraint[],
  feasible: readonly NodeInfo[],
  requireAll: boolean,
): ScoreState {
  const { pod, snapshot } = cycle;
  const columns = constraints.map(({ topologyKey }) => snapshot.labelColumn(topologyKey));
  const ignored = new Uint8Array(snapshot.nodes.length);
  let taking = feasible.length;
  if (requireAll) {
    for (const { index } of feasible) {
      if (!lacksLabel(columns, index)) continue;
      ignored[index] = 1;
      taking--;
    }
  }
  const included = inclusion(pod.pod);
  const topologies = constraints.map((constraint, i): Topology => {
    const column = columns[i] as LabelColumn;
    const pods = matchingPods(constraint, pod.namespace, snapshot);
    if (constraint.topologyKey === hostnameLabel) {
      return { constraint, column, pods, counts: undefined, weight: Math.log(taking + 2) };
    }
    const counts = new Float64Array(column.values.length + 1).fill(-1);
    let size = 0;
    for (const { index } of feasible) {
      const slot = (column.ids[index] as number) + 1;
      if (ignored[index] || counts[slot] === 0) continue;
      counts[slot] = 0;
      size++;
    }
    for (const node of snapshot.nodes) {
      const count = pods?.[node.index] ?? 0;
      if (count === 0) continue;
      const slot = (column.ids[node.index] as number) + 1;
      if ((counts[slot] as number) < 0 || (requireAll && lacksLabel(columns, node.index)) || !included(constraint, node))
        continue;
      counts[slot] = (counts[slot] as number) + count;
    }
    return { constraint, column, pods, counts, weight: Math.log(size + 2) };
  });
  return { topologies, ignored };
}

export function spreadScore({ topologies, ignored }: ScoreState, { index }: NodeInfo): number {
  if (ignored[index]) return 0;
  let score = 0;
  for (const { constraint, column, pods, counts, weight } of topologies) {
    const id = column.ids[index] as number;
    if (id < 0) continue;
    const count = counts === undefined ? (pods?.[index] ?? 0) : (counts[id + 1] as number);
    score += count * weight + (constraint.maxSkew - 1);
  }
  return Math.round(score);
}

/** The fewer, the better: turned around between the least and the most. */
export function normalizeSpread({ ignored }: ScoreState, scores: Float64Array, feasible: readonly NodeInfo[]): void {
  let min = Number.POSITIVE_INFINITY;
  let max = 0;
  for (let i = 0; i < scores.length; i++) {
    if (ignored[(feasible[i] as NodeInfo).index]) continue;
    min = Math.min(min, scores[i] as number);
    max = Math.max(max, scores[i] as number);
  }
  for (let i = 0; i < scores.length; i++) {
    if (ignored[(feasible[i] as NodeInfo).index]) scores[i] = 0;
    else scores[i] = max === 0 ? maxNodeScore : Math.trunc((maxNodeScore * (max + min - (scores[i] as number))) / max);
  }
}
