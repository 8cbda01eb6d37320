// The arithmetic of field sets against the same arithmetic on plain sets of paths.
import { expect, test } from 'vitest';
import { seededRng } from '#utils';
import {
  difference,
  differenceWithBelow,
  emptySet,
  equalSets,
  type FieldSet,
  intersection,
  isEmptySet,
  leaf,
  paths,
  readFieldSet,
  union,
} from './field-set.ts';

const rng = seededRng(7);
const pick = (count: number): number => Math.floor(rng.next() * count);

/** A set from outside: members with and without children, marked or not, three levels deep. */
function randomSet(depth = 3): FieldSet {
  const raw = (left: number): object =>
    left === 0 || pick(3) === 0
      ? {}
      : Object.fromEntries([
          ...(pick(2) ? [['.', {}]] : []),
          ...['a', 'b', 'c'].filter(() => pick(2)).map((name) => [`f:${name}`, raw(left - 1)]),
        ]);
  const { '.': _, ...root } = raw(depth) as Record<string, object>;
  return readFieldSet(root) ?? emptySet;
}

const same = (set: FieldSet, expected: Iterable<string>): void => {
  expect(paths(set).sort()).toEqual([...expected].sort());
  // The one way to write a set: a second reading changes nothing.
  expect(equalSets(set, readFieldSet(structuredClone(set)) ?? emptySet)).toBe(true);
};

test('union, intersection and difference are those of sets of paths', () => {
  for (let round = 0; round < 600; round++) {
    const [a, b] = [randomSet(), round % 3 === 0 ? (structuredClone(randomSet()) as FieldSet) : randomSet()];
    const [left, right] = [new Set(paths(a)), new Set(paths(b))];
    same(union(a, b), new Set([...left, ...right]));
    same(
      intersection(a, b),
      [...left].filter((path) => right.has(path)),
    );
    same(
      difference(a, b),
      [...left].filter((path) => !right.has(path)),
    );
    const isBelow = (path: string): boolean => [...right].some((top) => path === top || path.startsWith(`${top}.`));
    same(
      differenceWithBelow(a, b),
      [...left].filter((path) => !isBelow(path)),
    );
  }
});

test('what does not change is the same object', () => {
  const set = readFieldSet({ 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} }, 'f:x': {} }) as FieldSet;
  const part = readFieldSet({ 'f:data': { 'f:a': {} } }) as FieldSet;
  expect(union(set, part)).toBe(set);
  expect(intersection(set, structuredClone(set) as FieldSet)).toBe(set);
  expect(difference(set, readFieldSet({ 'f:y': leaf }) as FieldSet)).toBe(set);
  expect(isEmptySet(difference(set, set))).toBe(true);
});
