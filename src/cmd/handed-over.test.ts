import { existsSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { handOver, takeOver, without } from './handed-over.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'handed-over-'));
});
afterEach(() => rm(dir, { recursive: true }));
const file = (): string => join(dir, 'handed-over.json');

it('is for its owner alone, and gone when it was read', async () => {
  await handOver(dir, { token: 'a' });
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(await takeOver(dir)).toEqual({ token: 'a' });
  expect([existsSync(file()), await takeOver(dir)]).toEqual([false, {}]);
});

it('is taken back where nobody read it', async () => {
  const takeBack = await handOver(dir, { token: 'a' });
  await takeBack();
  expect(await takeOver(dir)).toEqual({});
});

it('no word of the flags stays', () => {
  const words = ['join', 'a:1', '--token', 's', '--node-name=b', '--certificate-key=k', '--token=t', '--detach', '--token'];
  expect(without(words, ['--token', '--certificate-key'])).toEqual(['join', 'a:1', '--node-name=b', '--detach']);
});
