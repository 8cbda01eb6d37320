// Rules of taints' effects and of tolerations (pkg/apis/core/validation, ValidateTolerations).
import type { Toleration } from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { isDecimalInteger, isLabelValue } from '#apimachinery/validation';
import { validateLabelName } from '../../../common/labels.ts';
import type { Report } from '../../../common/report.ts';

export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** `allowComparison`: operators Gt and Lt, whose feature gate is off by default in v1.36. */
export function validateTolerations(
  report: Report,
  path: Path,
  tolerations: Toleration[] | undefined,
  allowComparison = false,
): void {
  tolerations?.forEach((toleration, index) => {
    const at = path.index(index);
    const { key, operator = '', effect = '' } = toleration;
    if (key) validateLabelName(report, at.child('key'), key);
    else if (operator !== 'Exists') {
      report.invalid(
        at.child('operator'),
        operator,
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      );
    }
    if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
      report.invalid(at.child('effect'), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    validateOperator(report, at, operator, toleration.value ?? '', allowComparison);
    if (effect) report.known(at.child('effect'), effect, taintEffects);
  });
}

function validateOperator(report: Report, path: Path, operator: string, value: string, allowComparison: boolean): void {
  const at = path.child('operator');
  if (operator === '' || operator === 'Equal') {
    const problems = isLabelValue(value);
    if (problems.length > 0) report.invalid(at, value, problems.join(';'));
  } else if (operator === 'Exists') {
    if (value) report.invalid(at, value, "value must be empty when `operator` is 'Exists'");
  } else if (operator !== 'Lt' && operator !== 'Gt') report.notSupported(at, operator, ['Equal', 'Exists']);
  else if (!allowComparison) report.notSupported(at, operator, ['Equal', 'Exists', 'Lt', 'Gt']);
  else report.problems(path.child('value'), value, isDecimalInteger(value));
}

const withoutSeconds = ({ key = '', operator = '', value = '', effect = '' }: Toleration): string =>
  JSON.stringify([key, operator, value, effect]);

/** An update may add tolerations, and change for how long the old ones hold. */
export function validateOnlyAddedTolerations(
  report: Report,
  path: Path,
  tolerations: Toleration[] | undefined,
  old: Toleration[] | undefined,
  allowComparison = false,
): void {
  const there = new Set(tolerations?.map(withoutSeconds));
  if (!(old ?? []).every((before) => there.has(withoutSeconds(before))))
    return report.forbidden(path, 'existing toleration can not be modified except its tolerationSeconds');
  validateTolerations(report, path, tolerations, allowComparison);
}
