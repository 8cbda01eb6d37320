// What a crashed cluster leaves on the machine, found by its mark on cgroups and network namespaces, and removed.
import { readFile } from 'node:fs/promises';
import type { Clock, Exec } from '#utils';
import { cgroupLayout, cgroupProcesses, cgroupsOf, removeCgroups } from './cgroups.ts';
import { nodeStopTimeoutMs } from './limits.ts';
import { networkNamespacesOf, removeNetwork } from './network.ts';
import { killPid } from './processes.ts';

/** Processes in the cgroups or network namespaces that carry the cluster's mark. */
async function processesOf(id: string, exec: Exec): Promise<Set<number>> {
  const layout = cgroupLayout();
  const inCgroups = await Promise.all((await cgroupsOf(layout, id)).map((name) => cgroupProcesses(layout, name)));
  const inNamespaces = await Promise.all(
    (await networkNamespacesOf(exec, id)).map(async (name) => {
      const { stdout } = await exec('ip', ['netns', 'pids', name], { timeoutMs: 10_000 });
      return stdout
        .split('\n')
        .filter((line) => line !== '')
        .map(Number);
    }),
  );
  const found = new Set([...inCgroups, ...inNamespaces].flat());
  found.delete(process.pid);
  return found;
}

/** Kills the processes, then removes mounts, namespaces and cgroups. Keeps the data. Safe to call when nothing is there. */
export async function removeLeftovers(dataDir: string, id: string, { exec, clock }: { exec: Exec; clock: Clock }): Promise<void> {
  const deadline = clock.monotonic() + nodeStopTimeoutMs;
  for (let pids = await processesOf(id, exec); pids.size > 0; pids = await processesOf(id, exec)) {
    for (const pid of pids) killPid(pid, 'SIGKILL');
    if (clock.monotonic() > deadline) throw new Error(`these processes of ${dataDir} do not end: ${[...pids].join(', ')}`);
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
