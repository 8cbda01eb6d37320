// The value at a path of names (`.spec.replicas`), as upstream's helpers for unstructured objects read it (apimachinery, unstructured/helpers.go).
import { goPrint, goTypeName, own } from '#utils';
import { isObject } from './structure.ts';

const told = (path: string, value: unknown, wanted: string): string =>
  `${path} accessor error: ${goPrint(value)} is of the type ${goTypeName(value)}, expected ${wanted}`;

/** `value` is undefined where there is none; `problem` says what is of another type. */
export function nestedField(object: unknown, path: string, wanted: 'int64' | 'string'): { value?: unknown; problem?: string } {
  const names = path.replace(/^\./, '').split('.');
  let value: unknown = object;
  for (const [at, name] of names.entries()) {
    if (value === undefined || value === null) return {};
    if (!isObject(value)) return { problem: told(`.${names.slice(0, at + 1).join('.')}`, value, 'map[string]interface{}') };
    value = own(value, name);
  }
  if (value === undefined) return {};
  const right = wanted === 'int64' ? Number.isInteger(value) : typeof value === 'string';
  return right ? { value } : { problem: told(`.${names.join('.')}`, value, wanted) };
}
