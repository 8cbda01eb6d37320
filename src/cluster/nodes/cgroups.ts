// The cgroups of a node, on version 1 (also hybrid) and version 2 machines: one cgroup a controller, named after the cluster and node.
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '#host';
import type { Clock } from '#utils';
import type { CgroupVersion } from './init-script.ts';

const mountpoint = '/sys/fs/cgroup';

export interface CgroupLayout {
  version: CgroupVersion;
  /** Version 1: directories below /sys/fs/cgroup that are controllers. */
  controllers: string[];
}

/** Reads /proc/mounts. Throws when no cgroups are mounted. */
export function cgroupLayout(mounts = readFileSync('/proc/mounts', 'utf8')): CgroupLayout {
  const entries = mounts.split('\n').map((line) => line.split(' '));
  const controllers = entries.flatMap(([, path = '', type, options = '']) =>
    type === 'cgroup' && path.startsWith(`${mountpoint}/`) && !options.includes('name=')
      ? [path.slice(mountpoint.length + 1)]
      : [],
  );
  if (controllers.length > 0) return { version: 1, controllers };
  if (entries.some(([, path, type]) => type === 'cgroup2' && path === mountpoint)) return { version: 2, controllers: [] };
  throw new Error('no cgroups are mounted at /sys/fs/cgroup: containers cannot run here');
}

const roots = ({ version, controllers }: CgroupLayout): string[] =>
  version === 2 ? [mountpoint] : [...controllers, 'systemd'].map((name) => join(mountpoint, name));

/** Makes the node's cgroups; gives the shell words that move the calling process into them. */
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

/** Processes still in the node's cgroups, the node's own init included. */
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

/** Removes the cgroups depth first; waits (bounded) for processes that are just ending. */
export async function removeCgroups(layout: CgroupLayout, name: string, clock: Clock): Promise<void> {
  for (const root of roots(layout)) {
    for (let attempt = 0; ; attempt++) {
      try {
        await removeTree(join(root, name));
        break;
      } catch (error) {
        if (isErrno(error, 'ENOENT')) break;
        if (!isErrno(error, 'EBUSY') || attempt >= 100) throw error;
        await clock.sleep(20);
      }
    }
  }
}

/** Names of cgroups that carry the cluster's mark. */
export async function cgroupsOf(layout: CgroupLayout, id: string): Promise<string[]> {
  const names = new Set<string>();
  for (const root of roots(layout))
    for (const entry of await readdir(root).catch(() => [])) if (entry.startsWith(`sagong-${id}-`)) names.add(entry);
  return [...names];
}
