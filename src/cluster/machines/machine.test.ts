import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadMachine, machinePaths } from './machine.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'machine-'));
});
afterEach(() => rm(dir, { recursive: true }));

it('finds no machine in a folder without one', async () => {
  expect(await loadMachine(dir)).toBeUndefined();
});

it.each(['', '{', 'null', '[]', '7', '{"nodeName":"a","nodeIp":"10.0.0.1","server":"https://a:1"}'])(
  'names the file where it holds %j',
  async (text) => {
    const path = machinePaths(dir).settings;
    await writeFile(path, text);
    await expect(loadMachine(dir)).rejects.toThrow(`${path} is not readable (`);
  },
);
