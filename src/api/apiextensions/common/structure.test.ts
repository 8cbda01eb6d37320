import { expect, test } from 'vitest';
import { describedEntries } from './structure.ts';

const properties = { a: {}, b: {} };

test('only members that the schema says something of are looked at, in the order of the object', () => {
  const value = { c: 1, b: 2, d: 3, a: 4 };
  expect(describedEntries({ properties }, value)).toEqual([
    ['b', 2],
    ['a', 4],
  ]);
  expect(describedEntries({ properties, additionalProperties: { type: 'string' } }, value)).toEqual(Object.entries(value));
  expect(describedEntries({ additionalProperties: true }, value)).toEqual([]);
  expect(describedEntries({}, { constructor: 1, toString: 2 })).toEqual([]);
});

test('what the schema says nothing of is not even read', () => {
  const value = new Proxy<Record<string, unknown>>(
    { a: 1, other: 2 },
    {
      get: (target, name) => {
        expect(name).toBe('a');
        return target['a'];
      },
    },
  );
  expect(describedEntries({ properties }, value)).toEqual([['a', 1]]);
});
