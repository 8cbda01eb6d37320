// Makes room for a pod by taking less important ones from the node where that costs least (upstream plugins/defaultpreemption,
// pkg/scheduler/framework/preemption).
import type { Pod } from '#api/core/v1';
import {
  type Cycle,
  fitErrorMessage,
  interest,
  type NodeInfo,
  type Plugin,
  type PostFilterAnswer,
  type PostFilterTools,
  type Status,
  unresolvable,
  unschedulable,
} from '../../framework/index.ts';
import { type Candidate, cheapest } from './importance.ts';
import { isCandidate, selectVictims } from './victims.ts';
import type { DefaultPreemptionArgs } from './args.ts';

const name = 'DefaultPreemption';
const notHelpful = unresolvable(name, 'Preemption is not helpful for scheduling');

const endsByPreemption = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined &&
  status?.conditions?.some(
    (one) => one.type === 'DisruptionTarget' && one.status === 'True' && one.reason === 'PreemptionByScheduler',
  ) === true;

/** Why the pod may not preempt now. */
function ineligible({ pod, snapshot }: Cycle, tools: PostFilterTools): string | undefined {
  if (pod.pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  const nominated = snapshot.byName.get(pod.pod.status?.nominatedNodeName ?? '');
  if (nominated === undefined || tools.verdict(nominated)?.code === 'UnschedulableAndUnresolvable') return undefined;
  for (const other of nominated.pods.values()) {
    if (other.priority < pod.priority && endsByPreemption(other.pod))
      return 'not eligible due to a terminating pod on the nominated node.';
  }
  return undefined;
}

interface Search {
  readonly candidates: readonly Candidate[];
  readonly verdicts: ReadonlyMap<Status, number>;
  readonly tried: number;
}

/** Tries nodes from a random one on, until there are candidates enough and one of them respects all budgets. */
function findCandidates(cycle: Cycle, tools: PostFilterTools, nodes: readonly NodeInfo[], wanted: number): Search {
  const budgets = cycle.view.list('PodDisruptionBudget');
  const verdicts = new Map<Status, number>();
  const candidates: Candidate[] = [];
  const offset = nodes.length > 0 ? cycle.rng.int(nodes.length) : 0;
  let tried = 0;
  let respectful = 0;
  while (tried < nodes.length && (respectful === 0 || candidates.length < wanted)) {
    const node = nodes[(offset + tried++) % nodes.length] as NodeInfo;
    const selected = selectVictims(cycle, tools.trial(node), budgets);
    if (isCandidate(selected)) {
      candidates.push(selected);
      if (selected.violations === 0) respectful++;
    } else verdicts.set(selected, (verdicts.get(selected) ?? 0) + 1);
  }
  return { candidates, verdicts, tried };
}

export function defaultPreemption({
  minCandidateNodesPercentage: percentage = 10,
  minCandidateNodesAbsolute: absolute = 100,
}: DefaultPreemptionArgs = {}): Plugin {
  const refuse = (message: string): Status => unschedulable(name, `preemption: ${message}`);
  return {
    name,
    events: [interest('Pod', ['Delete'], () => false)],
    postFilter(cycle, tools): PostFilterAnswer {
      const why = ineligible(cycle, tools);
      if (why !== undefined) return { status: refuse(why) };
      const all = cycle.snapshot.nodes;
      const nodes = all.filter((node) => tools.verdict(node)?.code === 'Unschedulable');
      const wanted = Math.min(nodes.length, Math.max(Math.trunc((nodes.length * percentage) / 100), absolute));
      const { candidates, verdicts, tried } = findCandidates(cycle, tools, nodes, wanted);
      const best = cheapest(candidates, cycle.nowMs);
      const chosen = best.length > 0 ? best[cycle.rng.int(best.length)] : undefined;
      if (chosen === undefined) {
        const absent = { status: notHelpful, count: all.length - tried };
        return { status: refuse(fitErrorMessage({ nodes: all.length, verdicts, absent })), nominate: '' };
      }
      const { nodeName, victims } = chosen;
      return { preemption: { plugin: name, nodeName, victims }, nominate: nodeName };
    },
  };
}
