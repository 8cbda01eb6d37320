// One scheduling cycle: from the cluster as it is and a pod to a decision (upstream schedule_one.go schedulingAlgorithm). Pure: nothing is
// written, no clock is read. What it keeps for the next cycle lives in the snapshot and only makes that one faster.
import {
  type BindEffect,
  type ClusterView,
  type Cycle,
  fitErrorMessage,
  isRejected,
  type NodeInfo,
  noNodesMessage,
  type Plugin,
  type PodInfo,
  type Profile,
  type Snapshot,
  type Status,
  statusMessage,
  unresolvable,
} from '../framework/index.ts';
import type { Rng } from '#utils';
import type { ClassTable } from './class-table.ts';
import type { Decision, Failed } from './decision.ts';
import { type Filtered, filterNodes, preFilter, type PreFiltered, trialOf } from './filter.ts';
import { postFilter } from './post-filter.ts';
import { scoreNodes, ScoreScratch } from './score.ts';

export interface CycleContext {
  readonly view: ClusterView;
  readonly nowMs: number;
  /** Pods nominated to nodes, by node name. */
  readonly nominated: ReadonlyMap<string, readonly PodInfo[]>;
}

interface Tables {
  readonly classes: ClassTable;
  readonly localScorers: readonly Plugin[];
  readonly scratch: ScoreScratch;
}

const newTables = (profile: Profile): Tables => ({
  classes: new Map(),
  localScorers: profile.score.map(({ plugin }) => plugin).filter(({ local }) => local),
  scratch: new ScoreScratch(),
});

const none: ReadonlySet<string> = new Set();

const fail = (pod: PodInfo, evaluatedNodes: number, rest: Partial<Failed> & Pick<Failed, 'message'>): Failed => ({
  kind: 'failed',
  pod,
  reason: 'Unschedulable',
  plugins: none,
  pendingPlugins: none,
  verdicts: [],
  evaluatedNodes,
  feasibleNodes: 0,
  ...rest,
});

/** An error inside of a plugin: the pod is tried again after a while. */
const failBy = (pod: PodInfo, status: Status): Failed =>
  fail(pod, 0, { reason: 'SchedulerError', message: statusMessage(status), nominate: '' });

function countVerdicts(filtered: Filtered): Map<Status, number> {
  const counts = new Map<Status, number>();
  for (const node of filtered.evaluated) {
    const status = filtered.verdict(node);
    if (status !== undefined) counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return counts;
}

const namesOf = (statuses: Iterable<Status>, pending: boolean): Set<string> =>
  new Set([...statuses].filter(({ code }) => (code === 'Pending') === pending).map(({ plugin }) => plugin));

interface Nowhere {
  readonly pre: PreFiltered;
  readonly filtered?: Filtered;
  /** Verdict on every node. */
  readonly all?: Status;
}

/** No node will do: PostFilter may change that; if not, why. */
function nowhere(profile: Profile, cycle: Cycle, { pre, filtered, all }: Nowhere): Failed {
  const { nodes } = cycle.snapshot;
  const counts = filtered === undefined ? new Map<Status, number>() : countVerdicts(filtered);
  const narrowed = unresolvable('', `node(s) didn't satisfy plugin(s) [${[...pre.narrowing].sort().join(' ')}]`);
  const evaluated = new Set(filtered?.evaluated);
  const absent = { status: all ?? narrowed, count: nodes.length - evaluated.size };
  const verdict = (node: NodeInfo): Status | undefined =>
    filtered !== undefined && evaluated.has(node) ? filtered.verdict(node) : absent.status;
  const after = postFilter(profile, cycle, {
    verdict,
    preFiltered: (name) => [...pre.states.keys()].some((plugin) => plugin.name === name),
    trial: (node) => trialOf(cycle, node, pre.steps),
  });
  const { message: postFilterMessage, ...consequences } = after;
  const preFilterMessage = all && statusMessage(all);
  const message = fitErrorMessage({
    nodes: nodes.length,
    verdicts: counts,
    absent,
    postFilterMessage,
    ...(preFilterMessage && { preFilterMessage }),
  });
  const statuses = [...counts.keys(), ...(all ? [all] : [])];
  return fail(cycle.pod, evaluated.size, {
    message,
    plugins: new Set([...namesOf(statuses, false), ...pre.narrowing]),
    pendingPlugins: namesOf(statuses, true),
    verdicts: nodes.map((node) => ({ node: node.name, status: verdict(node) as Status })),
    ...consequences,
  });
}

function beforeBinding(profile: Profile, cycle: Cycle, node: NodeInfo, pre: PreFiltered): readonly BindEffect[] | Status {
  for (const plugin of profile.permit) {
    const status = plugin.permit?.(node, cycle);
    if (status !== undefined) return status;
  }
  return profile.preBind.flatMap((plugin) => plugin.preBind?.(pre.states.get(plugin), node, cycle) ?? []);
}

const isList = (effects: readonly BindEffect[] | Status): effects is readonly BindEffect[] => Array.isArray(effects);

function choose(profile: Profile, cycle: Cycle, filtered: Filtered, pre: PreFiltered, scratch: ScoreScratch): Decision {
  const { feasible, evaluated } = filtered;
  const [only] = feasible;
  const scored =
    feasible.length === 1 && only !== undefined ? { node: only, scores: [] } : scoreNodes(profile, cycle, filtered, pre, scratch);
  if ('status' in scored) return failBy(cycle.pod, scored.status);
  const effects = beforeBinding(profile, cycle, scored.node, pre);
  if (!isList(effects)) {
    const message = fitErrorMessage({ nodes: 1, verdicts: new Map([[effects, 1]]) });
    return fail(cycle.pod, evaluated.length, { message, plugins: namesOf([effects], false), nominate: '' });
  }
  return {
    kind: 'chosen',
    pod: cycle.pod,
    node: scored.node,
    scores: scored.scores,
    rejected: evaluated.length === feasible.length ? new Map() : countVerdicts(filtered),
    effects,
    evaluatedNodes: evaluated.length,
    feasibleNodes: feasible.length,
  };
}

/** Decides for one pod. Throws only what a plugin throws. */
export function cycle(snapshot: Snapshot, pod: PodInfo, profile: Profile, rng: Rng, context: CycleContext): Decision {
  if (snapshot.nodes.length === 0) return fail(pod, 0, { message: noNodesMessage, nominate: '' });
  const one: Cycle = { snapshot, pod, rng, ...context };
  const tables = snapshot.memo(profile, () => newTables(profile));
  const pre = preFilter(profile, one);
  if (pre.status !== undefined)
    return isRejected(pre.status) ? nowhere(profile, one, { pre, all: pre.status }) : failBy(pod, pre.status);
  const filtered = filterNodes(one, pre, tables);
  if (filtered.feasible.length === 0) return nowhere(profile, one, { pre, filtered });
  return choose(profile, one, filtered, pre, tables.scratch);
}
