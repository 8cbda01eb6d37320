import { expect, it } from 'vitest';
import { atMost } from './at-most.ts';

it('lets in as many as there is room for, in order, whether they succeed or not', async () => {
  const few = atMost(2);
  const ends: (() => void)[] = [];
  const begun: number[] = [];
  const work = (n: number) =>
    few(() => {
      begun.push(n);
      return new Promise<number>((resolve, reject) => ends.push(() => (n === 0 ? reject(new Error('no')) : resolve(n))));
    }).catch(() => -1);
  const all = [0, 1, 2, 3].map(work);
  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  ends[0]?.();
  expect(await all[0]).toBe(-1);
  expect(begun).toEqual([0, 1, 2]);
  ends[1]?.();
  ends[2]?.();
  await Promise.all([all[1], all[2]]);
  ends[3]?.();
  expect(await Promise.all(all)).toEqual([-1, 1, 2, 3]);
});

it('refuses work when too much of it waits, without beginning it', async () => {
  const one = atMost(1, 1);
  let end = (): void => {};
  const first = one(() => new Promise<void>((resolve) => (end = resolve)));
  let begun = 0;
  const second = one(() => Promise.resolve(++begun));
  await expect(one(() => Promise.resolve(++begun))).rejects.toThrow('more than 1 wait for their turn');
  expect(begun).toBe(0);
  end();
  await first;
  expect(await second).toBe(1);
  expect(await one(() => Promise.resolve('free'))).toBe('free');
});
