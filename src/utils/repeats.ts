// One pass over a list where a search for each of its items would be as many passes as it has items.

/** A function that says of each value it is given whether it was given that value before. */
export function repeats<T = string>(): (value: T) => boolean {
  // Most lists have one item or none, and then there is no set to make.
  let first: { value: T } | undefined;
  let seen: Set<T> | undefined;
  return (value) => {
    if (first === undefined) {
      first = { value };
      return false;
    }
    seen ??= new Set([first.value]);
    const before = seen.size;
    return seen.add(value).size === before;
  };
}

/** The first item of each key. */
export function firstOfEach<T, K>(items: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, T> {
  const first = new Map<K, T>();
  for (const item of items) if (!first.has(keyOf(item))) first.set(keyOf(item), item);
  return first;
}
