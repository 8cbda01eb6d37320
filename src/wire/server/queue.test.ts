import { expect, test } from 'vitest';
import { limits } from '../limits.ts';
import { turnQueue } from './queue.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const count = limits.requestsPerTurn;

test('few requests begin at once, many by turns of the event loop and of their connections', async () => {
  const queue = turnQueue<object>(count);
  const begun: string[] = [];
  const [busy, other] = [{}, {}];
  const add = (connection: object, name: string): void =>
    queue.add(connection, { gone: () => false, begin: () => void begun.push(name) });
  for (let i = 0; i < count * 3; i++) add(busy, `busy ${i}`);
  add(other, 'other 0');
  add(other, 'other 1');
  expect(begun).toHaveLength(count);
  await turn();
  expect(begun.slice(count)).toHaveLength(count);
  expect(begun.slice(count, count + 4)).toEqual([`busy ${count}`, 'other 0', `busy ${count + 1}`, 'other 1']);
  while (begun.length < count * 3 + 2) await turn();
  expect(begun.filter((name) => name.startsWith('busy'))).toEqual(Array.from({ length: count * 3 }, (_, i) => `busy ${i}`));
  add(busy, 'later');
  await turn();
  expect(begun.at(-1)).toBe('later');
});

test('requests whose client has gone are never begun, and take nobody’s turn', async () => {
  const queue = turnQueue<object>(count);
  const begun: number[] = [];
  const connection = {};
  for (let i = 0; i < count * 100; i++)
    queue.add(connection, { gone: () => i >= count && i < count * 100 - 1, begin: () => void begun.push(i) });
  await turn();
  expect(begun).toHaveLength(count + 1);
});

test('bursts of any size, one after the other, all begin', async () => {
  const queue = turnQueue<object>(count);
  for (let size = 1; size <= count * 4; size++) {
    let begun = 0;
    for (let i = 0; i < size; i++) queue.add({ of: i % 3 }, { gone: () => false, begin: () => void begun++ });
    for (let turns = 0; begun < size && turns < 10; turns++) await turn();
    expect(begun, `${size} at once`).toBe(size);
  }
});
