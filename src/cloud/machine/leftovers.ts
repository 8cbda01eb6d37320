// Takes everything off the machine that carries a cloud's mark, also what a crashed process left: processes, mounts, namespaces, links, rules, cgroups.
import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { systemClock } from '#host';
import type { Clock, Exec } from '#utils';
import { cgroupLayout, cgroupsOf, clearCgroups } from './cgroups.ts';
import { must } from './commands.ts';
import { commandTimeoutMs, powerOffTimeoutMs, processPollMs } from './limits.ts';
import { networkNamespaces } from './network.ts';
import { killPid } from './processes.ts';
import { removeUplink } from './uplink.ts';

export interface RemoveOptions {
  exec: Exec;
  clock?: Clock;
  /** Mounts below it are taken away, too. */
  dir?: string;
}

/** Processes in the network namespaces of these names. */
async function processesIn(names: readonly string[]): Promise<number[]> {
  if (names.length === 0) return [];
  const inodes = new Set(
    (await Promise.all(names.map((name) => stat(`/run/netns/${name}`).catch(() => undefined)))).map(
      (info) => `net:[${info?.ino}]`,
    ),
  );
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map(async (pid) => inodes.has(await readlink(`/proc/${pid}/ns/net`).catch(() => ''))));
  return pids.filter((pid, i) => found[i] && pid !== process.pid);
}

async function killAllIn(names: readonly string[], clock: Clock): Promise<void> {
  const deadlineMs = clock.monotonic() + powerOffTimeoutMs;
  for (let pids = await processesIn(names); pids.length > 0; pids = await processesIn(names)) {
    for (const pid of pids) killPid(pid, 'SIGKILL');
    if (clock.monotonic() > deadlineMs) throw new Error(`these processes do not end: ${pids.join(', ')}`);
    await clock.sleep(processPollMs);
  }
}

/** Takes away what is mounted below a folder, the last first. */
export async function unmountBelow(dir: string, exec: Exec): Promise<void> {
  const points = (await readFile('/proc/self/mounts', 'utf8'))
    .split('\n')
    .map((line) => (line.split(' ')[1] ?? '').replaceAll('\\040', ' '))
    .filter((point) => point.startsWith(`${dir}/`));
  for (const point of points.reverse()) await exec('umount', ['-l', point], { timeoutMs: commandTimeoutMs });
}

/** Whether something of a cloud's mark runs on the machine, or was left by what has crashed. */
export const hasLeftovers = async (mark: string): Promise<boolean> =>
  (await networkNamespaces(mark)).length > 0 || (await cgroupsOf(cgroupLayout(), mark)).length > 0;

/** Leaves files alone. Safe to repeat, and when nothing is there. Rejects when something cannot be removed; what could is gone. */
export async function removeMachine(mark: string, { exec, clock = systemClock(), dir }: RemoveOptions): Promise<void> {
  const layout = cgroupLayout();
  for (const name of await cgroupsOf(layout, mark)) await clearCgroups(layout, name, clock);
  const names = await networkNamespaces(mark);
  await killAllIn(names, clock);
  if (dir !== undefined) await unmountBelow(dir, exec);
  try {
    await removeUplink(exec, mark);
  } finally {
    if (names.length > 0) await must(exec, 'ip', ['-batch', '-'], names.map((name) => `netns del ${name}\n`).join(''));
  }
}
