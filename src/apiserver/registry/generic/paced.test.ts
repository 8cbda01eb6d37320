import { finish, type Steps } from '#utils';
import { expect, it } from 'vitest';
import { paced } from './paced.ts';

function* counting(to: number, seen: number[]): Steps<string> {
  for (let at = 0; at < to; at++) {
    seen.push(at);
    yield;
  }
  return 'done';
}

it('runs through at once, or waits between any two steps', async () => {
  expect(finish(counting(3, []))).toBe('done');
  const seen: number[] = [];
  const rests: number[] = [];
  const rest = async (): Promise<void> => {
    await Promise.resolve();
    rests.push(seen.length);
  };
  await expect(paced(counting(3, seen), rest)).resolves.toBe('done');
  expect(rests).toEqual([1, 2, 3]);
});

it('hands on what the work throws', async () => {
  // oxlint-disable-next-line require-yield -- it throws before it could pause
  function* failing(): Steps<void> {
    throw new Error('no');
  }
  await expect(paced(failing(), () => undefined)).rejects.toThrow('no');
});
