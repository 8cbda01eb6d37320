// Exclusive use of something by one process of this machine. The lock is a symbolic link whose target names its holder (process id and start
// time): made in one step, and a full disk has room for it. A lock whose holder is gone is taken over.
import { randomBytes } from 'node:crypto';
import { readFile, readlink, rm, symlink } from 'node:fs/promises';
import { systemClock } from './clock.ts';
import { isErrno, readFileIfExists } from './files.ts';

export interface Lock {
  release(): Promise<void>;
}

/** Somebody else has the lock; `pid` is who, where that could be told. */
export class LockHeldError extends Error {
  override name = 'LockHeldError';
  readonly pid: number | undefined;
  constructor(path: string, pid: number | undefined) {
    super(
      pid === undefined
        ? `${path} is being taken by several processes at once`
        : `${path} is held by ${pid === process.pid ? 'this process' : `process ${pid}`}`,
    );
    this.pid = pid;
  }
}

interface Holder {
  pid: number;
  /** Kernel start time of the process where the system tells it, so that a reused process id is not mistaken for the holder. */
  started: string;
}

const attemptsMax = 5;
const retryMs = 20;
/** A few system calls take less. */
const guardMs = 2;

/** Takes the lock at `path`. Rejects with LockHeldError when a living process, this one included, has it. */
export async function takeLock(path: string): Promise<Lock> {
  const own = `${process.pid}:${await startTime(process.pid)}:${randomBytes(6).toString('hex')}`;
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    if (await linkIfFree(own, path)) return { release: () => release(path, own) };
    const found = await readLock(path);
    if (found === undefined) continue;
    const holder = parseHolder(found);
    if (holder && (await isAlive(holder))) throw new LockHeldError(path, holder.pid);
    await removeStale(path, own, found);
  }
  throw new LockHeldError(path, undefined);
}

/** Does `act` while this process has the lock at `path`, for which it waits at most `timeoutMs`; then it rejects with LockHeldError. */
export async function withLock<T>(path: string, act: () => Promise<T>, timeoutMs: number): Promise<T> {
  const lock = await takeLockWithin(path, timeoutMs);
  try {
    return await act();
  } finally {
    await lock.release();
  }
}

async function takeLockWithin(path: string, timeoutMs: number): Promise<Lock> {
  const clock = systemClock();
  const deadline = clock.monotonic() + timeoutMs;
  for (;;) {
    try {
      return await takeLock(path);
    } catch (error) {
      if (!(error instanceof LockHeldError) || clock.monotonic() > deadline) throw error;
      await clock.sleep(retryMs);
    }
  }
}

/** The living process that has the lock at `path`, if there is one. */
export async function lockHolder(path: string): Promise<number | undefined> {
  const found = await readLock(path);
  const holder = found === undefined ? undefined : parseHolder(found);
  return holder && (await isAlive(holder)) ? holder.pid : undefined;
}

/** What the lock says; undefined when there is none. Earlier versions wrote a file. */
async function readLock(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    if (isErrno(error, 'EINVAL')) return readFile(path, 'utf8');
    throw error;
  }
}

/**
 * Removes a stale lock. Several may have found it at once, and one of them may have taken it over since: who removes locks at `path` has a lock of
 * its own for that, under which it looks again. So nobody removes a lock that is held.
 */
async function removeStale(path: string, own: string, stale: string): Promise<void> {
  const guard = `${path}.stale`;
  if (!(await linkIfFree(own, guard))) {
    const keeper = parseHolder((await readLock(guard)) ?? own);
    // One that was killed between the lines.
    if (keeper === undefined || !(await isAlive(keeper))) await rm(guard, { force: true });
    return systemClock().sleep(guardMs);
  }
  try {
    if ((await readLock(path)) === stale) await rm(path, { force: true });
  } finally {
    await rm(guard, { force: true });
  }
}

async function release(path: string, own: string): Promise<void> {
  if ((await readLock(path)) === own) await rm(path, { force: true });
}

async function linkIfFree(target: string, path: string): Promise<boolean> {
  try {
    await symlink(target, path);
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  }
}

function parseHolder(text: string): Holder | undefined {
  const [, pid, started = ''] = /^(\d+):([^:]*):/.exec(text) ?? [];
  if (pid !== undefined) return { pid: Number(pid), started };
  try {
    const parsed = JSON.parse(text) as { pid?: unknown; started?: unknown };
    const [boot, ticks] = String(parsed.started).split('/');
    return typeof parsed.pid === 'number' ? { pid: parsed.pid, started: stamp(boot ?? '', ticks ?? '') } : undefined;
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

/** Short: a link's target of less than 60 bytes takes no space of its own. */
const stamp = (boot: string, ticks: string): string => `${boot.slice(0, 8)}/${ticks}`;

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
  return stamp(boot?.toString().trim() ?? '', afterName.split(' ')[19] ?? '');
}
