import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FactStore } from './facts.ts';

let dir: string;
beforeEach(async () => void (dir = await mkdtemp(join(tmpdir(), 'sagong-facts-'))));
afterEach(() => rm(dir, { recursive: true, force: true }));

describe('the facts of the emulated AWS', () => {
  it('are kept when a change succeeds, and stay as they were when it fails', async () => {
    const store = await FactStore.open(dir);
    const group = { name: 'one' } as (typeof store.now.targetGroups)[string];
    await store.change(async (facts) => void (facts.targetGroups['arn:one'] = group));
    const failed = store.change(async (facts) => {
      facts.targetGroups = {};
      throw new Error('the local cloud refused');
    });
    await expect(failed).rejects.toThrow('refused');
    expect((await FactStore.open(dir)).now).toEqual(store.now);
    expect(Object.keys(store.now.targetGroups)).toEqual(['arn:one']);
  });
  it.each([
    ['', 'is not JSON'],
    ['{"version":', 'is not JSON'],
    ['null', 'is of another version'],
    ['{"version":2}', 'is of another version'],
  ])('are not taken from a file with %j, which stays as it is', async (text, words) => {
    const path = join(dir, 'facts.json');
    await writeFile(path, text);
    await expect(FactStore.open(dir)).rejects.toThrow(`${path} ${words}`);
    expect(await readFile(path, 'utf8')).toBe(text);
  });
});
