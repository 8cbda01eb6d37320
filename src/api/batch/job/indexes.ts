// Sets of indexes as text, `1,3-5,7` (pkg/apis/batch/validation, validateIndexesFormat).
import { quote } from '#utils';

interface Interval {
  first: number;
  last: number;
}

class IndexError extends Error {}

function indexOf(text: string, completions: number): number {
  if (!/^[+-]?\d+$/.test(text)) throw new IndexError(`cannot convert string to integer for index: ${quote(text)}`);
  if (Number(text) >= completions) throw new IndexError(`too large index: ${quote(text)}`);
  return Number(text);
}

const order = (previous: number, current: number): IndexError =>
  new IndexError(`non-increasing order, previous: ${previous}, current: ${current}`);

function intervalOf(text: string, completions: number): Interval {
  const [first = '', last, ...more] = text.split('-');
  if (more.length > 0) {
    throw new IndexError(
      `the fragment ${quote(text)} violates the requirement that an index interval can have at most two parts separated by '-'`,
    );
  }
  const from = indexOf(first, completions);
  if (last === undefined) return { first: from, last: from };
  const to = indexOf(last, completions);
  if (from >= to) throw order(from, to);
  return { first: from, last: to };
}

/** How many indexes a text names; `problem`: why it is no set of indexes below `completions`. */
export function countIndexes(text: string, completions: number): { total: number; problem?: string } {
  if (text === '') return { total: 0 };
  let total = 0;
  let previous: number | undefined;
  try {
    for (const part of text.split(',')) {
      const { first, last } = intervalOf(part, completions);
      if (previous !== undefined && previous >= first) throw order(previous, first);
      total += last - first + 1;
      previous = last;
    }
    return { total };
  } catch (error) {
    if (error instanceof IndexError) return { total: 0, problem: error.message };
    throw error;
  }
}

const readable = (text: string, completions: number): Interval[] =>
  text.split(',').flatMap((part) => {
    try {
      return [intervalOf(part, completions)];
    } catch {
      return [];
    }
  });

const byFirst = (a: Interval, b: Interval): number => a.first - b.first;

/** The first index in both sets; unreadable parts do not count. */
export function overlap(left: string, right: string, completions: number): number | undefined {
  if (left === '' || right === '') return undefined;
  const others = readable(right, completions).sort(byFirst);
  let at = 0;
  for (const one of readable(left, completions).sort(byFirst)) {
    while (at < others.length && (others[at] as Interval).last < one.first) at++;
    const other = others[at];
    if (other && other.first <= one.last) return Math.max(one.first, other.first);
  }
  return undefined;
}
