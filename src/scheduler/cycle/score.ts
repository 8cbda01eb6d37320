// The second half of a cycle: which of the nodes that would do is best (upstream schedule_one.go prioritizeNodes, RunScorePlugins).
// All of them are scored, none sampled; ties are broken by the random generator.
import {
  type Cycle,
  explainedBest,
  explainedNodesMax,
  type NodeInfo,
  type Profile,
  type Status,
  type WeightedPlugin,
} from '../framework/index.ts';
import { isConstant, type LocalScore, type PodClass } from './class-table.ts';
import type { NodeScore } from './decision.ts';
import type { Filtered, PreFiltered } from './filter.ts';

interface Column {
  readonly name: string;
  readonly weight: number;
  /** Normalised score of the feasible node in this place. */
  at(place: number): number;
}

/** The arrays that scoring uses again from cycle to cycle. */
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

const one = new Float64Array(1);

/** What normalising makes of a raw 0 everywhere. */
function constantScore({ plugin, state }: LocalScore, cycle: Cycle): number {
  one[0] = 0;
  plugin.normalize?.(state, one, [], cycle);
  return one[0];
}

interface Scoring {
  readonly cycle: Cycle;
  readonly filtered: Pick<Filtered, 'feasible' | 'indexes' | 'podClass'>;
  readonly pre: PreFiltered;
  readonly scratch: ScoreScratch;
}

/** A local plugin's scores: those that are not normalised are part of the class's sum already. */
function localColumn(local: LocalScore, { cycle, filtered, scratch }: Scoring, totals: Float64Array): Column {
  const { plugin, weight, raw, state } = local;
  const { feasible, indexes } = filtered;
  const { name } = plugin;
  if (plugin.normalize === undefined) return { name, weight, at: (place) => raw[indexes[place] as number] as number };
  if (isConstant(local)) {
    const constant = constantScore(local, cycle);
    for (let i = 0; i < totals.length; i++) totals[i] = (totals[i] as number) + weight * constant;
    return { name, weight, at: () => constant };
  }
  const scores = scratch.take(feasible.length);
  for (let i = 0; i < feasible.length; i++) scores[i] = raw[indexes[i] as number] as number;
  plugin.normalize(state, scores, feasible, cycle);
  return added({ name, weight, scores }, totals);
}

function added({ name, weight, scores }: { name: string; weight: number; scores: Float64Array }, totals: Float64Array): Column {
  for (let i = 0; i < totals.length; i++) totals[i] = (totals[i] as number) + weight * (scores[i] as number);
  return { name, weight, at: (place) => scores[place] as number };
}

/** undefined when the plugin has nothing to say. */
function column({ plugin, weight }: WeightedPlugin, scoring: Scoring, totals: Float64Array): Column | Status | undefined {
  const { cycle, filtered, pre, scratch } = scoring;
  const { feasible, podClass } = filtered;
  if (plugin.local) {
    const local = podClass.scores.get(plugin);
    return local && localColumn(local, scoring, totals);
  }
  const answer = plugin.preScore?.(cycle, feasible, pre.states.get(plugin));
  if (answer?.status) return answer.status;
  if (answer?.skip) return undefined;
  const scores = scratch.take(feasible.length);
  for (let i = 0; i < feasible.length; i++) scores[i] = plugin.score?.(answer?.state, feasible[i] as NodeInfo, cycle) ?? 0;
  plugin.normalize?.(answer?.state, scores, feasible, cycle);
  return added({ name: plugin.name, weight, scores }, totals);
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

function explain(
  columns: readonly Column[],
  feasible: readonly NodeInfo[],
  places: readonly number[],
  totals: Float64Array,
): NodeScore[] {
  return places.map((place) => {
    const plugins: Record<string, number> = {};
    for (const { name, weight, at } of columns) plugins[name] = weight * at(place);
    return { node: (feasible[place] as NodeInfo).name, total: totals[place] as number, plugins };
  });
}

export interface Scored {
  readonly node: NodeInfo;
  readonly scores: readonly NodeScore[];
}

export function scoreNodes(profile: Profile, scoring: Scoring): Scored | Status {
  const { cycle, filtered, scratch } = scoring;
  const { feasible, indexes, podClass } = filtered;
  scratch.reset();
  const totals = scratch.take(feasible.length);
  for (let i = 0; i < feasible.length; i++) totals[i] = podClass.fixed[indexes[i] as number] as number;
  const columns: Column[] = [];
  for (const weighted of profile.score) {
    const made = column(weighted, scoring, totals);
    if (made === undefined) continue;
    if ('code' in made) return made;
    columns.push(made);
  }
  const node = feasible[pickBest(totals, cycle)] as NodeInfo;
  return { node, scores: explain(columns, feasible, bestPlaces(totals), totals) };
}

/** No plugin tells nodes apart but by the class's sum. */
export const classRanks = (profile: Profile, cycle: Cycle, { scores }: PodClass): boolean =>
  profile.score.every(({ plugin }) => {
    const local = scores.get(plugin);
    if (plugin.local) return local === undefined || plugin.normalize === undefined || isConstant(local);
    return plugin.quiet?.(cycle) === true;
  });

/** The best node by the class's tree; only where `classRanks` holds and at least one node passes. */
export function bestOfClass(profile: Profile, cycle: Cycle, podClass: PodClass): Scored {
  const { nodes } = cycle.snapshot;
  const constants: { name: string; score: number }[] = [];
  const own: LocalScore[] = [];
  for (const { plugin } of profile.score) {
    const local = podClass.scores.get(plugin);
    if (local === undefined) continue;
    if (plugin.normalize === undefined) own.push(local);
    else constants.push({ name: plugin.name, score: local.weight * constantScore(local, cycle) });
  }
  const common = constants.reduce((sum, { score }) => sum + score, 0);
  const scores = podClass.tree.top(explainedBest).map((index) => {
    const plugins: Record<string, number> = {};
    for (const { name, score } of constants) plugins[name] = score;
    for (const { plugin, weight, raw } of own) plugins[plugin.name] = weight * (raw[index] as number);
    return { node: (nodes[index] as NodeInfo).name, total: common + (podClass.fixed[index] as number), plugins };
  });
  return { node: nodes[podClass.tree.pick(cycle.rng)] as NodeInfo, scores };
}
