// The first half of a cycle: which nodes would do (upstream schedule_one.go findNodesThatFitPod, RunFilterPluginsWithNominatedPods).
import {
  addPod,
  copyNodeInfo,
  type Cycle,
  type NodeInfo,
  type Plugin,
  type PodInfo,
  type Profile,
  removePod,
  type Status,
  type Trial,
  unresolvable,
} from '../framework/index.ts';
import { classOf, type ClassTable, type FilterStep, type PodClass, runFilters } from './class-table.ts';

export interface PreFiltered {
  /** States by plugin, of those that ran, skipped ones included. */
  readonly states: ReadonlyMap<Plugin, unknown>;
  readonly skipped: ReadonlySet<Plugin>;
  readonly steps: readonly FilterStep[];
  /** Absent: all nodes. */
  readonly nodeNames?: ReadonlySet<string>;
  /** Plugins that narrowed the nodes. */
  readonly narrowing: readonly string[];
  /** The pod was turned away as a whole. */
  readonly status?: Status;
}

function intersect(a: ReadonlySet<string> | undefined, b: ReadonlySet<string>): ReadonlySet<string> {
  return a === undefined ? b : new Set([...a].filter((one) => b.has(one)));
}

export function preFilter(profile: Profile, cycle: Cycle): PreFiltered {
  const states = new Map<Plugin, unknown>();
  const skipped = new Set<Plugin>();
  const narrowing: string[] = [];
  let nodeNames: ReadonlySet<string> | undefined;
  let status: Status | undefined;
  for (const plugin of profile.preFilter) {
    const answer = plugin.preFilter?.(cycle) ?? {};
    status = answer.status;
    if (status !== undefined) break;
    states.set(plugin, answer.state);
    if (answer.skip) skipped.add(plugin);
    if (answer.nodeNames === undefined) continue;
    narrowing.push(plugin.name);
    nodeNames = intersect(nodeNames, answer.nodeNames);
    if (nodeNames.size > 0) continue;
    const [only = ''] = narrowing;
    const who = narrowing.length === 1 ? ` ${only}` : `(s) [${[...narrowing].sort().join(' ')}] simultaneously`;
    status = unresolvable(plugin.name, `node(s) didn't satisfy plugin${who}`);
    break;
  }
  const steps = profile.filter.filter((plugin) => !skipped.has(plugin)).map((plugin) => ({ plugin, state: states.get(plugin) }));
  return { states, skipped, steps, narrowing, ...(nodeNames && { nodeNames }), ...(status && { status }) };
}

/** Pods that count as being on the node already: nominated to it, and no less important. */
function claimants(cycle: Cycle, node: NodeInfo): PodInfo[] {
  const nominated = cycle.nominated.get(node.name);
  return nominated?.filter(({ uid, priority }) => priority >= cycle.pod.priority && uid !== cycle.pod.uid) ?? [];
}

class NodeTrial implements Trial {
  readonly node: NodeInfo;
  readonly #cycle: Cycle;
  readonly #steps: readonly FilterStep[];

  constructor(cycle: Cycle, node: NodeInfo, steps: readonly FilterStep[]) {
    this.#cycle = cycle;
    this.node = copyNodeInfo(node);
    this.#steps = steps.map(({ plugin, state }) => ({ plugin, state: plugin.copyState ? plugin.copyState(state) : state }));
  }
  addPod(pod: PodInfo): void {
    addPod(this.node, pod);
    for (const { plugin, state } of this.#steps) plugin.addPod?.(state, pod, this.node, this.#cycle);
  }
  removePod(pod: PodInfo): void {
    removePod(this.node, pod.uid);
    for (const { plugin, state } of this.#steps) plugin.removePod?.(state, pod, this.node, this.#cycle);
  }
  filter(): Status | undefined {
    return withNominated(this.#cycle, this.node, this.#steps);
  }
  /** Without regard to nominated pods. */
  plain(): Status | undefined {
    return runFilters(this.#steps, this.node, this.#cycle);
  }
}

/** The pod has to fit whether pods nominated to the node come or not. */
function withNominated(cycle: Cycle, node: NodeInfo, steps: readonly FilterStep[]): Status | undefined {
  const others = claimants(cycle, node);
  if (others.length > 0) {
    const trial = new NodeTrial(cycle, node, steps);
    for (const other of others) trial.addPod(other);
    const status = trial.plain();
    if (status !== undefined) return status;
  }
  return runFilters(steps, node, cycle);
}

export const trialOf = (cycle: Cycle, node: NodeInfo, steps: readonly FilterStep[]): Trial => new NodeTrial(cycle, node, steps);

export interface Filtered {
  readonly feasible: NodeInfo[];
  readonly podClass: PodClass;
  /** Nodes looked at. */
  readonly evaluated: readonly NodeInfo[];
  verdict(node: NodeInfo): Status | undefined;
}

/** How many leading steps are local: their common verdict is kept per class. */
function localPrefix(steps: readonly FilterStep[]): number {
  const end = steps.findIndex(({ plugin }) => !plugin.local);
  return end < 0 ? steps.length : end;
}

export interface FilterTables {
  readonly classes: ClassTable;
  readonly localScorers: readonly Plugin[];
}

/** Looks at the pod's nominated node alone if it has one and that will do, else at all nodes that PreFilter left. */
export function filterNodes(cycle: Cycle, { steps, nodeNames }: PreFiltered, tables: FilterTables): Filtered {
  const prefix = localPrefix(steps);
  const rest = steps.slice(prefix);
  const podClass = classOf(tables.classes, cycle, steps.slice(0, prefix), tables.localScorers);
  const later = new Map<NodeInfo, Status>();
  const passes = (node: NodeInfo): boolean => {
    let status: Status | undefined;
    if (cycle.nominated.size > 0 && claimants(cycle, node).length > 0) status = withNominated(cycle, node, steps);
    else if (podClass.codes[node.index] !== 0) return false;
    else status = rest.length === 0 ? undefined : runFilters(rest, node, cycle);
    if (status === undefined) return true;
    later.set(node, status);
    return false;
  };
  const verdict = (node: NodeInfo): Status | undefined =>
    later.get(node) ?? podClass.statuses[podClass.codes[node.index] as number];
  const nominatedName = cycle.pod.pod.status?.nominatedNodeName;
  const own = nominatedName ? cycle.snapshot.byName.get(nominatedName) : undefined;
  if (own !== undefined && passes(own)) return { feasible: [own], podClass, evaluated: [own], verdict };
  const { nodes, byName } = cycle.snapshot;
  const evaluated = nodeNames === undefined ? nodes : [...nodeNames].flatMap((name) => byName.get(name) ?? []);
  return { feasible: evaluated.filter(passes), podClass, evaluated, verdict };
}
