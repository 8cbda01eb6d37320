// The machine's own root, as instances' roots are put together from it, and the folders of an instance's root on its disk.
import { readdir, readFile, readlink, stat, symlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Descriptor, holding, type InsideOptions, isErrno, openInside, OutsideError } from '#host';
import type { FurtherMount, MachineRoot, RootPlan } from './root-files.ts';

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

/** Says which of them are files. What is not there is a folder: mounting it says why the instance does not boot. */
export const kindsOf = (mounts: readonly FurtherMount[] = []): Promise<FurtherMount[]> =>
  Promise.all(
    mounts.map(async (mount) => {
      const found = await stat(mount.source).catch(() => undefined);
      return { ...mount, isFile: found !== undefined && !found.isDirectory() };
    }),
  );

/** Opens a folder of an instance's disk and closes it. What runs in the instance may have put links there, which lead elsewhere on the machine: rejects for them. */
async function assertOnDisk(root: Descriptor, disk: string, path: string, options: InsideOptions): Promise<void> {
  try {
    await (await openInside(root, relative(disk, path), options)).close();
  } catch (error) {
    if (error instanceof OutsideError)
      throw new Error(`${path}: ${error.message}, which could lead out of the disk; remove it`, { cause: error });
    if (options.make !== undefined || !isErrno(error, 'ENOENT')) throw error;
  }
}

/** Makes what the plan's mounts need; what is there from an earlier boot stays as it is. Rejects with a sentence where the disk leads elsewhere. */
export async function makeRoot({ folders, links, targets }: RootPlan, disk: string): Promise<void> {
  await holding(Descriptor.at(disk), async (root) => {
    for (const [path, make] of [...folders, [join(disk, 'logs'), 0o755] as const])
      await assertOnDisk(root, disk, path, { make, noLinks: true });
    for (const [path, target] of links)
      await symlink(target, path).catch((error: unknown) => {
        if (!isErrno(error, 'EEXIST')) throw error;
      });
    for (const path of targets) await assertOnDisk(root, disk, path, {});
  });
}

/** Calls `use` with a path for a log in the instance's folder of logs, good until that is done. */
export const withLog = <T>(disk: string, name: string, use: (path: string) => Promise<T>): Promise<T> =>
  holding(Descriptor.at(disk), (root) =>
    holding(openInside(root, 'logs', { make: 0o755, noLinks: true }), (logs) => use(logs.entry(name))),
  );
