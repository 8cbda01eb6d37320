import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { existsSync } from 'node:fs';
import { systemClock } from '#host';
import { down } from '../down.ts';
import { containerdPaths } from '../nodes/index.ts';
import { assertFree, assertSocketPaths, clusterFlags, dataDirOf, isClusterDir, nodeDir } from './paths.ts';
import { clusterStatus } from '../status/summary.ts';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sagong-paths-'));
});
afterAll(() => rm(dir, { recursive: true }));
const folder = async (name: string, files: Record<string, string>): Promise<string> => {
  const path = join(dir, name);
  for (const [file, text] of Object.entries(files)) {
    await mkdir(join(path, file, '..'), { recursive: true });
    await writeFile(join(path, file), text);
  }
  return path;
};
const removal = { clock: systemClock(), env: { KUBECONFIG: join(tmpdir(), 'sagong-no-such-kubeconfig') } };

describe('removing a cluster', () => {
  it('leaves a directory alone that holds none', async () => {
    const path = await folder('project', { 'store/mine.txt': '', 'README.md': '' });
    expect(isClusterDir(path)).toBe(false);
    expect(await down(path, removal)).toBe(false);
    expect(existsSync(join(path, 'store/mine.txt'))).toBe(true);
    expect(() => assertFree(path)).toThrow(`${path}/store belongs to no cluster; choose another directory with --data-dir`);
  });
  it('does not take what cannot be looked at for nothing', async () => {
    const loop = join(dir, 'loop');
    await symlink(loop, loop);
    await expect(down(loop, removal)).rejects.toThrow('ELOOP');
  });
  it('never has the root of the machine as its directory', () => {
    expect(() => assertFree('/')).toThrow('/ cannot be a data directory');
  });
  it('begins again where a start was refused before it began', async () => {
    const path = await folder('refused', {});
    await mkdir(join(path, 'logs'), { recursive: true });
    expect(() => assertFree(path)).not.toThrow();
  });
  it('takes only what is of the cluster', async () => {
    const path = await folder('shared', { 'logs/sagong.log': '', 'pki/ca.crt': '', 'notes.txt': '' });
    expect(() => assertFree(path)).not.toThrow();
    expect(await down(path, removal)).toBe(true);
    expect(existsSync(join(path, 'pki'))).toBe(false);
    expect(existsSync(join(path, 'notes.txt'))).toBe(true);
    expect(await down(path, removal)).toBe(false);
  });
  it('is done, also where the kubeconfig cannot be changed, and says so', async () => {
    const path = await folder('broken', { 'cluster.json': JSON.stringify({ name: 'a', nodes: [] }), 'my-kubeconfig': 'a: [' });
    const env = { KUBECONFIG: join(path, 'my-kubeconfig') };
    await expect(down(path, { ...removal, env })).rejects.toThrow(`the kubeconfig ${path}/my-kubeconfig cannot be changed: `);
    expect(existsSync(join(path, 'cluster.json'))).toBe(false);
  });
  it('takes the directory, too, when nothing else is in it', async () => {
    const path = await folder('own', { 'logs/up.log': '' });
    expect(await down(path, removal)).toBe(true);
    expect(existsSync(path)).toBe(false);
  });
});

describe('status', () => {
  it('tells a crash from a stop, and how to go on', async () => {
    const path = await folder('crashed', { 'cluster.json': JSON.stringify({ name: 'a', nodes: [] }) });
    const stopped = `The cluster "a" in ${path} is stopped; start it with: sagong up --data-dir ${path}`;
    expect(await clusterStatus(path, systemClock())).toEqual({ text: stopped, running: false });
    // No process has this number.
    await writeFile(join(path, 'run.json'), JSON.stringify({ pid: 2 ** 30, startedAtMs: 0, ready: true }));
    const { text } = await clusterStatus(path, systemClock());
    expect(text).toContain(`has crashed: process ${2 ** 30} is gone; start it again with: sagong up --data-dir ${path}`);
  });
});

it('names a cluster in commands as shortly as it can be', () => {
  const home = join(homedir(), '.sagong');
  expect(clusterFlags('sagong', join(home, 'sagong'))).toBe('');
  expect(clusterFlags('a', join(home, 'a'))).toBe(' --name a');
  expect(clusterFlags('a', '/elsewhere')).toBe(' --data-dir /elsewhere');
});

it('takes a data directory as long as the sockets of its nodes, and says by how much another is too long', () => {
  const check = (length: number): void => {
    const dataDir = `/${'d'.repeat(length - 1)}`;
    assertSocketPaths(dataDir, [containerdPaths(nodeDir(dataDir, 'node-1')).ttrpcSocket]);
  };
  const rest = '/nodes/node-1/containerd/containerd.sock.ttrpc'.length;
  expect(() => check(104 - rest)).not.toThrow();
  expect(() => check(106 - rest)).toThrow(
    'is 2 bytes too long for the sockets in it; choose a shorter directory with --data-dir',
  );
});

it('knows a cluster by one path, whatever links lead to it', async () => {
  const target = join(dir, 'target');
  await mkdir(target);
  await symlink(target, join(dir, 'link'));
  await symlink(join(dir, 'link'), join(dir, 'further'));
  for (const way of ['link', 'further', 'link/../target', 'link/']) expect(dataDirOf('x', join(dir, way))).toBe(target);
  expect(dataDirOf('x', join(dir, 'further', 'not', 'yet'))).toBe(join(target, 'not', 'yet'));
  await symlink(join(dir, 'round'), join(dir, 'round'));
  expect(dataDirOf('x', join(dir, 'round'))).toBe(join(dir, 'round'));
});
