// What config maps and secrets share: keys, a limit on size, and being immutable (pkg/apis/core/validation, ValidateConfigMap and
// ValidateSecret).
import { type Path, root } from '#apimachinery/field';
import { isConfigMapKey } from '#apimachinery/validation';
import { semanticEqual } from '../../common/equality.ts';
import type { Report } from '../../common/report.ts';

/** The limit of all values of one ConfigMap or Secret together. */
export const dataBytesMax = 1024 * 1024;

/** How many bytes a base64 text stands for. */
export function decodedLength(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return (text.length / 4) * 3 - padding;
}

export function validateKeys(report: Report, path: Path, data: Record<string, string> | undefined): void {
  for (const key in data) validateKey(report, path, key);
}

export function validateKey(report: Report, path: Path, key: string): void {
  const problems = isConfigMapKey(key);
  if (problems.length > 0) report.problems(path.key(key), key, problems);
}

interface Immutable {
  immutable?: boolean;
}

/** An immutable object stays immutable, and so do these fields. */
export function validateStaysImmutable<T extends Immutable>(
  report: Report,
  object: T,
  old: T,
  ...fields: (keyof T & string)[]
): void {
  if (!old.immutable) return;
  const detail = 'field is immutable when `immutable` is set';
  if (!object.immutable) report.forbidden(root('immutable'), detail);
  for (const field of fields) if (!semanticEqual(object[field], old[field])) report.forbidden(root(field), detail);
}
