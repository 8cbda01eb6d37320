// What an update of a large object leaves alone stays the same object in memory: whoever compares the two, and every control loop does, has nothing
// to look through, and it is kept once.
import { deepEqual, setOwn } from '#utils';

type Holder = Record<string, unknown>;

/** Replaces, in place, what is below `now` and equal to what stands there in `before`. Says whether all of it is. What is frozen is left as it is. */
export function keepUnchanged(now: unknown, before: unknown): boolean {
  if (now === before) return true;
  if (typeof now !== 'object' || typeof before !== 'object' || now === null || before === null) return false;
  if (Array.isArray(now) !== Array.isArray(before)) return false;
  if (Object.isFrozen(now)) return deepEqual(now, before);
  const [holder, old] = [now as Holder, before as Holder];
  let equal = true;
  let members = 0;
  for (const key in holder) {
    members++;
    const value = holder[key];
    const known = Object.hasOwn(old, key) ? old[key] : undefined;
    if (value === known) continue;
    if (keepUnchanged(value, known)) setOwn(holder, key, known);
    else equal = false;
  }
  if (!equal) return false;
  for (const _ in old) members--;
  return members === 0;
}
