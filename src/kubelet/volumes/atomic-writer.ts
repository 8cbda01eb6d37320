// Replaces all files of a volume at once: a new directory is written, then the link `..data` is switched to it, so that a reader sees the old
// files or the new ones, never a mixture (upstream pkg/volume/util/atomic_writer.go).
import { chmod, lchown, lstat, mkdir, readdir, readFile, readlink, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isErrno, removeTree } from '#host';
import { applyFsGroup, groupMode } from './ownership.ts';
import type { Payload } from './payload.ts';

const dataLink = '..data';
const temporaryLink = '..data_tmp';

/** The name of the directory that is current. */
async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return basename(await readlink(path));
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function listFiles(root: string, under = ''): Promise<string[]> {
  const entries = await readdir(join(root, under), { withFileTypes: true });
  const lists = await Promise.all(
    entries.map((entry) =>
      entry.isDirectory() ? listFiles(root, join(under, entry.name)) : Promise.resolve([join(under, entry.name)]),
    ),
  );
  return lists.flat();
}

/** The mode of a file: these volumes are for reading only, also for the group that they belong to. */
const fileMode = (mode: number, gid: number | undefined): number =>
  gid === undefined ? mode : groupMode(mode, { readOnly: true, directory: false });

/** Whether what is there already is exactly this. */
async function isCurrent(directory: string, payload: Payload, gid: number | undefined): Promise<boolean> {
  const files = await listFiles(directory);
  if (files.length !== payload.size) return false;
  for (const [path, { data, mode, uid = 0 }] of payload) {
    const file = join(directory, path);
    if (!files.includes(path)) return false;
    const info = await stat(file);
    if ((info.mode & 0o777) !== (fileMode(mode, gid) & 0o777) || info.uid !== uid) return false;
    if (!(await readFile(file)).equals(data)) return false;
  }
  return true;
}

const twoDigits = (value: number): string => String(value).padStart(2, '0');

/** `..2026_01_31_12_00_00.123`, made unique by `salt`. */
function directoryName(nowMs: number, salt: number): string {
  const time = new Date(nowMs);
  const parts = [time.getUTCMonth() + 1, time.getUTCDate(), time.getUTCHours(), time.getUTCMinutes(), time.getUTCSeconds()];
  return `..${time.getUTCFullYear()}_${parts.map(twoDigits).join('_')}.${String(salt).padStart(10, '0')}`;
}

async function writeFiles(directory: string, payload: Payload, gid: number | undefined): Promise<void> {
  await mkdir(directory, { mode: 0o755 });
  await chmod(directory, 0o755);
  const made = new Set<string>();
  for (const [path, { data, mode, uid }] of payload) {
    const file = join(directory, path);
    const parent = dirname(file);
    if (parent !== directory && !made.has(parent)) {
      await mkdir(parent, { recursive: true, mode: 0o755 });
      made.add(parent);
    }
    await writeFile(file, data);
    if (uid !== undefined) await lchown(file, uid, -1);
    await chmod(file, mode);
  }
  if (gid !== undefined) await applyFsGroup(directory, gid, { readOnly: true, onRootMismatch: false });
}

/** Links of the volume's root: one for each first part of a path. */
async function relink(root: string, payload: Payload): Promise<void> {
  const wanted = new Set([...payload.keys()].map((path) => path.split('/')[0] ?? ''));
  for (const name of await readdir(root))
    if (!name.startsWith('..') && !wanted.has(name)) await rm(join(root, name), { force: true });
  for (const name of wanted) {
    const path = join(root, name);
    const known = await lstat(path).catch(() => undefined);
    if (known === undefined) await symlink(join(dataLink, name), path);
  }
}

export interface AtomicWriteOptions {
  nowMs: number;
  salt: number;
  /** Group of the files. */
  gid?: number;
}

/** Makes the volume at `root` hold exactly `payload`. Answers whether anything changed. */
export async function writeVolume(root: string, payload: Payload, { nowMs, salt, gid }: AtomicWriteOptions): Promise<boolean> {
  const old = await linkTarget(join(root, dataLink));
  if (old !== undefined && (await isCurrent(join(root, old), payload, gid).catch(() => false))) {
    await relink(root, payload);
    return false;
  }
  const name = directoryName(nowMs, salt);
  await writeFiles(join(root, name), payload, gid);
  await rm(join(root, temporaryLink), { force: true });
  await symlink(name, join(root, temporaryLink));
  await rename(join(root, temporaryLink), join(root, dataLink));
  await relink(root, payload);
  if (old !== undefined) await removeTree(join(root, old));
  return true;
}
