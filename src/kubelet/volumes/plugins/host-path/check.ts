// hostPath types: what must be there, and what is made when it is not (upstream pkg/volume/hostpath).
import { type Stats } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { isErrno } from '#host';

async function look(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

const checks: Record<string, [(info: Stats) => boolean, string]> = {
  Directory: [(info) => info.isDirectory(), 'directory'],
  DirectoryOrCreate: [(info) => info.isDirectory(), 'directory'],
  File: [(info) => info.isFile(), 'file'],
  FileOrCreate: [(info) => info.isFile(), 'file'],
  Socket: [(info) => info.isSocket(), 'socket file'],
  CharDevice: [(info) => info.isCharacterDevice(), 'character device'],
  BlockDevice: [(info) => info.isBlockDevice(), 'block device'],
};

/** Rejects with upstream's text when the path is not of that type. */
export async function checkHostPath(path: string, type: string): Promise<void> {
  const check = checks[type];
  if (type === '') return;
  if (check === undefined) throw new Error(`${type} is an invalid volume type`);
  let info = await look(path);
  if (info === undefined && type === 'DirectoryOrCreate') {
    await mkdir(path, { recursive: true, mode: 0o755 });
    info = await look(path);
  } else if (info === undefined && type === 'FileOrCreate') {
    const file = await open(path, 'a');
    try {
      await file.chmod(0o644);
    } finally {
      await file.close();
    }
    info = await look(path);
  }
  const [passes, what] = check;
  if (info === undefined || !passes(info)) throw new Error(`hostPath type check failed: ${path} is not a ${what}`);
}
