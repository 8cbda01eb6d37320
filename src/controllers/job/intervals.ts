// Sets of completion indexes as text: "0,2-4,7" (pkg/controller/job/indexed_job_utils.go).

export interface Interval {
  first: number;
  last: number;
}

/** Sorted, apart from each other. */
export type Intervals = readonly Interval[];

/** The union. */
export function union(a: Intervals, b: Intervals): Interval[] {
  const result: Interval[] = [];
  for (const next of [...a, ...b].sort((x, y) => x.first - y.first)) {
    const last = result.at(-1);
    if (!last || next.first > last.last + 1) result.push({ ...next });
    else last.last = Math.max(last.last, next.last);
  }
  return result;
}

export const withIndexes = (intervals: Intervals, indexes: Iterable<number>): Interval[] =>
  union(
    intervals,
    [...indexes].map((index) => ({ first: index, last: index })),
  );

export const total = (intervals: Intervals): number => intervals.reduce((sum, { first, last }) => sum + last - first + 1, 0);

export const includes = (intervals: Intervals, index: number): boolean =>
  intervals.some(({ first, last }) => first <= index && index <= last);

/** How many are in both. */
export const overlap = (a: Intervals, b: Intervals): number =>
  a.reduce(
    (sum, x) => sum + b.reduce((part, y) => part + Math.max(0, Math.min(x.last, y.last) - Math.max(x.first, y.first) + 1), 0),
    0,
  );

export const intervalsText = (intervals: Intervals): string =>
  intervals
    .map(({ first, last }) => (first === last ? `${first}` : last === first + 1 ? `${first},${last}` : `${first}-${last}`))
    .join(',');

/** Indexes from `completions` on, and parts that cannot be read, are left out. */
export function parseIntervals(text: string | undefined, completions: number): Interval[] {
  const parsed = (text ?? '').split(',').flatMap((part): Interval[] => {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (!match) return [];
    const first = Number(match[1]);
    const last = Math.min(Number(match[2] ?? match[1]), completions - 1);
    return first < completions ? [{ first, last }] : [];
  });
  return union(parsed, []);
}
