// What changed in an immutable part, as messages show it: the difference of two JSON texts by lines, in unified form
// (k8s.io/apimachinery/pkg/util/diff). Which lines match is decided as Python's difflib does, which upstream's library follows:
// the longest common run first, then what is before and after it.
import { goJson } from '#apimachinery/field';
import { internalForm } from './internal-form.ts';

const contextLines = 3;
/** In texts of this many lines or more, lines that repeat often do not start a match. */
const popularFrom = 200;
/** Beyond this only the common head and tail are found: the search takes time by the square of what it is given. */
const linesMax = 5_000;

/** A run of `size` lines equal in both. */
interface Match {
  a: number;
  b: number;
  size: number;
}
/** Lines `[a, aEnd)` become `[b, bEnd)`. */
interface Change {
  equal: boolean;
  a: number;
  aEnd: number;
  b: number;
  bEnd: number;
}

/** Two values of an internal type (`core.PodSpec`), or lists of such. '' where they print the same. */
export function internalDiff(typeName: string, old: unknown, value: unknown): string {
  const form = (one: unknown): unknown => (Array.isArray(one) ? one.map(form) : internalForm(typeName, one));
  return unifiedDiff(linesOf(goJson(form(old), 1)), linesOf(goJson(form(value), 1)));
}

/** Every line ends in a newline, the last one too. */
const linesOf = (json: string): string[] => json.split('\n').map((line) => `${line}\n`);

/** Shows the difference of two texts in the form of `diff -u`; '' where they are equal. Lines have their newlines. */
export function unifiedDiff(a: readonly string[], b: readonly string[]): string {
  return hunks(changes(a, b))
    .map((hunk) => hunkText(hunk, a, b))
    .join('');
}

function hunkText(hunk: readonly Change[], a: readonly string[], b: readonly string[]): string {
  const [first, last] = [hunk[0], hunk.at(-1)];
  if (first === undefined || last === undefined) return '';
  const lines = [`@@ -${range(first.a, last.aEnd)} +${range(first.b, last.bEnd)} @@\n`];
  for (const { equal, a: from, aEnd, b: to, bEnd } of hunk) {
    for (const line of a.slice(from, aEnd)) lines.push(`${equal ? ' ' : '-'}${line}`);
    if (!equal) for (const line of b.slice(to, bEnd)) lines.push(`+${line}`);
  }
  return lines.join('');
}

function range(start: number, end: number): string {
  const length = end - start;
  if (length === 1) return String(start + 1);
  return `${length === 0 ? start : start + 1},${length}`;
}

/** Groups of changes with the lines around them. */
function hunks(all: readonly Change[]): Change[][] {
  const groups: Change[][] = [];
  let group: Change[] = [];
  all.forEach((change, index) => {
    if (!change.equal) return void group.push(change);
    const { aEnd, bEnd } = change;
    const isLast = index === all.length - 1;
    const keep = (index === 0 ? 0 : contextLines) + (isLast ? 0 : contextLines);
    if (aEnd - change.a <= keep) return void group.push(change);
    if (index > 0) group.push({ ...change, aEnd: change.a + contextLines, bEnd: change.b + contextLines });
    if (group.length > 0) groups.push(group);
    group = isLast ? [] : [{ ...change, a: aEnd - contextLines, b: bEnd - contextLines }];
  });
  if (group.some(({ equal }) => !equal)) groups.push(group);
  return groups;
}

/** How `a` becomes `b`, in order, without gaps. */
function changes(a: readonly string[], b: readonly string[]): Change[] {
  const all: Change[] = [];
  let [atA, atB] = [0, 0];
  for (const { a: nextA, b: nextB, size } of matches(a, b)) {
    if (atA < nextA || atB < nextB) all.push({ equal: false, a: atA, aEnd: nextA, b: atB, bEnd: nextB });
    [atA, atB] = [nextA + size, nextB + size];
    const before = all.at(-1);
    if (size > 0 && before?.equal) Object.assign(before, { aEnd: atA, bEnd: atB });
    else if (size > 0) all.push({ equal: true, a: nextA, aEnd: atA, b: nextB, bEnd: atB });
  }
  return all;
}

/** Equal runs in order; the last is empty, at both ends. */
function matches(a: readonly string[], b: readonly string[]): Match[] {
  const found: Match[] = [];
  const places = placesOf(b);
  const [head, tail] = Math.max(a.length, b.length) > linesMax ? commonEnds(a, b) : [0, 0];
  if (head > 0) found.push({ a: 0, b: 0, size: head });
  const whole = { a: head, aEnd: a.length - tail, b: head, bEnd: b.length - tail };
  const open = Math.max(whole.aEnd, whole.bEnd) - head > linesMax ? [] : [whole];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const match = longestMatch(a, b, places, part);
    const { size } = match;
    if (size === 0) continue;
    found.push(match);
    if (part.a < match.a && part.b < match.b) open.push({ ...part, aEnd: match.a, bEnd: match.b });
    const after = { ...part, a: match.a + size, b: match.b + size };
    if (after.a < part.aEnd && after.b < part.bEnd) open.push(after);
  }
  found.sort((left, right) => left.a - right.a);
  if (tail > 0) found.push({ a: a.length - tail, b: b.length - tail, size: tail });
  found.push({ a: a.length, b: b.length, size: 0 });
  return found;
}

function commonEnds(a: readonly string[], b: readonly string[]): [number, number] {
  const shorter = Math.min(a.length, b.length);
  let [head, tail] = [0, 0];
  while (head < shorter && a[head] === b[head]) head++;
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return [head, tail];
}

/** Where each line of `b` is, without the lines that are too common to tell anything. */
function placesOf(b: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  b.forEach((line, index) => {
    const known = places.get(line);
    if (known) known.push(index);
    else places.set(line, [index]);
  });
  const often = b.length < popularFrom ? b.length : Math.trunc(b.length / 100) + 1;
  for (const [line, all] of places) if (all.length > often) places.delete(line);
  return places;
}

/** The longest run equal in both parts: of several the first in `a`, then in `b`. Common lines only lengthen it. */
function longestMatch(
  a: readonly string[],
  b: readonly string[],
  places: ReadonlyMap<string, number[]>,
  part: { a: number; aEnd: number; b: number; bEnd: number },
): Match {
  const best = { a: part.a, b: part.b, size: 0 };
  let ending = new Map<number, number>();
  for (let i = part.a; i < part.aEnd; i++) {
    const next = new Map<number, number>();
    for (const j of places.get(a[i] ?? '') ?? []) {
      if (j < part.b || j >= part.bEnd) continue;
      const size = (ending.get(j - 1) ?? 0) + 1;
      next.set(j, size);
      if (size > best.size) Object.assign(best, { a: i - size + 1, b: j - size + 1, size });
    }
    ending = next;
  }
  while (best.a > part.a && best.b > part.b && a[best.a - 1] === b[best.b - 1]) {
    best.a--;
    best.b--;
    best.size++;
  }
  while (best.a + best.size < part.aEnd && best.b + best.size < part.bEnd && a[best.a + best.size] === b[best.b + best.size])
    best.size++;
  return best;
}
