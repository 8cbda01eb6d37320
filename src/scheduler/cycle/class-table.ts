// Verdicts and scores that depend only on a pod's class and a node, kept per class in typed arrays and renewed for nodes that changed.
// It makes the cost of a cycle that of the few nodes touched since the last pod of the class; a tree over the sums of the scores that need
// no normalising finds the best node when nothing else has a say.
import {
  type Cycle,
  type NodeInfo,
  type Plugin,
  podClassesMax,
  remember,
  type Snapshot,
  type Status,
  type WeightedPlugin,
} from '../framework/index.ts';
import { BestTree } from './best-tree.ts';

export interface FilterStep {
  readonly plugin: Plugin;
  readonly state: unknown;
}

export interface LocalScore extends WeightedPlugin {
  readonly state: unknown;
  /** Raw scores by node index; 0 for nodes that do not pass. */
  readonly raw: Float64Array;
  /** How many of them are not 0: with none, a normalised score is the same everywhere. */
  nonZero: number;
}

export interface PodClass {
  readonly structure: number;
  readonly images: number;
  version: number;
  /** By node index: 0 where the node passes, otherwise a place in `statuses`. */
  readonly codes: Uint16Array;
  readonly statuses: (Status | undefined)[];
  /** Nodes by code. */
  readonly nodes: number[];
  readonly scores: ReadonlyMap<Plugin, LocalScore>;
  /** Weighted sum of the scores that are not normalised, by node index. */
  readonly fixed: Float64Array;
  readonly tree: BestTree;
}

const codesMax = 65_535;

export type ClassTable = Map<string, PodClass>;

function codeOf(known: PodClass, status: Status | undefined): number {
  if (status === undefined) return 0;
  const code = known.statuses.indexOf(status, 1);
  if (code > 0) return code;
  if (known.statuses.length >= codesMax) throw new RangeError('too many different verdicts');
  known.nodes.push(0);
  return known.statuses.push(status) - 1;
}

/** The first step's refusal, in order. */
export function runFilters(steps: readonly FilterStep[], node: NodeInfo, cycle: Cycle): Status | undefined {
  for (const { plugin, state } of steps) {
    const status = plugin.filter?.(state, node, cycle);
    if (status !== undefined) return status;
  }
  return undefined;
}

function move(known: PodClass, index: number, code: number): void {
  const old = known.codes[index] as number;
  known.nodes[old] = (known.nodes[old] as number) - 1;
  known.nodes[code] = (known.nodes[code] as number) + 1;
  known.codes[index] = code;
}

/** Looks at one node anew, all but the tree. */
function renew(known: PodClass, node: NodeInfo, steps: readonly FilterStep[], cycle: Cycle): void {
  const { index } = node;
  const code = codeOf(known, runFilters(steps, node, cycle));
  move(known, index, code);
  let sum = 0;
  for (const score of known.scores.values()) {
    const value = code === 0 ? (score.plugin.score?.(score.state, node, cycle) ?? 0) : 0;
    score.nonZero += Number(value !== 0) - Number(score.raw[index] !== 0);
    score.raw[index] = value;
    if (score.plugin.normalize === undefined) sum += score.weight * value;
  }
  known.fixed[index] = sum;
}

function newClass(cycle: Cycle, scorers: readonly WeightedPlugin[]): PodClass {
  const { structure, images, nodes, log } = cycle.snapshot;
  const size = nodes.length;
  const scores = new Map<Plugin, LocalScore>();
  for (const { plugin, weight } of scorers) {
    const answer = plugin.preScore?.(cycle, [], undefined);
    if (!answer?.skip) scores.set(plugin, { plugin, weight, state: answer?.state, raw: new Float64Array(size), nonZero: 0 });
  }
  return {
    structure,
    images,
    version: log.version,
    codes: new Uint16Array(size),
    statuses: [undefined],
    nodes: [size],
    scores,
    fixed: new Float64Array(size),
    tree: new BestTree(size),
  };
}

const isCurrent = (known: PodClass, { structure, images, log }: Snapshot): boolean =>
  known.structure === structure && known.images === images && log.covers(known.version);

/** The pod's class, up to date. `steps` are the pod's local filters, `scorers` the profile's local scores. */
export function classOf(
  table: ClassTable,
  cycle: Cycle,
  steps: readonly FilterStep[],
  scorers: readonly WeightedPlugin[],
): PodClass {
  const { snapshot, pod } = cycle;
  const known = table.get(pod.classKey);
  if (known !== undefined && isCurrent(known, snapshot)) {
    snapshot.log.replay(known.version, (index) => {
      renew(known, snapshot.nodes[index] as NodeInfo, steps, cycle);
      if (known.codes[index] === 0) known.tree.set(index, known.fixed[index] as number);
      else known.tree.delete(index);
    });
    known.version = snapshot.log.version;
    return known;
  }
  const fresh = newClass(cycle, scorers);
  for (const node of snapshot.nodes) renew(fresh, node, steps, cycle);
  fresh.tree.fill(snapshot.nodes.length, (index) => (fresh.codes[index] === 0 ? fresh.fixed[index] : undefined));
  return remember(table, pod.classKey, fresh, podClassesMax);
}

/** A normalised local score that is the same for every node. */
export const isConstant = ({ plugin, nonZero }: LocalScore): boolean => plugin.normalize !== undefined && nonZero === 0;
