// The little that ownership needs to know of decoded JSON.

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isEmptyObject = (value: object): boolean => {
  for (const _ in value) return false;
  return true;
};

/** Equal by content; key order does not matter. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!deepEqual(a[i], b[i])) return false;
    return true;
  }
  const left = a as JsonObject;
  const right = b as JsonObject;
  let count = 0;
  for (const key in left) {
    if (!Object.hasOwn(right, key) || !deepEqual(left[key], right[key])) return false;
    count++;
  }
  for (const _ in right) count--;
  return count === 0;
}
