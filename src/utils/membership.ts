// Whether a text is one of many. Lists of values come from objects and selectors of users, and may be very long.

/** Up to so many are compared one by one. */
const fewMax = 8;
const sets = new WeakMap<readonly string[], ReadonlySet<string>>();

/** Whether a value is one of `values`, which must not change between calls. */
export function isOneOf(value: string, values: readonly string[]): boolean {
  if (values.length <= fewMax) return values.includes(value);
  let set = sets.get(values);
  if (!set) sets.set(values, (set = new Set(values)));
  return set.has(value);
}
