import { expect, it } from 'vitest';
import { canonical, encodeStored } from '../../storage/encoding.ts';
import { storedBytes, StoredObject } from '../../storage/stored-object.ts';
import { chosen } from './choosing.ts';

const entries = Array.from(
  { length: 300 },
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
  expect(rests).toBe(3);
});

it('looks at fewer objects at a time where they have to be parsed first', async () => {
  const stored = encodeStored(canonical({ metadata: { name: 'a', uid: '01234567-89ab-4cde-8f01-23456789abcd' } }));
  const unread = entries.map((at) => new StoredObject(at, undefined, storedBytes(stored)));
  let rests = 0;
  const rest = (): undefined => void rests++;
  await chosen(unread, () => true, rest);
  expect(rests).toBe(Math.ceil(300 / 16));
});

it('stops when there are enough, and says where it stopped', async () => {
  const { found, next } = await chosen(entries, even, () => undefined, 3);
  expect(found.map(({ revision }) => revision)).toEqual([0, 2, 4]);
  expect(next?.revision).toBe(5);
});
