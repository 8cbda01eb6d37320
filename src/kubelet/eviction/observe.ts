// What the node has left of memory, disk and process ids.
import { readFile, statfs } from 'node:fs/promises';
import type { Observations } from './thresholds.ts';

async function number(path: string): Promise<number | undefined> {
  try {
    return Number((await readFile(path, 'utf8')).trim());
  } catch {
    return undefined;
  }
}

async function memory(): Promise<{ available: number; capacity: number } | undefined> {
  const text = await readFile('/proc/meminfo', 'utf8').catch(() => '');
  const read = (name: string): number | undefined => {
    const match = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text);
    return match ? Number(match[1]) * 1024 : undefined;
  };
  const [available, capacity] = [read('MemAvailable'), read('MemTotal')];
  return available === undefined || capacity === undefined ? undefined : { available, capacity };
}

/** Measures what eviction looks at. Signals that cannot be read are absent. */
export async function observe(rootDir: string): Promise<Observations> {
  const disk = await statfs(rootDir).catch(() => undefined);
  const pidMax = await number('/proc/sys/kernel/pid_max');
  const loads = await readFile('/proc/loadavg', 'utf8').catch(() => '');
  const tasks = Number(/\/(\d+)/.exec(loads)?.[1] ?? Number.NaN);
  const space = disk && { available: disk.bavail * disk.bsize, capacity: disk.blocks * disk.bsize };
  // File systems without a fixed number of inodes report zero inodes.
  const inodes = disk && disk.files > 0 ? { available: disk.ffree, capacity: disk.files } : undefined;
  return {
    'memory.available': await memory(),
    'nodefs.available': space,
    'nodefs.inodesFree': inodes,
    'imagefs.available': space,
    'imagefs.inodesFree': inodes,
    'pid.available': pidMax === undefined || Number.isNaN(tasks) ? undefined : { available: pidMax - tasks, capacity: pidMax },
  };
}
