// Pod failure policy (KEP-3329) and success policy (KEP-3998) of Jobs.
import type {
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyRule,
  PodFailurePolicy,
  SuccessPolicy,
} from '#api/batch/v1';
import type { ContainerStatus, Pod } from '#api/core/v1';
import { type Intervals, overlap, parseIntervals, total } from './intervals.ts';

export interface FailureVerdict {
  /** Whether the failure counts towards the limits. */
  counts: boolean;
  action?: string;
  /** Set when the whole Job fails for it. */
  jobFailure?: string;
}

/** What the first matching rule says about a failed pod. */
export function judgeFailure(policy: PodFailurePolicy | undefined, pod: Pod): FailureVerdict {
  for (const [index, rule] of (policy?.rules ?? []).entries()) {
    const found = matchOf(rule, pod);
    if (found === undefined) continue;
    const { action } = rule;
    const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
    if (action === 'FailJob')
      return { counts: true, action, jobFailure: `${found(name)} matching ${action} rule at index ${index}` };
    return { counts: action !== 'Ignore', action };
  }
  return { counts: true };
}

/** A function that describes how the rule matches, given the pod's name; undefined when it does not match. */
function matchOf(rule: PodFailurePolicyRule, { status }: Pod): ((pod: string) => string) | undefined {
  if (rule.onExitCodes) {
    const found =
      failedContainer(status?.containerStatuses, rule.onExitCodes) ??
      failedContainer(status?.initContainerStatuses, rule.onExitCodes);
    return (
      found && ((pod) => `Container ${found.name} for pod ${pod} failed with exit code ${found.state?.terminated?.exitCode}`)
    );
  }
  const condition = status?.conditions?.find(({ type, status: value }) =>
    rule.onPodConditions?.some((pattern) => pattern.type === type && (pattern.status ?? 'True') === value),
  );
  return condition && ((pod) => `Pod ${pod} has condition ${condition.type}`);
}

function failedContainer(
  statuses: readonly ContainerStatus[] | undefined,
  { containerName, operator, values }: PodFailurePolicyOnExitCodesRequirement,
): ContainerStatus | undefined {
  return statuses?.find(({ name, state }) => {
    const code = state?.terminated?.exitCode ?? 0;
    if (code === 0 || (containerName !== undefined && containerName !== name)) return false;
    const listed = values?.includes(code) ?? false;
    return operator === 'In' ? listed : operator === 'NotIn' && !listed;
  });
}

/** The message of the first rule that is met. */
export function successMet(policy: SuccessPolicy | undefined, completions: number, succeeded: Intervals): string | undefined {
  if (!policy || succeeded.length === 0) return undefined;
  const index = (policy.rules ?? []).findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) return succeededCount !== undefined && total(succeeded) >= succeededCount;
    const required = parseIntervals(succeededIndexes, completions);
    if (required.length === 0) return false;
    const met = overlap(required, succeeded);
    return met === total(required) || (succeededCount !== undefined && met >= succeededCount);
  });
  return index < 0 ? undefined : `Matched rules at index ${index}`;
}
