// How much of a device's capacity one request may take (KEP-5075; pkg/apis/resource/validation, validateRequestPolicy).
import type { CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity } from '#api/resource/v1';
import type { Path } from '#apimachinery/field';
import { parseQuantity } from '#apimachinery/quantity';
import { addResources, compareQuantities } from '../../common/quantities.ts';
import { isEmpty, type Report } from '../../common/report.ts';
import { limits } from '../common/limits.ts';
import { validateSet } from '../common/lists.ts';

export function validateCapacity(report: Report, path: Path, capacity: DeviceCapacity, isShared: boolean): void {
  const { requestPolicy: policy, value } = capacity;
  if (!policy) return;
  const at = path.child('requestPolicy');
  if (!isShared) return report.forbidden(at, 'allowMultipleAllocations must be true');
  const { validValues, validRange } = policy;
  const chosen = policy.default ?? undefined;
  if (!isEmpty(validValues) && validRange) {
    const detail = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time';
    return report.forbidden(at, detail);
  }
  const used = !isEmpty(validValues) ? 'validValues' : validRange ? 'validRange' : undefined;
  if (used === undefined) return;
  if (chosen === undefined) return report.required(at.child('default'), `required when ${used} is defined`);
  if (validRange) validateRange(report, at.child(used), validRange, chosen, value);
  else validateOptions(report, at.child(used), policy, chosen, value);
}

function validateOptions(report: Report, at: Path, policy: CapacityRequestPolicy, chosen: string, most: string): void {
  const options = policy.validValues ?? [];
  options.slice(1).forEach((option, index) => {
    if (compareQuantities(options[index] ?? '0', option) > 0)
      report.invalid(at.index(index + 1), option, 'values must be sorted in ascending order');
  });
  const rule = (option: string, item: Path): void => {
    if (compareQuantities(option, most) > 0) report.invalid(item, option, `option is larger than capacity value: ${most}`);
  };
  validateSet(report, at, options, limits.policyOptionsMax, rule, (option) => String(parseQuantity(option).value()));
  if (!options.some((option) => compareQuantities(option, chosen) === 0))
    report.invalid(at, chosen, 'default value is not valid according to the requestPolicy');
}

function validateRange(report: Report, at: Path, range: CapacityRequestPolicyRange, chosen: string, most: string): void {
  const { min, max, step } = range;
  if (min === undefined) return report.required(at.child('min'), 'required when validRange is defined');
  if (compareQuantities(min, most) > 0) report.invalid(at.child('min'), min, `min is larger than capacity value: ${most}`);
  if (compareQuantities(chosen, min) < 0) report.invalid(at.child('min'), chosen, `default is less than min: ${min}`);
  if (max !== undefined) {
    if (compareQuantities(min, max) > 0) report.invalid(at.child('max'), min, `min is larger than max: ${max}`);
    if (compareQuantities(max, most) > 0) report.invalid(at.child('max'), max, `max is larger than capacity value: ${most}`);
    if (compareQuantities(chosen, max) > 0) report.invalid(at.child('max'), chosen, `default is more than max: ${max}`);
  }
  if (step === undefined) return;
  const sum = { one: min };
  addResources(sum, { one: step });
  if (compareQuantities(sum.one, most) > 0)
    report.invalid(at.child('step'), step, `one step ${sum.one} is larger than capacity value: ${most}`);
  for (const value of max === undefined ? [chosen] : [chosen, max]) {
    const distance = parseQuantity(value).value() - parseQuantity(min).value();
    const length = parseQuantity(step).value();
    if (Number(length) !== 0 && Number(distance) % Number(length) !== 0)
      report.invalid(at.child('step'), value, `value is not a multiple of a given step (${step}) from (${min})`);
  }
}
