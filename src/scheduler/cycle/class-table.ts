// Verdicts and scores that depend only on a pod's class and a node, kept per class in typed arrays and renewed for nodes that changed.
// It makes the cost of a cycle that of the few nodes touched since the last pod of the class, plus one pass over the arrays.
import {
  type Cycle,
  type NodeInfo,
  type Plugin,
  podClassesMax,
  remember,
  type Snapshot,
  type Status,
} from '../framework/index.ts';

export interface FilterStep {
  readonly plugin: Plugin;
  readonly state: unknown;
}

interface LocalScore {
  readonly plugin: Plugin;
  readonly state: unknown;
  /** Raw scores by node index; of nodes that do not pass, anything. */
  readonly raw: Float64Array;
}

export interface PodClass {
  readonly structure: number;
  readonly images: number;
  version: number;
  /** By node index: 0 passes, else a place in `statuses`. */
  readonly codes: Uint16Array;
  readonly statuses: (Status | undefined)[];
  readonly scores: ReadonlyMap<Plugin, LocalScore>;
}

const codesMax = 65_535;

export type ClassTable = Map<string, PodClass>;

function codeOf(known: PodClass, status: Status | undefined): number {
  if (status === undefined) return 0;
  const code = known.statuses.indexOf(status, 1);
  if (code > 0) return code;
  if (known.statuses.length >= codesMax) throw new RangeError('too many different verdicts');
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

function renew(known: PodClass, node: NodeInfo, steps: readonly FilterStep[], cycle: Cycle): void {
  const code = codeOf(known, runFilters(steps, node, cycle));
  known.codes[node.index] = code;
  if (code !== 0) return;
  for (const { plugin, state, raw } of known.scores.values()) raw[node.index] = plugin.score?.(state, node, cycle) ?? 0;
}

function newClass(cycle: Cycle, scorers: readonly Plugin[]): PodClass {
  const { snapshot } = cycle;
  const size = snapshot.nodes.length;
  const scores = new Map<Plugin, LocalScore>();
  for (const plugin of scorers) {
    const answer = plugin.preScore?.(cycle, [], undefined);
    if (!answer?.skip) scores.set(plugin, { plugin, state: answer?.state, raw: new Float64Array(size) });
  }
  const { structure, images } = snapshot;
  return { structure, images, version: snapshot.log.version, codes: new Uint16Array(size), statuses: [undefined], scores };
}

const isCurrent = (known: PodClass, { structure, images, log }: Snapshot): boolean =>
  known.structure === structure && known.images === images && log.covers(known.version);

/** The pod's class, up to date. `steps` are the pod's local filters, `scorers` the profile's local scores. */
export function classOf(table: ClassTable, cycle: Cycle, steps: readonly FilterStep[], scorers: readonly Plugin[]): PodClass {
  const { snapshot, pod } = cycle;
  const known = table.get(pod.classKey);
  if (known !== undefined && isCurrent(known, snapshot)) {
    snapshot.log.replay(known.version, (index) => renew(known, snapshot.nodes[index] as NodeInfo, steps, cycle));
    known.version = snapshot.log.version;
    return known;
  }
  const fresh = newClass(cycle, scorers);
  for (const node of snapshot.nodes) renew(fresh, node, steps, cycle);
  return remember(table, pod.classKey, fresh, podClassesMax);
}
