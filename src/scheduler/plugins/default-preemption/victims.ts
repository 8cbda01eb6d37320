// The fewest and least important pods to take from one node (upstream SelectVictimsOnNode): first all less important ones go, then as many as
// possible come back, the most important first.
import type { PodDisruptionBudget } from '#api/policy/v1';
import { type Cycle, type PodInfo, type Status, type Trial, unresolvable } from '../../framework/index.ts';
import { splitByBudget } from './budgets.ts';
import { byImportance, type Candidate } from './importance.ts';

const nobody = unresolvable('DefaultPreemption', 'No preemption victims found for incoming pod');

export type Selected = Candidate | Status;

export const isCandidate = (selected: Selected): selected is Candidate => 'victims' in selected;

/** Chooses the pods that would have to go from one node. The `trial` is changed and cannot be used again. */
export function selectVictims(cycle: Cycle, trial: Trial, budgets: readonly PodDisruptionBudget[]): Selected {
  const lesser = [...trial.node.pods.values()].filter(({ priority }) => priority < cycle.pod.priority);
  if (lesser.length === 0) return nobody;
  for (const pod of lesser) trial.removePod(pod);
  const status = trial.filter();
  if (status !== undefined) return status;
  const order = byImportance(cycle.nowMs);
  const { violating, others } = splitByBudget(lesser.sort(order), budgets);
  const staysOut = (pod: PodInfo): boolean => {
    trial.addPod(pod);
    if (trial.filter() === undefined) return false;
    trial.removePod(pod);
    return true;
  };
  const against = violating.filter(staysOut);
  const victims = [...against, ...others.filter(staysOut)];
  if (victims.length === 0) return nobody;
  if (violating.length > 0 && others.length > 0) victims.sort(order);
  return { nodeName: trial.node.name, victims, violations: against.length };
}
