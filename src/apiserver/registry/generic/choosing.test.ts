import { expect, it } from 'vitest';
import { StoredObject } from '../../storage/stored-object.ts';
import { chosen } from './choosing.ts';

const entries = Array.from(
  { length: 100 },
  (_, at) => new StoredObject({ key: String(at), namespace: '', name: String(at), revision: at }, { metadata: {} }),
);
const even = ({ revision }: StoredObject): boolean => revision % 2 === 0;

it('picks what matches, in order, and lets others go on meanwhile', async () => {
  let rests = 0;
  const { found, next } = await chosen(entries, even, () => {
    rests++;
    return Promise.resolve();
  });
  expect(found).toEqual(entries.filter(even));
  expect(next).toBeUndefined();
  expect(rests).toBe(7);
});

it('stops when there are enough, and says where it stopped', async () => {
  const { found, next } = await chosen(entries, even, () => undefined, 3);
  expect(found.map(({ revision }) => revision)).toEqual([0, 2, 4]);
  expect(next?.revision).toBe(5);
});
