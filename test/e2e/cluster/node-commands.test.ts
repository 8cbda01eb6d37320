// `sagong node add` and `terminate`, killed in their middle and many at once: what the cluster keeps of its nodes and its machines agree afterwards.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { binary, eventually, TestCluster } from './harness.ts';

let cluster: TestCluster;
const file = (): string => join(cluster.dataDir, 'cluster.json');
const settings = async () => JSON.parse(await readFile(file(), 'utf8')) as { nodes: string[] };
const machines = async (): Promise<string[]> =>
  [...(await cluster.run(['node', 'list'], [])).stdout.matchAll(/^(\S+) +i-\S+ .* running /gm)].map(([, name = '']) => name);
const readyNodes = async (): Promise<number> =>
  (await cluster.kubectl('get', 'nodes', '--no-headers')).match(/ Ready /g)?.length ?? 0;

beforeAll(async () => {
  cluster = await TestCluster.create();
  await cluster.up('--nodes', '1', '--runtime', 'simulated');
});
afterAll(async () => {
  await cluster?.destroy();
});

describe('commands about nodes', () => {
  it('name the machines that there are', async () => {
    expect((await cluster.run(['node', 'stop'], ['nobody'])).stderr).toContain(
      `there is no node nobody; there are: ${await machines()}`,
    );
  });
  it('that add one and are killed have the next start finish it', async () => {
    const words = [binary, 'node', 'add', '--data-dir', cluster.dataDir];
    const child = spawn(process.execPath, words, { stdio: 'ignore', env: { ...process.env, HOME: cluster.home } });
    const ended = once(child, 'exit');
    while ((await settings()).nodes.length < 2 && child.exitCode === null) await nextTurn();
    child.kill('SIGKILL');
    await ended;
    await cluster.sagong('stop');
    await cluster.up();
    expect(await machines()).toEqual((await settings()).nodes);
    await eventually('both are Ready', async () => (await readyNodes()) === 2);
  });
  it('that terminate one and were killed can be said again', async () => {
    const { nodes } = await settings();
    const last = nodes.at(-1) ?? '';
    expect((await cluster.run(['node', 'terminate'], [last])).code).toBe(0);
    // As one leaves it that came no further than the instance.
    await writeFile(file(), JSON.stringify({ ...(await settings()), nodes }));
    expect((await cluster.run(['node', 'terminate'], [last])).code).toBe(0);
    expect((await settings()).nodes).toEqual(nodes.slice(0, -1));
    expect((await cluster.run(['node', 'terminate'], [last])).stderr).toContain(`there is no node ${last}`);
  });
  it('at the same time leave what is kept and what runs the same', async () => {
    const before = (await settings()).nodes.length;
    const added = await Promise.all([1, 2, 3].map(() => cluster.run(['node', 'add'], [])));
    const { nodes } = await settings();
    expect((await machines()).sort()).toEqual([...nodes].sort());
    expect(added.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(nodes.length).toBe(before + 3);
  });
});
