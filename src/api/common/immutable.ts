// Fields that may not change (k8s.io/apimachinery/pkg/api/validation, ValidateImmutableField).
import type { Path } from '#apimachinery/field';
import { immutableError } from '#apimachinery/validation';
import { semanticEqual } from './equality.ts';
import type { Report } from './report.ts';

/** `shown` is printed instead of the new value where upstream prints another form of it. */
export function immutable(report: Report, path: Path, value: unknown, old: unknown, shown: unknown = value): void {
  if (!semanticEqual(value, old)) report.invalid(path, shown ?? null, immutableError);
}
