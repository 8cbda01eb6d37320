// The cgroups of an instance, on version 1 (also hybrid) and version 2 machines: one cgroup a controller, named after the cloud and the instance.
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '#host';
import type { Clock } from '#utils';
import { powerOffTimeoutMs, processPollMs } from './limits.ts';
import { killPid } from './processes.ts';

const mountpoint = '/sys/fs/cgroup';

export interface CgroupLayout {
  version: 1 | 2;
  /** Version 1: directories below /sys/fs/cgroup that are controllers. */
  controllers: string[];
  /** Version 1: there is a hierarchy without a controller, for processes' names. */
  systemd: boolean;
}

/** Reads /proc/mounts. Throws when no cgroups are mounted. */
export function cgroupLayout(mounts = readFileSync('/proc/mounts', 'utf8')): CgroupLayout {
  const entries = mounts.split('\n').map((line) => line.split(' '));
  const controllers = entries.flatMap(([, path = '', type, options = '']) =>
    type === 'cgroup' && path.startsWith(`${mountpoint}/`) && !options.includes('name=')
      ? [path.slice(mountpoint.length + 1)]
      : [],
  );
  const systemd = entries.some(([, path, type]) => type === 'cgroup' && path === join(mountpoint, 'systemd'));
  if (controllers.length > 0) return { version: 1, controllers, systemd };
  if (entries.some(([, path, type]) => type === 'cgroup2' && path === mountpoint))
    return { version: 2, controllers: [], systemd: false };
  throw new Error('no cgroups are mounted at /sys/fs/cgroup: containers cannot run here');
}

const roots = ({ version, controllers, systemd }: CgroupLayout): string[] =>
  version === 2 ? [mountpoint] : [...controllers, ...(systemd ? ['systemd'] : [])].map((name) => join(mountpoint, name));

/** Makes an instance's cgroups; gives the shell words that move the calling process into them. */
export async function createCgroups(layout: CgroupLayout, name: string): Promise<string> {
  const made: string[] = [];
  for (const root of roots(layout)) {
    const dir = join(root, name);
    try {
      await mkdir(dir, { recursive: true });
    } catch (error) {
      if (isErrno(error, 'ENOENT') || isErrno(error, 'EROFS') || isErrno(error, 'EACCES')) continue;
      throw error;
    }
    if (root.endsWith('/cpuset'))
      for (const file of ['cpuset.cpus', 'cpuset.mems']) await writeFile(join(dir, file), await readFile(join(root, file)));
    made.push(dir);
  }
  return made.map((dir) => `echo $$ > ${join(dir, 'cgroup.procs')}`).join('; ');
}

async function removeTree(dir: string): Promise<void> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(dir, entry.name));
  await rmdir(dir);
}

/** The processes in an instance's cgroups, its first one among them. */
export async function cgroupProcesses(layout: CgroupLayout, name: string): Promise<number[]> {
  const found = new Set<number>();
  const visit = async (dir: string): Promise<void> => {
    const text = await readFile(join(dir, 'cgroup.procs'), 'utf8').catch(() => '');
    for (const line of text.split('\n')) if (line !== '' && line !== '0') found.add(Number(line));
    for (const entry of await readdir(dir, { withFileTypes: true }).catch(() => []))
      if (entry.isDirectory()) await visit(join(dir, entry.name));
  };
  for (const root of roots(layout)) await visit(join(root, name));
  return [...found];
}

/** Kills what is in the cgroups, and removes them depth first. Rejects when processes do not end. */
export async function clearCgroups(layout: CgroupLayout, name: string, clock: Clock): Promise<void> {
  const deadlineMs = clock.monotonic() + powerOffTimeoutMs;
  for (let pids = await cgroupProcesses(layout, name); pids.length > 0; pids = await cgroupProcesses(layout, name)) {
    for (const pid of pids) killPid(pid, 'SIGKILL');
    if (clock.monotonic() > deadlineMs) throw new Error(`processes of ${name} do not end: ${pids.join(', ')}`);
    await clock.sleep(processPollMs);
  }
  for (const root of roots(layout)) {
    for (;;) {
      try {
        await removeTree(join(root, name));
        break;
      } catch (error) {
        if (isErrno(error, 'ENOENT')) break;
        if (!isErrno(error, 'EBUSY') || clock.monotonic() > deadlineMs) throw error;
        await clock.sleep(processPollMs);
      }
    }
  }
}

/** Names of cgroups that carry the cloud's mark. */
export async function cgroupsOf(layout: CgroupLayout, mark: string): Promise<string[]> {
  const names = new Set<string>();
  for (const root of roots(layout))
    for (const entry of await readdir(root).catch(() => [])) if (entry.startsWith(`sagong-${mark}-`)) names.add(entry);
  return [...names];
}
