// Exclusive use of a store's directory. LMDB itself allows several processes, but memory is authoritative here, so a second process would
// silently diverge. A lock file names its holder (process id and start time); one whose holder is gone is taken over.
import { randomBytes } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, readFileIfExists } from '#host';
import { LockedError } from '../errors.ts';

export interface DirectoryLock {
  release(): Promise<void>;
}

interface Holder {
  pid: number;
  /** Kernel start time of the process where the system tells it, so that a reused process id is not mistaken for the holder. */
  started: string;
  nonce: string;
}

const attemptsMax = 5;

/** Takes the lock of `directory`; LockedError (naming the directory) when a living process, this one included, holds it. */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const path = join(directory, 'store.lock');
  const nonce = randomBytes(9).toString('hex');
  const content = JSON.stringify({ pid: process.pid, started: await startTime(process.pid), nonce } satisfies Holder);
  const own = `${path}.${nonce}`;
  await writeFile(own, content, { mode: 0o600, flag: 'wx' });
  try {
    await acquire(path, own, directory);
  } finally {
    await rm(own, { force: true });
  }
  return { release: () => release(path, content) };
}

async function acquire(path: string, own: string, directory: string): Promise<void> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    if (await linkIfFree(own, path)) return;
    const found = await readFileIfExists(path);
    if (!found) continue;
    const holder = parseHolder(found.toString());
    if (holder && (await isAlive(holder))) throw lockedBy(directory, holder);
    await removeStale(path, own, found.toString());
  }
  throw new LockedError(`store ${directory} is being opened by several processes at once`);
}

/** Moves a stale lock aside; should another process have taken over in between, its lock is put back. */
async function removeStale(path: string, own: string, stale: string): Promise<void> {
  const aside = `${own}.stale`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return;
    throw error;
  }
  if ((await readFile(aside, 'utf8')) !== stale) await linkIfFree(aside, path);
  await rm(aside, { force: true });
}

async function release(path: string, content: string): Promise<void> {
  const found = await readFileIfExists(path);
  if (found?.toString() === content) await rm(path, { force: true });
}

async function linkIfFree(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  }
}

const lockedBy = (directory: string, { pid }: Holder): LockedError =>
  new LockedError(`store ${directory} is already open in ${pid === process.pid ? 'this process' : `process ${pid}`}`);

function parseHolder(text: string): Holder | undefined {
  try {
    const { pid, started, nonce } = JSON.parse(text) as Partial<Holder>;
    return typeof pid === 'number' && typeof started === 'string' && typeof nonce === 'string'
      ? { pid, started, nonce }
      : undefined;
  } catch {
    return undefined;
  }
}

async function isAlive({ pid, started }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (isErrno(error, 'ESRCH')) return false;
  }
  return (await startTime(pid)) === started;
}

/**
 * Start time in clock ticks since boot (proc(5), /proc/pid/stat field 22) with the boot's id; empty where there is no /proc, and 'dead' for
 * a process that has ended but was not reaped yet.
 */
async function startTime(pid: number): Promise<string> {
  const [stat, boot] = await Promise.all([
    readFileIfExists(`/proc/${pid}/stat`),
    readFileIfExists('/proc/sys/kernel/random/boot_id'),
  ]);
  if (!stat) return '';
  const afterName = stat.toString().slice(stat.lastIndexOf(')') + 2);
  if (/^[ZX]/.test(afterName)) return 'dead';
  return `${boot?.toString().trim() ?? ''}/${afterName.split(' ')[19] ?? ''}`;
}
