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

it('answers at once where nothing is to be waited for', () => {
  expect(paced(counting(3, []), () => undefined)).toBe('done');
});

it('hands on what the work throws, before and after a pause', async () => {
  function* failing(pauses: number): Steps<void> {
    for (let at = 0; at < pauses; at++) yield;
    throw new Error('no');
  }
  expect(() => paced(failing(1), () => undefined)).toThrow('no');
  await expect(paced(failing(2), () => Promise.resolve())).rejects.toThrow('no');
});
