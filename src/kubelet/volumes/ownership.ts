// fsGroup: a volume's files belong to the pod's group, which may read and write them (upstream pkg/volume/volume_linux.go).
import { chmod, lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const groupReadWrite = 0o660;
const groupRead = 0o440;
const execute = 0o110;
const setGid = 0o2000;

async function own(path: string, gid: number, readOnly: boolean): Promise<void> {
  const info = await lstat(path);
  await lchown(path, -1, gid);
  if (info.isSymbolicLink()) return;
  const directory = info.isDirectory();
  await chmod(path, (info.mode & 0o7777) | (readOnly ? groupRead : groupReadWrite) | (directory ? setGid | execute : 0));
  if (directory) for (const name of await readdir(path)) await own(join(path, name), gid, readOnly);
}

/** `onRootMismatch`: leave a volume alone whose root already is right. */
export async function applyFsGroup(
  path: string,
  gid: number,
  options: { readOnly: boolean; onRootMismatch: boolean },
): Promise<void> {
  if (options.onRootMismatch) {
    const info = await lstat(path);
    if (info.gid === gid && (info.mode & setGid) !== 0) return;
  }
  await own(path, gid, options.readOnly);
}
