// Where two JSON values differ, as lines that can be counted: numbers and names in the path are kept, a caller may fold them into classes.

const show = (value) => (value === undefined ? 'nothing' : (JSON.stringify(value) ?? 'nothing').slice(0, 400));
const isObject = (value) => typeof value === 'object' && value !== null;

/** `{ path, upstream, sagong }` of each place where the two differ; `skip(path, key)` leaves a field out. */
export function differences(upstream, sagong, { skip = () => false, max = 100_000 } = {}) {
  const found = [];
  const walk = (one, other, path) => {
    if (found.length >= max) return;
    if (!isObject(one) || !isObject(other) || Array.isArray(one) !== Array.isArray(other)) {
      if (one !== other) found.push({ path, upstream: show(one), sagong: show(other) });
      return;
    }
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)]))
      if (!skip(path, key)) walk(one[key], other[key], [...path, key]);
  };
  walk(upstream, sagong, []);
  return found;
}

/** Differences by class, the most frequent first, each with an example. */
export class Tally {
  #classes = new Map();

  add(name, example) {
    const known = this.#classes.get(name) ?? { count: 0, examples: [] };
    known.count += 1;
    if (known.examples.length < 3) known.examples.push(example);
    this.#classes.set(name, known);
  }

  get total() {
    return [...this.#classes.values()].reduce((sum, { count }) => sum + count, 0);
  }

  lines(max = 1000, examples = 1) {
    const sorted = [...this.#classes].sort(([, a], [, b]) => b.count - a.count).slice(0, max);
    return sorted.flatMap(([name, { count, examples: all }]) => [
      `${String(count).padStart(6)}  ${name}`,
      ...all.slice(0, examples).map((example) => `          ${example}`),
    ]);
  }
}
