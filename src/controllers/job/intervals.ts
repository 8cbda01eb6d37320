// Sets of completion indexes as text: "0,2-4,7" (pkg/controller/job/indexed_job_utils.go).

export interface Interval {
  first: number;
  last: number;
}

/** Sets of numbers as intervals, which are sorted and do not touch. */
export type Intervals = readonly Interval[];

/** The union of two lists of intervals. */
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

export function includes(intervals: Intervals, index: number): boolean {
  let [low, high] = [0, intervals.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((intervals[middle] as Interval).last < index) low = middle + 1;
    else high = middle;
  }
  return (intervals[low]?.first ?? Infinity) <= index;
}

/** How many numbers are in both sets. */
export function overlap(a: Intervals, b: Intervals): number {
  let sum = 0;
  for (let [i, j] = [0, 0]; i < a.length && j < b.length; ) {
    const [x, y] = [a[i], b[j]] as [Interval, Interval];
    sum += Math.max(0, Math.min(x.last, y.last) - Math.max(x.first, y.first) + 1);
    if (x.last < y.last) i++;
    else j++;
  }
  return sum;
}

/** The lowest indexes below `end` that are in none of the intervals, `count` of them at most. */
export function lowestOutside(intervals: Intervals, end: number, count: number): number[] {
  const found: number[] = [];
  let index = 0;
  for (const { first, last } of [...intervals, { first: end, last: end }]) {
    for (; index < Math.min(first, end) && found.length < count; index++) found.push(index);
    if (found.length === count) break;
    index = last + 1;
  }
  return found;
}

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
