import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listClusters, listedText } from './list.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sagong-list-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('lists clusters, and nothing else that lies beside them', async () => {
  expect(await listClusters(join(folder, 'nothing'))).toEqual([]);
  await mkdir(join(folder, 'notes'));
  for (const name of ['b', 'a']) await mkdir(join(folder, name));
  await writeFile(
    join(folder, 'a', 'cluster.json'),
    JSON.stringify({ name: 'a', nodes: ['n1', 'n2'], runtime: 'simulated', port: 0 }),
  );
  await writeFile(join(folder, 'b', 'cluster.json'), '{ broken');
  // A process id that was somebody's and is nobody's of this cluster.
  await writeFile(join(folder, 'a', 'run.json'), JSON.stringify({ pid: 1, startedAtMs: 0, ready: true }));
  const found = await listClusters(folder);
  expect(found.map(({ name, status, nodes }) => [name, status, nodes])).toEqual([
    ['a', 'stopped', 2],
    ['b', 'stopped', undefined],
  ]);
  expect(listedText(found).split('\n')[1]).toMatch(/^a +stopped +2 +simulated/);
});
