// Selectors, configurations, taints and tolerations of devices (pkg/apis/resource/validation).
import type * as resource from '#api/resource/v1';
import type { Path } from '#apimachinery/field';
import { byteLength, isLabelValue } from '#apimachinery/validation';
import { deviceSelectorProblem, selectorsWorkUnits } from '#cel';
import { Work, WorkError } from '#regexp';
import { repeats } from '#utils';
import { validateLabelName } from '../../common/labels.ts';
import { isEmpty, type Report } from '../../common/report.ts';
import { limits } from './limits.ts';
import { validateSlice } from './lists.ts';
import { validateDriverName } from './names.ts';

const effects = ['NoExecute', 'NoSchedule', 'None'];

const works = new WeakMap<Report, Work>();

/** All selectors of one object are compiled with the same purse. */
function selectorProblem(report: Report, expression: string): ReturnType<typeof deviceSelectorProblem> {
  const work = works.get(report) ?? new Work(selectorsWorkUnits);
  works.set(report, work);
  try {
    return deviceSelectorProblem(expression, work);
  } catch (error) {
    if (!(error instanceof WorkError)) throw error;
    return { problem: 'too complex, together with the other selectors of the object', isTooComplex: true };
  }
}

export function validateSelectors(report: Report, path: Path, selectors: resource.DeviceSelector[] | undefined): void {
  validateSlice(report, path, selectors, limits.selectorsMax, ({ cel }, at) => {
    const field = at.child('cel');
    if (!cel) return report.required(field);
    const expression = cel.expression || '';
    const where = field.child('expression');
    if (byteLength(expression) > limits.selectorBytesMax) return report.tooLong(where, limits.selectorBytesMax);
    const found = selectorProblem(report, expression);
    if (found?.isTooComplex) report.forbidden(where, found.problem);
    else if (found) report.invalid(where, expression, found.problem);
  });
}

/** Any JSON object within a size; `checkSize` is false for what was stored before there was a limit. */
export function validateRawObject(report: Report, path: Path, value: unknown, bytesMax: number, checkSize = true): void {
  if (value === undefined || value === null) report.required(path);
  else if (checkSize && byteLength(JSON.stringify(value)) > bytesMax) report.tooLong(path, bytesMax);
  else if (typeof value !== 'object' || Array.isArray(value))
    report.invalid(path, '<value omitted>', 'must be a valid JSON object');
}

export function validateConfiguration(
  report: Report,
  path: Path,
  { opaque }: resource.DeviceConfiguration,
  checkSize = true,
): void {
  const at = path.child('opaque');
  if (!opaque) return report.required(at);
  validateDriverName(report, at.child('driver'), opaque.driver);
  validateRawObject(report, at.child('parameters'), opaque.parameters, limits.opaqueBytesMax, checkSize);
}

export function validateToleration(report: Report, path: Path, toleration: resource.DeviceToleration): void {
  const { key, operator, value = '', effect } = toleration;
  if (key) validateLabelName(report, path.child('key'), key);
  report.oneOf(path.child('operator'), operator, ['Equal', 'Exists']);
  if (operator === 'Exists' && value !== '') report.invalid(path.child('value'), value, 'must be empty for operator `Exists`');
  if (operator === 'Equal') report.problems(path.child('value'), value, isLabelValue(value));
  if (effect) report.known(path.child('effect'), effect, effects);
}

export function validateTaint(report: Report, path: Path, { key, value, effect }: resource.DeviceTaint): void {
  validateLabelName(report, path.child('key'), key);
  if (value) report.problems(path.child('value'), value, isLabelValue(value));
  report.oneOf(path.child('effect'), effect, effects);
}

/** Conditions a device must and must not reach before its pod is bound. */
export function validateBindingConditions(
  report: Report,
  path: Path,
  {
    bindingConditions: wanted = [],
    bindingFailureConditions: failures = [],
  }: { bindingConditions?: string[]; bindingFailureConditions?: string[] },
): void {
  const wantedAt = path.child('bindingConditions');
  const failuresAt = path.child('bindingFailureConditions');
  for (const [at, list] of [
    [wantedAt, wanted],
    [failuresAt, failures],
  ] as const)
    validateSlice(report, at, list, limits.bindingConditionsMax, (name, item) => validateLabelName(report, item, name));
  const isRepeatedWanted = repeats();
  wanted.forEach((name, index) => {
    if (isRepeatedWanted(name)) report.duplicate(wantedAt.index(index), name);
  });
  const isRepeatedFailure = repeats();
  const isWanted = new Set(wanted);
  failures.forEach((name, index) => {
    if (isRepeatedFailure(name)) report.duplicate(failuresAt.index(index), name);
    if (isWanted.has(name))
      report.invalid(failuresAt.index(index), name, 'bindingFailureConditions must not overlap with bindingConditions');
  });
  if (isEmpty(wanted) && !isEmpty(failures))
    report.invalid(wantedAt, null, 'bindingConditions are required to use bindingFailureConditions');
  if (isEmpty(failures) && !isEmpty(wanted))
    report.invalid(failuresAt, null, 'bindingFailureConditions are required to use bindingConditions');
}
