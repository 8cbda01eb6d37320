import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '#host';
import { silentLogger } from '#utils';
import { followFile } from './follow.ts';
import { readConfiguration } from './read.ts';

const fields = { names: 'strings' } as const;
const file = { kind: 'Example', versions: ['v1'], fields };
const textOf = (names: readonly string[]): string =>
  ['apiVersion: apiserver.config.k8s.io/v1', 'kind: Example', 'names:', ...names.map((name) => `- ${name}`)].join('\n');

test('a long file is read in turns with everything else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'follow-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'file');
  await writeFile(path, textOf(['a']));
  const names = Array.from({ length: 30_000 }, (_, at) => `n${at}`);
  const turns = vi.spyOn(globalThis, 'setImmediate');
  onTestFinished(() => turns.mockRestore());
  let seen: readonly string[] = [];
  let turnsOfLoad = 0;
  const followed = followFile({
    path,
    loaded: textOf(['a']),
    async load(source) {
      expect(typeof source).toBe('object');
      turnsOfLoad = turns.mock.calls.length;
      seen = readConfiguration(source, file).names ?? [];
    },
    clock: systemClock(),
    logger: silentLogger,
  });
  onTestFinished(() => followed.close());
  await writeFile(`${path}.new`, textOf(names));
  await rename(`${path}.new`, path);
  await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(names.length);
  // Tokens and values are read by the thousand.
  expect(turnsOfLoad).toBeGreaterThan(names.length / 4_096);
});
