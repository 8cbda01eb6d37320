// Rules on numbers that many kinds share (pkg/apis/core/validation, ValidateNonnegativeField and its like).
import type { Path } from '#apimachinery/field';
import { negativeError } from '#apimachinery/validation';
import type { Report } from './report.ts';

export const notPositiveError = 'must be greater than zero';
export const maxInt32 = 2147483647;

/** Reports a number below 0; an absent one is fine. */
export function nonnegative(report: Report, path: Path, value: number | undefined): void {
  if (value !== undefined && value < 0) report.invalid(path, value, negativeError);
}

export function positive(report: Report, path: Path, value: number | undefined): void {
  if ((value ?? 0) <= 0) report.invalid(path, value ?? 0, notPositiveError);
}

/** Does what `nonnegative` does for several fields of one object. */
export function nonnegativeFields<T extends object>(report: Report, path: Path, owner: T, ...names: (keyof T & string)[]): void {
  for (const name of names) {
    const value = owner[name];
    if (typeof value === 'number' && value < 0) report.invalid(path.child(name), value, negativeError);
  }
}
