// One scheduling cycle: from the cluster as it is and a pod to a decision (upstream schedule_one.go schedulingAlgorithm). Pure: nothing is
// written, no clock is read. What it keeps for the next cycle lives in the snapshot and only makes that one faster.
import {
  type BindEffect,
  type ClusterView,
  type Cycle,
  explainedNodesMax,
  fitErrorMessage,
  isRejected,
  type NodeInfo,
  noNodesMessage,
  noNodesPlugin,
  type PodInfo,
  type Profile,
  type Snapshot,
  type Status,
  statusMessage,
  unresolvable,
  type WeightedPlugin,
} from '../framework/index.ts';
import type { Rng } from '#utils';
import type { ClassTable } from './class-table.ts';
import type { Decision, Failed } from './decision.ts';
import {
  classDecides,
  classRejections,
  type Filtered,
  filterNodes,
  planFilters,
  preFilter,
  type PreFiltered,
  trialOf,
} from './filter.ts';
import { postFilter } from './post-filter.ts';
import { bestOfClass, classRanks, type Scored, scoreNodes, ScoreScratch } from './score.ts';

export interface CycleContext {
  readonly view: ClusterView;
  readonly nowMs: number;
  /** Pods nominated to nodes, by node name. */
  readonly nominated: ReadonlyMap<string, readonly PodInfo[]>;
}

interface Tables {
  readonly classes: ClassTable;
  readonly localScorers: readonly WeightedPlugin[];
  readonly scratch: ScoreScratch;
}

const newTables = (profile: Profile): Tables => ({
  classes: new Map(),
  localScorers: profile.score.filter(({ plugin }) => plugin.local),
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
  const counts = filtered?.rejected ?? new Map<Status, number>();
  const narrowed = unresolvable('', `node(s) didn't satisfy plugin(s) [${[...pre.narrowing].sort().join(' ')}]`);
  const evaluated = new Set(filtered?.evaluated);
  const absent = { status: all ?? narrowed, count: nodes.length - evaluated.size };
  const verdict = (node: NodeInfo): Status | undefined =>
    filtered !== undefined && evaluated.has(node) ? filtered.verdict(node) : absent.status;
  const after = postFilter(profile, cycle, {
    verdict,
    preFiltered: (name) => [...pre.states.keys()].some((plugin) => plugin.name === name),
    stateOf: <F>({ name }: { name: string }) => [...pre.states].find(([plugin]) => plugin.name === name)?.[1] as F | undefined,
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

interface Choice extends Scored {
  readonly rejected: ReadonlyMap<Status, number>;
  readonly evaluatedNodes: number;
  readonly feasibleNodes: number;
}

function settle(profile: Profile, cycle: Cycle, choice: Choice, pre: PreFiltered): Decision {
  const effects = beforeBinding(profile, cycle, choice.node, pre);
  if (isList(effects)) return { kind: 'chosen', pod: cycle.pod, ...choice, effects };
  const message = fitErrorMessage({ nodes: 1, verdicts: new Map([[effects, 1]]) });
  return fail(cycle.pod, choice.evaluatedNodes, { message, plugins: namesOf([effects], false), nominate: '' });
}

/** Decides for one pod. Throws only what a plugin throws. */
export function cycle(snapshot: Snapshot, pod: PodInfo, profile: Profile, rng: Rng, context: CycleContext): Decision {
  const { length: total } = snapshot.nodes;
  if (total === 0) return fail(pod, 0, { message: noNodesMessage, plugins: new Set([noNodesPlugin]), nominate: '' });
  const one: Cycle = { snapshot, pod, rng, ...context };
  const tables = snapshot.memo(profile, () => newTables(profile));
  const pre = preFilter(profile, one);
  if (pre.status !== undefined)
    return isRejected(pre.status) ? nowhere(profile, one, { pre, all: pre.status }) : failBy(pod, pre.status);
  const plan = planFilters(one, pre, tables);
  const { podClass } = plan;
  const passing = podClass.nodes[0] ?? 0;
  if (total > explainedNodesMax && passing > 1 && classDecides(one, pre, plan) && classRanks(profile, one, podClass)) {
    const best = bestOfClass(profile, one, podClass);
    const rejected = classRejections(podClass);
    return settle(profile, one, { ...best, rejected, evaluatedNodes: total, feasibleNodes: passing }, pre);
  }
  const filtered = filterNodes(one, pre, plan);
  const { feasible, rejected, evaluated } = filtered;
  const broken = [...rejected.keys()].find((status) => !isRejected(status));
  if (broken !== undefined) return failBy(pod, broken);
  const [only] = feasible;
  if (only === undefined) return nowhere(profile, one, { pre, filtered });
  const scoring = { cycle: one, filtered, pre, scratch: tables.scratch };
  const scored = feasible.length === 1 ? { node: only, scores: [] } : scoreNodes(profile, scoring);
  if ('code' in scored) return failBy(pod, scored);
  return settle(profile, one, { ...scored, rejected, evaluatedNodes: evaluated.length, feasibleNodes: feasible.length }, pre);
}
