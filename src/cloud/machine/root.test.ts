// What runs in an instance may put links on its disk, which the machine's own programs must not follow at the next boot.
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lastWords, startProcess } from './processes.ts';
import { makeRoot, withLog } from './root.ts';
import { type RootPlan, rootPlan } from './root-files.ts';

let base: string;
let disk: string;
let outside: string;
let plan: RootPlan;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'sagong-root-')));
  [disk, outside] = [join(base, 'disk'), join(base, 'outside')];
  for (const folder of [disk, outside]) await mkdir(folder);
  plan = rootPlan({
    disk,
    shows: ['/data/program'],
    mounts: [{ source: '/srv', target: '/var/run/srv' }],
    pausePath: '/data/cloud/pause',
    machine: { entries: new Map([['etc', 'folder']]), mountPoints: [] },
  });
});
afterEach(() => rm(base, { recursive: true, force: true }));

describe.skipIf(process.platform !== 'linux')('the root of an instance', () => {
  it('is made as often as it boots, and may have links that stay inside', async () => {
    await makeRoot(plan, disk);
    await makeRoot(plan, disk);
    expect((await lstat(join(disk, 'root/tmp'))).mode & 0o7777).toBe(0o1777);
    expect((await readdir(disk)).sort()).toEqual(['changes', 'logs', 'root']);
  });

  it.each(['logs', 'root', 'root/var', 'root/dev', 'changes', 'changes/etc/upper', 'root/data', 'root/data/cloud', 'root/run'])(
    'is not made where a link of the instance leads out of its disk: %s',
    async (path) => {
      await makeRoot(plan, disk);
      await rm(join(disk, path), { recursive: true, force: true });
      await mkdir(join(disk, path, '..'), { recursive: true });
      await symlink(outside, join(disk, path));
      await expect(makeRoot(plan, disk)).rejects.toThrow(/which could lead out of the disk; remove it/);
      expect(await readdir(outside)).toEqual([]);
    },
  );

  it('has logs of its own, whatever links stand in their places', async () => {
    await makeRoot(plan, disk);
    const victim = join(outside, 'victim');
    await writeFile(victim, 'kept');
    await symlink(victim, join(disk, 'logs/program.log'));
    const program = await withLog(disk, 'program.log', (logFile) => startProcess('echo', ['said'], { logFile }));
    await program.ended;
    expect([await readFile(victim, 'utf8'), await readFile(join(disk, 'logs/program.log'), 'utf8')]).toEqual(['kept', 'said\n']);
    await rm(join(disk, 'logs'), { recursive: true });
    await symlink(outside, join(disk, 'logs'));
    await expect(withLog(disk, 'program.log', (path) => Promise.resolve(path))).rejects.toThrow('the path has a link in it');
  });

  it.each([
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a folder', (path: string) => mkdirSync(join(path, 'with', 'more'), { recursive: true })],
    ['an endless device', (path: string) => symlinkSync('/dev/zero', path)],
  ])('waits for nobody at %s in the place of a log', async (_, plant) => {
    await makeRoot(plan, disk);
    const log = join(disk, 'logs/program.log');
    plant(log);
    expect(await withLog(disk, 'program.log', lastWords)).toBe('');
    const program = await withLog(disk, 'program.log', (logFile) => startProcess('echo', ['said'], { logFile }));
    await program.ended;
    expect(await withLog(disk, 'program.log', lastWords)).toBe('said');
  });

  it('gives no more than the end of a log', async () => {
    await makeRoot(plan, disk);
    await writeFile(join(disk, 'logs/init.log'), `${'x'.repeat(1e6)}the end\n`);
    expect(await withLog(disk, 'init.log', lastWords)).toMatch(/^x{4088,4089}the end$/);
  });
});
