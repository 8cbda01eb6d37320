import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ControlPlaneConfig } from './config.ts';
import { finishRestore } from './etcd-snapshot.ts';

let dir = '';
let planes: ControlPlaneConfig[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sagong-restore-'));
  planes = ['a', 'b', 'c'].map((name): ControlPlaneConfig => {
    const directory = join(dir, name);
    return {
      ...{ name, directory, address: '', program: [], cluster: '', members: [], etcdToken: '', podCidr: '', cloud: false },
      args: {},
    };
  });
  for (const { name, directory } of planes) await data(join(directory, 'etcd'), `old ${name}`);
});
afterEach(() => rm(dir, { recursive: true }));

async function data(path: string, text: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await writeFile(join(path, 'db'), text);
}
const held = async (): Promise<string[]> => {
  const found: string[] = [];
  for (const { name, directory } of planes)
    for (const entry of (await readdir(directory)).filter((one) => one.startsWith('etcd')).sort()) {
      const text = await readFile(join(directory, entry, 'db'), 'utf8').catch(() => 'a note');
      found.push(`${name}/${entry}: ${text}`);
    }
  return found;
};
const restored = [
  'a/etcd: new',
  'a/etcd-before-1: old a',
  'a/etcd-joined: a note',
  'b/etcd-before-1: old b',
  'b/etcd-joined: a note',
  'c/etcd-before-1: old c',
  'c/etcd-joined: a note',
];

it('finishes nothing where no restore was cut off', async () => {
  await data(join(dir, 'a', 'etcd-restored'), 'half');
  expect(await finishRestore(planes)).toBeUndefined();
  expect(await held()).toContain('a/etcd: old a');
});
it.each([0, 1, 2, 3])('finishes a restore that was cut off after %i folders, and only once', async (steps) => {
  await data(join(dir, 'a', 'etcd-restored'), 'new');
  await writeFile(join(dir, 'a', 'restoring'), '');
  for (const name of ['b', 'c', 'a'].slice(0, steps)) {
    const etcd = join(dir, name, 'etcd');
    await data(`${etcd}-before-1`, `old ${name}`);
    await writeFile(`${etcd}-joined`, '');
    await rm(etcd, { recursive: true });
  }
  await finishRestore(planes);
  expect(await held()).toEqual(restored);
  expect(await finishRestore(planes)).toBeUndefined();
  expect(await held()).toEqual(restored);
});
it('takes nobody’s data a second time, where only the note was left', async () => {
  await data(join(dir, 'a', 'etcd-restored'), 'new');
  await writeFile(join(dir, 'a', 'restoring'), '');
  await finishRestore(planes);
  await writeFile(join(dir, 'a', 'restoring'), '');
  await finishRestore(planes);
  expect(await held()).toEqual(restored);
});
