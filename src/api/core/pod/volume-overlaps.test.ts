import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Volume } from '#api/core/v1';
import { overlapWarnings } from './volume-overlaps.ts';

const volume = (paths: readonly string[]): Volume => ({
  name: 'v',
  configMap: { name: 'c', items: paths.map((path) => ({ key: 'k', path })) },
});
const told = (paths: readonly string[]): string[] =>
  overlapWarnings([volume(paths)]).map((text) => text.replace(/^.*overlapping paths: /, ''));

test('the pairs of paths that are one in the other are those that one finds by comparing all', () => {
  const path = fc.array(fc.constantFrom('a', 'b', ''), { maxLength: 4 }).map((names) => names.join('/'));
  fc.assert(
    fc.property(fc.array(path, { maxLength: 8 }), (paths) => {
      const trimmed = paths.map((one) => one.replace(/\/+$/, '')).filter((one) => one !== '');
      const expected = trimmed.flatMap((one, index) =>
        trimmed
          .slice(0, index)
          .filter((other) => `${other}/`.startsWith(`${one}/`) || `${one}/`.startsWith(`${other}/`))
          .map((other) => `"${one}" with "${other}"`),
      );
      expect(told(paths)).toEqual(expected);
    }),
  );
});

test('of thousands of equal paths a hundred pairs are told', () => {
  expect(told(Array.from({ length: 20_000 }, () => 'a'))).toHaveLength(100);
  expect(told(Array.from({ length: 20_000 }, (_, index) => `a${index}/b`))).toEqual([]);
});
