// Constraints that must hold: the difference between a domain and the emptiest one (upstream plugins/podtopologyspread filtering.go).
import {
  type Cycle,
  type LabelColumn,
  type NodeInfo,
  type PodInfo,
  unresolvable,
  unschedulable,
  type Status,
} from '../../framework/index.ts';
import { inclusion, matchingPods, type SpreadConstraint } from './constraints.ts';

const name = 'PodTopologySpread';
const reason = "node(s) didn't match pod topology spread constraints";
const tooSkewed = unschedulable(name, reason);
const missingLabel = unresolvable(name, `${reason} (missing required label)`);

interface Domains {
  readonly constraint: SpreadConstraint;
  readonly column: LabelColumn;
  /** Matching pods by place of the value in the column; -1: no node that counts has it. */
  readonly counts: Int32Array;
  readonly selfMatch: 0 | 1;
  min: number;
}

export type FilterState = readonly Domains[];

function leastOf(counts: Int32Array, minDomains: number): number {
  let domains = 0;
  let min = Number.POSITIVE_INFINITY;
  for (const count of counts) {
    if (count < 0) continue;
    domains++;
    if (count < min) min = count;
  }
  return domains < minDomains || domains === 0 ? 0 : min;
}

/** By node index: 1 where the node has the labels of all constraints. */
function haveAllLabels(size: number, domains: readonly Domains[]): Uint8Array {
  const complete = new Uint8Array(size).fill(1);
  for (const { column } of domains) for (let i = 0; i < size; i++) if ((column.ids[i] as number) < 0) complete[i] = 0;
  return complete;
}

export function filterState(cycle: Cycle, constraints: readonly SpreadConstraint[]): FilterState {
  const { pod, snapshot } = cycle;
  const included = inclusion(pod.pod);
  const domains = constraints.map((constraint): Domains => {
    const column = snapshot.labelColumn(constraint.topologyKey);
    const selfMatch = constraint.selector.matches(pod.pod.metadata.labels) ? 1 : 0;
    return { constraint, column, counts: new Int32Array(column.values.length).fill(-1), selfMatch, min: 0 };
  });
  const pods = constraints.map((constraint) => matchingPods(constraint, pod.namespace, snapshot));
  const complete = haveAllLabels(snapshot.nodes.length, domains);
  domains.forEach(({ constraint, column: { ids }, counts }, i) => {
    const selective = constraint.honorsTaints || constraint.honorsAffinity;
    const own = pods[i];
    for (let index = 0; index < ids.length; index++) {
      if (complete[index] === 0 || (selective && !included(constraint, snapshot.nodes[index] as NodeInfo))) continue;
      const id = ids[index] as number;
      counts[id] = Math.max(counts[id] as number, 0) + (own === undefined ? 0 : (own[index] as number));
    }
  });
  for (const one of domains) one.min = leastOf(one.counts, one.constraint.minDomains);
  return domains;
}

export const copyFilterState = (state: FilterState): FilterState => state.map((one) => ({ ...one, counts: one.counts.slice() }));

/** A pod comes to (`by` 1) or leaves (-1) a node. */
export function updateState(state: FilterState, other: PodInfo, node: NodeInfo, cycle: Cycle, by: 1 | -1): void {
  if (other.namespace !== cycle.pod.namespace) return;
  if (!state.every(({ column }) => (column.ids[node.index] as number) >= 0)) return;
  const included = inclusion(cycle.pod.pod);
  for (const one of state) {
    const { constraint, column, counts } = one;
    if (!constraint.selector.matches(other.pod.metadata.labels) || !included(constraint, node)) continue;
    const id = column.ids[node.index] as number;
    counts[id] = Math.max(counts[id] as number, 0) + by;
    one.min = leastOf(counts, constraint.minDomains);
  }
}

export function spreadVerdict(state: FilterState, node: NodeInfo): Status | undefined {
  for (const { constraint, column, counts, selfMatch, min } of state) {
    const id = column.ids[node.index] as number;
    if (id < 0) return missingLabel;
    if (Math.max(counts[id] as number, 0) + selfMatch - min > constraint.maxSkew) return tooSkewed;
  }
  return undefined;
}
