// What a user's flags change of options that the assembly has made: wherever the options with these flags differ from those without, theirs count.
// Pure.
import { deepEqual } from '#utils';

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** Functions are made anew with all options, and say nothing about what was given. */
const same = (base: unknown, given: unknown): boolean =>
  deepEqual(base, given) || (typeof base === 'function' && typeof given === 'function');

/** `ours` with every side in which `given` is another than `base`. */
export function overlay<T>(ours: T, base: unknown, given: unknown): T {
  if (same(base, given)) return ours;
  if (!isPlain(ours) || !isPlain(base) || !isPlain(given)) return given as T;
  const result: Record<string, unknown> = { ...ours };
  for (const key of new Set([...Object.keys(base), ...Object.keys(given)])) {
    if (same(base[key], given[key])) continue;
    if (given[key] === undefined) delete result[key];
    else result[key] = overlay(ours[key], base[key], given[key]);
  }
  return result as T;
}
