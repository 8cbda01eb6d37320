import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { clusterPaths } from './paths.ts';
import { claimRunState, readRunState, runningProcess, runStatePath } from './run-state.ts';

let folder = '';
let dataDir = '';
const children: ChildProcess[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sagong-run-state-'));
  dataDir = join(folder, 'cluster');
  await mkdir(join(dataDir, 'logs'), { recursive: true });
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

/** Processes that name the data directory, as those of a cluster do: only once they say that they run, the kernel shows it. */
const started = (count: number): Promise<number[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const program = 'console.log(1); setInterval(() => {}, 1000)';
      const child = spawn(process.execPath, ['-e', program, dataDir], { stdio: ['ignore', 'pipe', 'ignore'] });
      children.push(child);
      await once(child.stdout, 'data');
      return child.pid ?? 0;
    }),
  );

it('is of one of those who start at the same moment, also where a process that is gone was the last', async () => {
  const pids = await started(6);
  for (const before of ['', JSON.stringify({ pid: 2 ** 22 + 1, startedAtMs: 0, ready: true }), '{ broken']) {
    await rm(runStatePath(dataDir), { force: true });
    // One that was killed between the lines.
    await symlink(String(2 ** 22 + 1), join(dataDir, 'logs', 'starting'));
    if (before !== '') await writeFile(runStatePath(dataDir), before);
    const ends = await Promise.allSettled(pids.map((pid) => claimRunState(dataDir, { pid, startedAtMs: 1, ready: false })));
    const won = pids.filter((_, index) => ends[index]?.status === 'fulfilled');
    expect(won).toHaveLength(1);
    expect((await readRunState(dataDir))?.pid).toBe(won[0]);
    for (const end of ends)
      if (end.status === 'rejected') expect(String(end.reason)).toContain(`already running (process ${won[0]})`);
    expect(await readdir(join(dataDir, 'logs'))).toEqual([]);
  }
});

it.runIf(process.platform === 'linux')(
  'a process whose file is damaged, or whose directory was removed, is known by its socket',
  async () => {
    const dir = join(folder, 'removed');
    await mkdir(dir);
    const source = `require('node:net').createServer().listen(process.argv[1], () => console.log('listens'));`;
    const child = spawn(process.execPath, ['-e', source, clusterPaths(dir).controlSocket], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    await once(child.stdout, 'data');
    expect((await runningProcess(dir))?.pid).toBe(child.pid);
    for (const text of ['', '{', 'null', '{"pid":"1"}', JSON.stringify({ pid: 2 ** 22 + 1, startedAtMs: 1, ready: true })]) {
      await writeFile(runStatePath(dir), text);
      expect((await runningProcess(dir))?.pid).toBe(child.pid);
    }
    await rm(dir, { recursive: true });
    expect((await runningProcess(dir))?.pid).toBe(child.pid);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await runningProcess(dir)).toBeUndefined();
  },
);
