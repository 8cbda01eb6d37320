// Directories that volumes are made of.
import { chmod, mkdir, stat } from 'node:fs/promises';
import type { Pod } from '#api/core/v1';
import type { Exec } from '#utils';
import { mountsUnder, mountTmpfs } from '../mount-table.ts';
import { applyFsGroup } from '../ownership.ts';

/** A directory for everybody; in memory for what must not reach a disk. */
export async function makeDirectory(exec: Exec, path: string, memory: boolean, options: string[] = []): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o750 });
  if (memory && !(await mountsUnder(path)).includes(path)) await mountTmpfs(exec, path, options);
  // A file system in memory comes with the sticky bit, which stays.
  if (((await stat(path)).mode & 0o777) !== 0o777) await chmod(path, 0o777);
}

/** Gives a volume to the group of its pod, where it has one. */
export async function giveToGroup({ spec }: Pod, path: string, readOnly: boolean): Promise<void> {
  const { fsGroup, fsGroupChangePolicy } = spec?.securityContext ?? {};
  if (fsGroup !== undefined)
    await applyFsGroup(path, fsGroup, { readOnly, onRootMismatch: fsGroupChangePolicy === 'OnRootMismatch' });
}
