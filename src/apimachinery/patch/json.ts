// What the patch languages share: decoded JSON, copied where it changes.
import { setOwn } from '#utils';

/** A decoded JSON value. Inputs are never mutated; results share what did not change. */
export type Json = unknown;

export type JsonObject = Record<string, Json>;

export const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** How Go's decoder names the JSON type of a value that does not fit. */
export function jsonTypeName(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return value === null ? 'null' : typeof value;
}

/** Without the members that are null: in a value that is new a null has nothing to remove. */
export function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const [key, inner] of Object.entries(value)) if (inner !== null) setOwn(out, key, withoutNulls(inner));
  return out;
}
