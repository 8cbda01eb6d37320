// Rules of a job's failure and success policies (pkg/apis/batch/validation; KEP-3329, KEP-3998).
import type * as batch from '#api/batch/v1';
import type { Path } from '#apimachinery/field';
import { byteLength, isQualifiedName } from '#apimachinery/validation';
import { quote, repeats } from '#utils';
import { nonnegative } from '../../common/numbers.ts';
import { isEmpty, type Report } from '../../common/report.ts';
import { countIndexes } from './indexes.ts';
import {
  exitCodesMax,
  failurePolicyRulesMax,
  podConditionsMax,
  succeededIndexesBytesMax,
  successPolicyRulesMax,
} from './limits.ts';

const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const operators = ['In', 'NotIn'];
const statuses = ['False', 'True', 'Unknown'];

/** `required` with the choices spelled out, else `notSupported`. */
function validateChoice(report: Report, path: Path, value: string | undefined, supported: string[]): void {
  if (isEmpty(value)) report.required(path, `valid values: [${supported.map(quote).join(' ')}]`);
  else report.known(path, value, supported);
}

export function validateFailurePolicy(report: Report, path: Path, spec: batch.JobSpec, { rules }: batch.PodFailurePolicy): void {
  const at = path.child('rules');
  if (rules && rules.length > failurePolicyRulesMax) report.tooMany(at, rules.length, failurePolicyRulesMax);
  const pod = spec.template?.spec;
  const containers = [...(pod?.containers ?? []), ...(pod?.initContainers ?? [])].map(({ name }) => name);
  rules?.forEach((rule, index) => validateRule(report, at.index(index), rule, spec, containers));
}

function validateRule(
  report: Report,
  path: Path,
  rule: batch.PodFailurePolicyRule,
  spec: batch.JobSpec,
  containers: string[],
): void {
  const { action, onExitCodes, onPodConditions } = rule;
  if (action === 'FailIndex') {
    if (spec.backoffLimitPerIndex === undefined)
      report.invalid(path.child('action'), action, 'requires the backoffLimitPerIndex to be set');
  } else validateChoice(report, path.child('action'), action, actions);
  if (onExitCodes) validateExitCodes(report, path.child('onExitCodes'), onExitCodes, containers);
  const conditions = path.child('onPodConditions');
  if ((onPodConditions?.length ?? 0) > podConditionsMax)
    report.tooMany(conditions, onPodConditions?.length ?? 0, podConditionsMax);
  onPodConditions?.forEach(({ type, status }, index) => {
    report.problems(conditions.index(index).child('type'), type ?? '', isQualifiedName(type ?? ''));
    validateChoice(report, conditions.index(index).child('status'), status, statuses);
  });
  if (onExitCodes && !isEmpty(onPodConditions))
    report.invalid(path, undefined, 'specifying both OnExitCodes and OnPodConditions is not supported');
  if (!onExitCodes && isEmpty(onPodConditions))
    report.invalid(path, undefined, 'specifying one of OnExitCodes and OnPodConditions is required');
}

function validateExitCodes(
  report: Report,
  path: Path,
  requirement: batch.PodFailurePolicyOnExitCodesRequirement,
  containers: string[],
): void {
  const { operator, containerName, values } = requirement;
  validateChoice(report, path.child('operator'), operator, operators);
  if (containerName !== undefined && !containers.includes(containerName)) {
    report.invalid(
      path.child('containerName'),
      containerName,
      'must be one of the container or initContainer names in the pod template',
    );
  }
  const at = path.child('values');
  const codes = values ?? [];
  if (codes.length === 0) report.invalid(at, values ?? null, 'at least one value is required');
  else if (codes.length > exitCodesMax) report.tooMany(at, codes.length, exitCodesMax);
  const isRepeat = repeats<number>();
  codes.forEach((code, index) => {
    if (operator === 'In' && code === 0) report.invalid(at.index(index), code, 'must not be 0 for the In operator');
    if (isRepeat(code)) report.duplicate(at.index(index), code);
  });
  if (codes.some((code, index) => index > 0 && (codes[index - 1] ?? 0) > code)) report.invalid(at, codes, 'must be ordered');
}

export function validateSuccessPolicy(report: Report, path: Path, completions: number, { rules }: batch.SuccessPolicy): void {
  const at = path.child('rules');
  if (isEmpty(rules)) report.required(at, 'at least one rules must be specified when the successPolicy is specified');
  if (rules && rules.length > successPolicyRulesMax) report.tooMany(at, rules.length, successPolicyRulesMax);
  rules?.forEach((rule, index) => validateSuccessRule(report, at.index(index), completions, rule));
}

function validateSuccessRule(
  report: Report,
  path: Path,
  completions: number,
  { succeededCount: count, succeededIndexes: indexes }: batch.SuccessPolicyRule,
): void {
  if (count === undefined && indexes === undefined)
    report.required(path, 'at least one of succeededCount or succeededIndexes must be specified');
  let total = 0;
  if (indexes !== undefined) {
    const at = path.child('succeededIndexes');
    if (byteLength(indexes) > succeededIndexesBytesMax) report.tooLong(at, succeededIndexesBytesMax);
    const counted = countIndexes(indexes, completions);
    total = counted.total;
    if (counted.problem !== undefined) report.invalid(at, indexes, `error parsing succeededIndexes: ${counted.problem}`);
  }
  if (count === undefined) return;
  const at = path.child('succeededCount');
  nonnegative(report, at, count);
  if (count > completions)
    report.invalid(at, count, `must be less than or equal to ${completions} (the number of specified completions)`);
  if (indexes !== undefined && count > total) {
    report.invalid(
      at,
      count,
      `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`,
    );
  }
}
