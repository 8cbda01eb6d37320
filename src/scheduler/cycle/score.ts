// The second half of a cycle: which of the nodes that would do is best (upstream schedule_one.go prioritizeNodes, RunScorePlugins).
// All of them are scored, none sampled; ties are broken by the random generator.
import {
  type Cycle,
  explainedBest,
  explainedNodesMax,
  type NodeInfo,
  type Plugin,
  type Profile,
  type Status,
} from '../framework/index.ts';
import type { NodeScore } from './decision.ts';
import type { Filtered, PreFiltered } from './filter.ts';

interface Column {
  readonly name: string;
  readonly weight: number;
  readonly scores: Float64Array;
}

/** Arrays used again from cycle to cycle. */
export class ScoreScratch {
  readonly #arrays: Float64Array[] = [];
  #used = 0;

  reset(): void {
    this.#used = 0;
  }
  /** An array of `size`, not cleared, good until `reset`. */
  take(size: number): Float64Array {
    let array = this.#arrays[this.#used];
    if (array === undefined || array.length < size) {
      array = new Float64Array(Math.max(size, 64));
      this.#arrays[this.#used] = array;
    }
    this.#used++;
    return array.length === size ? array : array.subarray(0, size);
  }
}

type Raw = Float64Array | undefined | { status: Status };

const isStatus = (raw: Raw): raw is { status: Status } => raw !== undefined && 'status' in raw;

/** Raw scores of one plugin, in the order of the feasible nodes; undefined when it has nothing to say. */
function rawScores(plugin: Plugin, cycle: Cycle, filtered: Filtered, pre: PreFiltered, scratch: ScoreScratch): Raw {
  const { feasible, podClass } = filtered;
  if (plugin.local) {
    const kept = podClass.scores.get(plugin);
    if (kept === undefined) return undefined;
    const scores = scratch.take(feasible.length);
    for (let i = 0; i < feasible.length; i++) scores[i] = kept.raw[(feasible[i] as NodeInfo).index] as number;
    plugin.normalize?.(kept.state, scores, feasible, cycle);
    return scores;
  }
  const answer = plugin.preScore?.(cycle, feasible, pre.states.get(plugin));
  if (answer?.status) return { status: answer.status };
  if (answer?.skip) return undefined;
  const scores = scratch.take(feasible.length);
  for (let i = 0; i < feasible.length; i++) scores[i] = plugin.score?.(answer?.state, feasible[i] as NodeInfo, cycle) ?? 0;
  plugin.normalize?.(answer?.state, scores, feasible, cycle);
  return scores;
}

/** A random one of the best. */
function pickBest(totals: Float64Array, cycle: Cycle): number {
  let best = Number.NEGATIVE_INFINITY;
  let ties = 0;
  for (let i = 0; i < totals.length; i++) {
    const total = totals[i] as number;
    if (total > best) {
      best = total;
      ties = 1;
    } else if (total === best) ties++;
  }
  let skip = ties > 1 ? cycle.rng.int(ties) : 0;
  for (let i = 0; i < totals.length; i++) if (totals[i] === best && skip-- === 0) return i;
  return 0;
}

/** Places of the highest totals, best first. */
function bestPlaces(totals: Float64Array): number[] {
  const byTotal = (a: number, b: number): number => (totals[b] as number) - (totals[a] as number) || a - b;
  if (totals.length <= explainedNodesMax) return Array.from(totals, (_, place) => place).sort(byTotal);
  const best: number[] = [];
  for (let i = 0; i < totals.length; i++) {
    const last = best[explainedBest - 1];
    if (last !== undefined && (totals[i] as number) <= (totals[last] as number)) continue;
    best.push(i);
    best.sort(byTotal);
    if (best.length > explainedBest) best.pop();
  }
  return best;
}

function explain(columns: readonly Column[], totals: Float64Array, feasible: readonly NodeInfo[]): NodeScore[] {
  return bestPlaces(totals).map((place) => ({
    node: (feasible[place] as NodeInfo).name,
    total: totals[place] as number,
    plugins: Object.fromEntries(columns.map(({ name, weight, scores }) => [name, weight * (scores[place] as number)])),
  }));
}

export type Scored = { node: NodeInfo; scores: readonly NodeScore[] } | { status: Status };

export function scoreNodes(profile: Profile, cycle: Cycle, filtered: Filtered, pre: PreFiltered, scratch: ScoreScratch): Scored {
  const { feasible } = filtered;
  scratch.reset();
  const totals = scratch.take(feasible.length).fill(0);
  const columns: Column[] = [];
  for (const { plugin, weight } of profile.score) {
    const scores = rawScores(plugin, cycle, filtered, pre, scratch);
    if (isStatus(scores)) return scores;
    if (scores === undefined) continue;
    for (let i = 0; i < totals.length; i++) totals[i] = (totals[i] as number) + weight * (scores[i] as number);
    columns.push({ name: plugin.name, weight, scores });
  }
  return { node: feasible[pickBest(totals, cycle)] as NodeInfo, scores: explain(columns, totals, feasible) };
}
