import { expect, it } from 'vitest';
import { inTurn } from './in-turn.ts';

it('does all at once where nothing waits', () => {
  const seen: number[] = [];
  expect(inTurn([1, 2, 3], (one) => void seen.push(one))).toBeUndefined();
  expect(seen).toEqual([1, 2, 3]);
});

it('begins with the next only when the one before is done', async () => {
  const seen: string[] = [];
  const waiting = inTurn([1, 2, 3], (one) => {
    seen.push(`begins ${one}`);
    return one === 2 ? Promise.resolve().then(() => void seen.push('waited')) : undefined;
  });
  expect(seen).toEqual(['begins 1', 'begins 2']);
  await waiting;
  expect(seen).toEqual(['begins 1', 'begins 2', 'waited', 'begins 3']);
});

it('leaves the rest alone when one fails', async () => {
  const seen: number[] = [];
  const fail = (at: number) => (one: number) => {
    seen.push(one);
    if (one === 1) return Promise.resolve();
    if (one === at) throw new Error('no');
    return undefined;
  };
  await expect(inTurn([1, 2, 3], fail(2))).rejects.toThrow('no');
  expect(seen).toEqual([1, 2]);
});
