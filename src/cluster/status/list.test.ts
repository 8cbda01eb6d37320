import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { forgetDir, rememberDir } from '../state/elsewhere.ts';
import { loadSettings } from '../state/settings.ts';
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

it.each(['null', '[]', '"a"', '7', '{}', '{"name":"a","nodes":null}', '{"name":"a","nodes":["n1",2]}', '{"name":{},"nodes":[]}'])(
  'lists a cluster whose settings are %s',
  async (settings) => {
    const home = await mkdtemp(join(folder, 'odd-'));
    await mkdir(join(home, 'odd'));
    await writeFile(join(home, 'odd', 'cluster.json'), settings);
    for (const state of ['null', '[]', '{"pid":"1"}', '{"pid":-1}', '{"pid":null}', '{']) {
      await writeFile(join(home, 'odd', 'run.json'), state);
      expect((await listClusters(home)).map(({ name, status, nodes }) => [name, status, nodes])).toEqual([
        ['odd', 'stopped', undefined],
      ]);
    }
    await expect(loadSettings(join(home, 'odd'))).rejects.toThrow(/cluster\.json is not readable; restore it or remove/);
  },
);

it('lists clusters that have a directory of their own, until they go', async () => {
  const home = join(folder, 'home', '.sagong');
  const [one = '', two = ''] = ['one', 'two'].map((name) => join(folder, 'elsewhere', name));
  for (const dataDir of [one, two]) {
    await mkdir(dataDir, { recursive: true });
    await writeFile(join(dataDir, 'cluster.json'), JSON.stringify({ name: 'app', nodes: [], runtime: 'simulated', port: 0 }));
    for (const again of [dataDir, dataDir]) await rememberDir(again, home);
  }
  await rememberDir(join(home, 'usual'), home);
  await symlink(one, join(home, '.elsewhere', 'somebodys'));
  const dirs = async (): Promise<string[]> => (await listClusters(home)).map(({ dataDir }) => dataDir).sort();
  expect(await dirs()).toEqual([one, two]);
  await rm(one, { recursive: true });
  expect(await dirs()).toEqual([two]);
  await rm(join(home, '.elsewhere', 'somebodys'));
  await rememberDir(two, home);
  expect(await readdir(join(home, '.elsewhere'))).toHaveLength(1);
  await forgetDir(two, home);
  expect(await dirs()).toEqual([]);
  expect(await readdir(home)).toEqual([]);
  await forgetDir(two, home);
});
