// Which victims their disruption budgets would not let go (upstream filterPodsWithPDBViolation).
import type { PodDisruptionBudget } from '#api/policy/v1';
import { fromLabelSelector } from '#apimachinery/labels';
import type { PodInfo } from '../../framework/index.ts';

export interface ByBudget {
  readonly violating: readonly PodInfo[];
  readonly others: readonly PodInfo[];
}

/** Takes pods in the given order from what each budget still allows. */
export function splitByBudget(pods: readonly PodInfo[], budgets: readonly PodDisruptionBudget[]): ByBudget {
  const left = budgets.map((budget) => ({
    namespace: budget.metadata.namespace,
    selector: fromLabelSelector(budget.spec?.selector),
    disrupted: budget.status?.disruptedPods ?? {},
    allowed: budget.status?.disruptionsAllowed ?? 0,
  }));
  const violates = ({ pod, namespace }: PodInfo): boolean => {
    let violated = false;
    if (Object.keys(pod.metadata.labels ?? {}).length === 0) return false;
    for (const budget of left) {
      if (budget.namespace !== namespace || budget.selector.empty || !budget.selector.matches(pod.metadata.labels)) continue;
      if (Object.hasOwn(budget.disrupted, pod.metadata.name ?? '')) continue;
      budget.allowed--;
      if (budget.allowed < 0) violated = true;
    }
    return violated;
  };
  const violating: PodInfo[] = [];
  const others: PodInfo[] = [];
  for (const pod of pods) (violates(pod) ? violating : others).push(pod);
  return { violating, others };
}
