// Small file helpers whose point is what happens at a crash or a race: atomic replacement, private directories, change notice.
import { randomBytes } from 'node:crypto';
import { type FSWatcher, statSync, watch } from 'node:fs';
import { mkdir, open, readdir, readFile, readlink, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { limits } from './limits.ts';

export const isErrno = (error: unknown, code: string): error is NodeJS.ErrnoException =>
  error instanceof Error && (error as NodeJS.ErrnoException).code === code;

/** Makes the directory and its parents; `mode` (default 0700) is given to those it had to make. */
export async function ensureDir(path: string, mode = 0o700): Promise<string> {
  if (await makeDir(path, mode)) return path;
  // Not by mkdir's own recursion: where a parent is there and yet nothing can be made in it (/proc), Node's never ends.
  const parent = dirname(path);
  if (parent !== path) await ensureDir(parent, mode);
  if (!(await makeDir(path, mode))) throw Object.assign(new Error(`ENOENT: no directory can be made, mkdir '${path}'`), noEntry);
  return path;
}

const noEntry = { code: 'ENOENT', syscall: 'mkdir' };

/** Whether the directory is there now; false when its parent is missing. */
async function makeDir(path: string, mode: number): Promise<boolean> {
  try {
    await mkdir(path, { mode });
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    // Whatever the system said first: EEXIST, or that nothing may be written here.
    if ((await stat(path).catch(() => undefined))?.isDirectory()) return true;
    throw error;
  }
}

/** The content, or undefined when there is no such file. What is wrong with one that is there names it. */
export async function readFileIfExists(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return undefined;
    throw naming(path, error);
  }
}

/** The names in a directory; none when there is no such directory. */
export async function namesIfExists(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return [];
    throw error;
  }
}

/** A file that opens and cannot be read or written, as a directory or on a full disk, is not named by Node. */
function naming(path: string, error: unknown): unknown {
  const { path: named, message } = error as NodeJS.ErrnoException;
  return named === undefined ? Object.assign(error as Error, { path, message: `${message} '${path}'` }) : error;
}

/** Resolves when what the directory lists is on the disk. */
export async function syncDir(path: string): Promise<void> {
  const dir = await open(path, 'r');
  try {
    await dir.sync();
  } finally {
    await dir.close();
  }
}

/**
 * Replaces `path` so that a reader, or a crash at any moment, sees the old content or the new, never a mixture. The directory is made
 * when missing. `mode` defaults to 0600: most of what is written this way is a key, a certificate or a kubeconfig.
 */
export async function atomicWrite(path: string, data: string | Uint8Array, options: { mode?: number } = {}): Promise<void> {
  const dir = await ensureDir(dirname(path));
  const temporary = join(dir, `.${basename(path)}.${randomBytes(6).toString('hex')}`);
  try {
    const file = await open(temporary, 'wx', options.mode ?? 0o600);
    try {
      await file.writeFile(data);
      await file.chmod(options.mode ?? 0o600);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    await syncDir(dir);
  } catch (error) {
    await rm(temporary, { force: true });
    throw naming(path, error);
  }
}

/**
 * Replaces a file that a user names: what a link leads to is replaced and the link stays, and what is no file but takes writes, as /dev/null or a pipe do,
 * is written to and stays what it is.
 */
export async function replaceFile(path: string, data: string | Uint8Array, options: { mode?: number } = {}): Promise<void> {
  const found = await stat(path).catch((error: unknown) => {
    if (!isErrno(error, 'ENOENT')) throw error;
    return undefined;
  });
  if (found && !found.isFile() && !found.isDirectory()) return writeFile(path, data);
  await atomicWrite(await realPathOf(path), data, options);
}

/** Where the links of a path lead, whether there is something or not. */
async function realPathOf(path: string, links = limits.linksMax): Promise<string> {
  const target = await readlink(path).catch(() => undefined);
  if (target === undefined) return path;
  if (links === 0) throw Object.assign(new Error(`ELOOP: too many symbolic links, ${path}`), { code: 'ELOOP' });
  return realPathOf(resolve(dirname(path), target), links - 1);
}

/** What identifies one state of a file; symbolic links (as in a mounted Secret) are followed. */
function stampOf(path: string): string {
  try {
    const info = statSync(path, { bigint: true });
    return `${info.dev}:${info.ino}:${info.size}:${info.mtimeNs}`;
  } catch {
    return 'absent';
  }
}

export interface WatchFileOptions {
  /** Quiet time before `onChange` is called. Default `limits.fileSettleMs`. */
  settleMs?: number;
  /** Period of the look that catches what the kernel did not tell. Default `limits.filePollMs`. */
  pollMs?: number;
}

/**
 * Calls `onChange` after the file was replaced, rewritten, made or removed. Watches the directory, so atomic replacement and the symlink
 * swap of mounted Secrets are seen. Never throws: a directory that cannot be watched is polled. Does not keep the process alive.
 */
export function watchFile(path: string, onChange: () => void, options: WatchFileOptions = {}): { close(): void } {
  let closed = false;
  let settle: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;
  // At once: a change that comes right after this call is one.
  let known = stampOf(path);
  const check = (): void => {
    const before = known;
    known = stampOf(path);
    if (!closed && before !== known) onChange();
  };
  const schedule = (): void => {
    clearTimeout(settle);
    settle = setTimeout(check, options.settleMs ?? limits.fileSettleMs).unref();
  };
  try {
    watcher = watch(dirname(path), { persistent: false }, schedule);
    watcher.on('error', () => watcher?.close());
  } catch {
    watcher = undefined;
  }
  const poll = setInterval(check, options.pollMs ?? limits.filePollMs).unref();
  return {
    close() {
      closed = true;
      clearTimeout(settle);
      clearInterval(poll);
      watcher?.close();
    },
  };
}
