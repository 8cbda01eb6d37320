import { expect, it } from 'vitest';
import type { Refusal } from '#apiserver';
import { together } from './plane.ts';

const target = { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'default', name: '' };
const refusal = (user: string, atMs: number, times = 1): Refusal => ({
  ...{ user, groups: [], verb: 'list', target, path: '', code: 403, message: `at ${atMs}`, unauthorized: true },
  ...{ times, atMs },
});

it('tells what several apiservers have refused once, the newest first', () => {
  const all = [refusal('jane', 1, 2), refusal('bot', 3), refusal('jane', 5, 4), refusal('jane', 2)];
  expect(together(all).map(({ user, times, message }) => [user, times, message])).toEqual([
    ['jane', 7, 'at 5'],
    ['bot', 1, 'at 3'],
  ]);
});
