// How many pods may be gone or too many during an update: numbers or percentages (pkg/apis/apps/validation).
import type { Path } from '#apimachinery/field';
import { intValue, type IntOrString, percentOf } from '#apimachinery/intstr';
import { isPercent, negativeError } from '#apimachinery/validation';
import type { Report } from '../../common/report.ts';

export function validateIntOrPercent(report: Report, path: Path, value: IntOrString = 0): void {
  if (typeof value === 'string') report.problems(path, value, isPercent(value));
  else if (value < 0) report.invalid(path, value, negativeError);
}

const validPercent = (value: IntOrString): number | undefined =>
  typeof value === 'string' && isPercent(value).length === 0 ? percentOf(value) : undefined;

export function validateAtMostAll(report: Report, path: Path, value: IntOrString = 0): void {
  if ((validPercent(value) ?? 0) > 100) report.invalid(path, value, 'must not be greater than 100%');
}

export const isZero = (value: IntOrString = 0): boolean => (validPercent(value) ?? intValue(value)) === 0;
