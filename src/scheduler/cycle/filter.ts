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
  type WeightedPlugin,
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
    states.set(plugin, answer.state);
    status = answer.status;
    if (status !== undefined) break;
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
  readonly feasible: readonly NodeInfo[];
  /** Their places in the snapshot, side by side so that scoring need not touch every node. */
  readonly indexes: Int32Array;
  readonly podClass: PodClass;
  /** Nodes looked at. */
  readonly evaluated: readonly NodeInfo[];
  verdict(node: NodeInfo): Status | undefined;
  /** Nodes turned away, by status. */
  readonly rejected: ReadonlyMap<Status, number>;
}

/** How many leading steps are local: their common verdict is kept per class. */
function localPrefix(steps: readonly FilterStep[]): number {
  const end = steps.findIndex(({ plugin }) => !plugin.local);
  return end < 0 ? steps.length : end;
}

export interface FilterTables {
  readonly classes: ClassTable;
  readonly localScorers: readonly WeightedPlugin[];
}

/** What is to be done for a pod: its class, and the filters that the class does not cover. */
export interface FilterPlan {
  readonly podClass: PodClass;
  readonly rest: readonly FilterStep[];
}

export function planFilters(cycle: Cycle, { steps }: PreFiltered, tables: FilterTables): FilterPlan {
  const prefix = localPrefix(steps);
  const podClass = classOf(tables.classes, cycle, steps.slice(0, prefix), tables.localScorers);
  return { podClass, rest: steps.slice(prefix) };
}

/** How many nodes the class of a pod rejects, by the status that says why. */
export function classRejections({ statuses, nodes }: PodClass): Map<Status, number> {
  const rejected = new Map<Status, number>();
  statuses.forEach((status, code) => {
    const count = nodes[code] ?? 0;
    if (status !== undefined && count > 0) rejected.set(status, count);
  });
  return rejected;
}

/** The class alone decides: nothing else filters, and no pod is expected anywhere. */
export const classDecides = (cycle: Cycle, { nodeNames }: PreFiltered, { rest }: FilterPlan): boolean =>
  rest.length === 0 && nodeNames === undefined && cycle.nominated.size === 0 && !cycle.pod.pod.status?.nominatedNodeName;

/** Looks at the pod's nominated node alone if it has one and that will do, else at all nodes that PreFilter left. */
export function filterNodes(cycle: Cycle, { steps, nodeNames }: PreFiltered, { podClass, rest }: FilterPlan): Filtered {
  const { codes, statuses } = podClass;
  const later = new Map<NodeInfo, Status>();
  const check = (node: NodeInfo): Status | undefined => {
    if (cycle.nominated.size > 0 && claimants(cycle, node).length > 0) return withNominated(cycle, node, steps);
    const code = codes[node.index] as number;
    return code === 0 ? runFilters(rest, node, cycle) : statuses[code];
  };
  const verdict = (node: NodeInfo): Status | undefined => later.get(node) ?? statuses[codes[node.index] as number];
  const nominatedName = cycle.pod.pod.status?.nominatedNodeName;
  const own = nominatedName ? cycle.snapshot.byName.get(nominatedName) : undefined;
  const none: ReadonlyMap<Status, number> = new Map();
  if (own !== undefined && check(own) === undefined) {
    return { feasible: [own], indexes: Int32Array.of(own.index), podClass, evaluated: [own], verdict, rejected: none };
  }
  const { nodes, byName } = cycle.snapshot;
  const evaluated = nodeNames === undefined ? nodes : [...nodeNames].flatMap((name) => byName.get(name) ?? []);
  const feasible: NodeInfo[] = [];
  const places = new Int32Array(evaluated.length);
  const whole = evaluated === nodes && cycle.nominated.size === 0;
  const rejected = whole ? classRejections(podClass) : new Map<Status, number>();
  for (let i = 0; i < evaluated.length; i++) {
    if (whole && codes[i] !== 0) continue;
    const node = evaluated[i] as NodeInfo;
    const status = whole ? runFilters(rest, node, cycle) : check(node);
    if (status === undefined) {
      places[feasible.length] = whole ? i : node.index;
      feasible.push(node);
      continue;
    }
    rejected.set(status, (rejected.get(status) ?? 0) + 1);
    if (status !== statuses[codes[node.index] as number]) later.set(node, status);
  }
  return { feasible, indexes: places.subarray(0, feasible.length), podClass, evaluated, verdict, rejected };
}
