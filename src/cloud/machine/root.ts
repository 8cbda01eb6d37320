// The machine's own root, as instances' roots are put together from it, and the folders of an instance's root on its disk.
import { chmod, mkdir, readdir, readFile, readlink, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '#host';
import type { MachineRoot, RootPlan } from './root-files.ts';

/** The mount point in a line of proc_pid_mountinfo(5). */
const mountPoint = (line: string): string =>
  (line.split(' ')[4] ?? '').replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

export async function machineRoot(): Promise<MachineRoot> {
  const found = await readdir('/', { withFileTypes: true });
  const entries = found
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map(
      async (entry) => [entry.name, entry.isDirectory() ? 'folder' : { link: await readlink(join('/', entry.name)) }] as const,
    );
  const mounts = await readFile('/proc/self/mountinfo', 'utf8');
  return { entries: new Map(await Promise.all(entries)), mountPoints: mounts.trim().split('\n').map(mountPoint) };
}

/** Makes what the plan's mounts need; what is there from an earlier boot stays as it is. */
export async function makeRoot({ folders, links }: RootPlan): Promise<void> {
  for (const [path, mode] of folders) {
    const made = await mkdir(path, { recursive: true });
    // The mode at making is under the umask.
    if (made !== undefined) await chmod(path, mode);
  }
  for (const [path, target] of links)
    await symlink(target, path).catch((error: unknown) => {
      if (!isErrno(error, 'EEXIST')) throw error;
    });
}
