// What to make, to keep and to remove so that a list in the cloud becomes the wanted one. Pure.

export interface Difference<Found, Wanted> {
  missing: Wanted[];
  surplus: Found[];
  /** In both: to be compared, and changed where they differ. */
  both: { found: Found; wanted: Wanted }[];
}

/** Compares by a key that both have. Of several found under one key the first is kept, and the others are surplus. */
export function differenceOf<Found, Wanted>(
  found: readonly Found[],
  wanted: readonly Wanted[],
  keyOfFound: (item: Found) => string,
  keyOfWanted: (item: Wanted) => string,
): Difference<Found, Wanted> {
  const wantedBy = new Map(wanted.map((item) => [keyOfWanted(item), item]));
  const difference: Difference<Found, Wanted> = { missing: [], surplus: [], both: [] };
  const met = new Set<string>();
  for (const item of found) {
    const key = keyOfFound(item);
    const match = wantedBy.get(key);
    if (match === undefined || met.has(key)) difference.surplus.push(item);
    else difference.both.push({ found: item, wanted: match });
    met.add(key);
  }
  for (const [key, item] of wantedBy) if (!met.has(key)) difference.missing.push(item);
  return difference;
}

/** Whether two lists have the same members; in which order, and how often each, is all the same. */
export function sameSet<T>(a: readonly T[] = [], b: readonly T[] = []): boolean {
  const [left, right] = [new Set(a), new Set(b)];
  return left.size === right.size && [...left].every((one) => right.has(one));
}
