import { expect, test } from 'vitest';
import { firstOfEach, repeats } from './repeats.ts';

test('repeats says whether a value was there before', () => {
  expect(['a', 'b', 'a', 'a', 'c'].map(repeats())).toEqual([false, false, true, true, false]);
});

test('firstOfEach keeps the first of each key', () => {
  const items = [
    { name: 'a', at: 0 },
    { name: 'b', at: 1 },
    { name: 'a', at: 2 },
  ];
  expect([...firstOfEach(items, ({ name }) => name).values()].map(({ at }) => at)).toEqual([0, 1]);
});
