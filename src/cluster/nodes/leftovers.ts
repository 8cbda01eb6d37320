// What a crashed cluster leaves on the machine, found by its data directory and its mark, and removed.
import { readdir, readFile } from 'node:fs/promises';
import type { Clock, Exec } from '#utils';
import { cgroupLayout, cgroupsOf, removeCgroups } from './cgroups.ts';
import { nodeStopTimeoutMs } from './limits.ts';
import { removeNetwork } from './network.ts';
import { killPid } from './processes.ts';

/** Processes that carry `dataDir` as an argument (or below it), this process and its ancestors left out. */
export async function processesOf(dataDir: string): Promise<number[]> {
  const spared = await ancestors(process.pid);
  const found: number[] = [];
  for (const entry of await readdir('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || spared.has(pid)) continue;
    const words = (await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '')).split('\0');
    if (words.some((word) => mentions(word, dataDir))) found.push(pid);
  }
  return found;
}

const mentions = (word: string, dataDir: string): boolean => {
  const at = word.indexOf(dataDir);
  if (at < 0) return false;
  const after = word[at + dataDir.length];
  return (at === 0 || !/[\w./-]/.test(word[at - 1] ?? '')) && (after === undefined || !/[\w.-]/.test(after));
};

async function ancestors(pid: number): Promise<Set<number>> {
  const found = new Set<number>();
  for (let at = pid; at > 0; ) {
    found.add(at);
    const status = await readFile(`/proc/${at}/status`, 'utf8').catch(() => '');
    at = Number(/^PPid:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  }
  return found;
}

/** Kills the processes, then removes mounts, namespaces and cgroups. Keeps the data. Safe to call when nothing is there. */
export async function removeLeftovers(dataDir: string, id: string, { exec, clock }: { exec: Exec; clock: Clock }): Promise<void> {
  const deadline = clock.monotonic() + nodeStopTimeoutMs;
  for (let pids = await processesOf(dataDir); pids.length > 0; pids = await processesOf(dataDir)) {
    for (const pid of pids) killPid(pid, 'SIGKILL');
    if (clock.monotonic() > deadline) throw new Error(`these processes of ${dataDir} do not end: ${pids.join(', ')}`);
    await clock.sleep(20);
  }
  await unmountBelow(dataDir, exec);
  await removeNetwork(exec, id);
  const layout = cgroupLayout();
  for (const name of await cgroupsOf(layout, id)) await removeCgroups(layout, name, clock);
}

async function unmountBelow(dir: string, exec: Exec): Promise<void> {
  const points = (await readFile('/proc/self/mounts', 'utf8'))
    .split('\n')
    .map((line) => (line.split(' ')[1] ?? '').replaceAll('\\040', ' '))
    .filter((point) => point.startsWith(`${dir}/`));
  for (const point of points.reverse()) await exec('umount', ['-l', point], { timeoutMs: 10_000 });
}
