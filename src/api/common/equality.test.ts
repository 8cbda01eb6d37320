// Two values are the same where upstream's typed comparison finds no difference.
import { expect, test } from 'vitest';
import { semanticEqual } from './equality.ts';
import { isWhole } from './quantities.ts';

test.each([
  ['an empty list and none', { a: [] }, {}, true],
  ['an empty map and none', { labels: {} }, {}, true],
  ['an empty map that is a list elsewhere and none', { limits: {}, requests: {} }, {}, true],
  ['an empty struct and none', { seLinuxOptions: {} }, {}, false],
  ['amounts by value', { limits: { cpu: '1' } }, { limits: { cpu: '1000m' } }, true],
  ['a list that is called as a map of amounts', { requests: [{ key: 'a b' }] }, { requests: [{ key: 'c d' }] }, false],
  ['a label that is called as an amount', { labels: { divisor: 'x y' } }, { labels: { divisor: 'z' } }, false],
  [
    'amounts of a class of devices',
    { capacity: { memory: { value: '1Gi' } } },
    { capacity: { memory: { value: '2Gi' } } },
    false,
  ],
])('%s', (_, left, right, same) => {
  expect(semanticEqual(left, right)).toBe(same);
  expect(semanticEqual(right, left)).toBe(same);
});

test.each([
  ['1', true],
  ['1m', false],
  ['1500m', false],
  ['2000m', true],
  ['1Gi', true],
  // Beyond 64 bits in thousandths.
  ['1Ei', false],
  ['1e30', true],
])('%s is whole: %s', (amount, whole) => {
  expect(isWhole(amount)).toBe(whole);
});
