// The input of an operation, checked against its schemas: parameters of the path and the query, and the body's fields, in one object. Pure.
import type * as z from 'zod';
import { invalid } from './errors.ts';
import type { Operation } from './operation.ts';

const tagPrefix = 'tag.';

/** Query parameters as an object. Throws a Refusal for one given twice. */
export function queryObject(query: Iterable<readonly [string, string]>): Record<string, unknown> {
  const plain = new Map<string, string>();
  const tags = new Map<string, string>();
  for (const [key, value] of query) {
    const tag = key.startsWith(tagPrefix);
    const [target, name] = tag ? [tags, key.slice(tagPrefix.length)] : [plain, key];
    if (target.has(name)) throw invalid(key, 'given twice');
    target.set(name, value);
  }
  return { ...Object.fromEntries(plain), ...(tags.size > 0 && { tags: Object.fromEntries(tags) }) };
}

function checked(schema: z.ZodObject, value: unknown): Record<string, unknown> {
  // Without compiling the schema: most operations are asked for a few times, and a compiled parser costs as much as hundreds of requests.
  const result = schema.safeParse(value, { jitless: true });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path.join('.');
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  throw invalid(unknown ?? (path || undefined), issue?.message ?? 'not valid');
}

/** Throws a Refusal that names the field. */
export function parseInput(
  operation: Operation,
  parameters: Record<string, string>,
  query: Record<string, unknown>,
  body: unknown,
): Record<string, unknown> {
  const [surplus] = operation.query ? [] : Object.keys(query);
  if (surplus !== undefined) throw invalid(surplus, 'this operation has no query parameters');
  return {
    ...(operation.query && checked(operation.query, query)),
    ...(operation.body && checked(operation.body, body ?? {})),
    ...parameters,
  };
}
