// Processes of instances. They outlive the process of the cloud that started them, so their output goes to files, and a later process of the cloud
// knows them again by their command lines.
import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { constants, readFileSync } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { isErrno, removeTree } from '#host';
import type { Clock } from '#utils';
import { adoptedPollMs, lastWordsBytesMax, openRoundsMax } from './limits.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

export interface ManagedProcess {
  readonly pid: number;
  /** Resolves with how it ended. Of an adopted process that is not known. */
  readonly ended: Promise<string>;
}

/** When the process started, in clock ticks (proc_pid_stat(5), field 22); undefined when there is none, or it is a zombie. */
export function startTime(pid: number): string | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

const describeEnd = (code: number | null, signal: NodeJS.Signals | null): string =>
  signal ? `killed by ${signal}` : `exit code ${code}`;

export interface StartOptions {
  /** Appended to. What is no file in its place goes: a link, a pipe. */
  logFile: string;
  env?: Record<string, string>;
  /** Standard output is given to this function instead of the log. */
  onStdout?: (text: string) => void;
}

/** Errors of opening what is not a regular file: a link, a pipe that nobody reads, a folder, a device or socket. */
const strangers = ['ELOOP', 'ENXIO', 'EISDIR', 'ENODEV'];

/** Opens a regular file without waiting; gives undefined for anything else. */
async function openRegular(path: string, flags: number): Promise<FileHandle | undefined> {
  const handle = await open(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o600).catch((error: unknown) => {
    if (!strangers.some((code) => isErrno(error, code))) throw error;
    return undefined;
  });
  if (handle === undefined || (await handle.stat()).isFile()) return handle;
  await handle.close();
  return undefined;
}

/** Opens the log for writing at its end. Rejects where something else comes into its place again and again. */
async function openLog(path: string): Promise<FileHandle> {
  for (let round = 1; round <= openRoundsMax; round++) {
    const log = await openRegular(path, O_WRONLY | O_APPEND | O_CREAT);
    if (log) return log;
    await removeTree(path);
  }
  throw new Error('the log cannot be opened: what runs in the instance puts other things in its place');
}

/** Starts `command` in a session of its own, out of reach of the terminal's signals; rejects when it cannot be started. */
export async function startProcess(
  command: string,
  args: readonly string[],
  { logFile, env, onStdout }: StartOptions,
): Promise<ManagedProcess> {
  const log = await openLog(logFile);
  try {
    const stdio: StdioOptions = ['ignore', onStdout ? 'pipe' : log.fd, log.fd];
    const child: ChildProcess = spawn(command, args, { stdio, env: { ...process.env, ...env }, detached: true });
    child.stdout?.on('data', (chunk: Buffer) => onStdout?.(chunk.toString('utf8')));
    const ended = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => resolve(describeEnd(code, signal)));
    });
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('spawn', resolve);
    });
    return { pid: child.pid ?? 0, ended };
  } finally {
    await log.close();
  }
}

/** A process that an earlier process of the cloud started. `signal` ends the looking. */
export function adoptProcess(pid: number, clock: Clock, signal: AbortSignal): ManagedProcess {
  const started = startTime(pid);
  const look = async (): Promise<string> => {
    while (started !== undefined && startTime(pid) === started) await clock.sleep(adoptedPollMs, signal);
    return 'ended';
  };
  return { pid, ended: look().catch(() => 'no longer looked at') };
}

/** The words of a process's command line; none when it has ended. */
export async function commandLine(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return text === '' ? [] : text.replace(/\0$/, '').split('\0');
}

/** The first child, as other processes of the machine see it; undefined when there is none. */
export async function childOf(pid: number): Promise<number | undefined> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const first = Number(children.trim().split(' ')[0]);
  return first > 0 ? first : undefined;
}

/** Sends a signal to a process that may be gone already. */
export function killPid(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The end of what was written to a log. */
export async function lastWords(logFile: string): Promise<string> {
  const log = await openRegular(logFile, O_RDONLY).catch(() => undefined);
  if (!log) return '';
  try {
    const { size } = await log.stat();
    const { buffer, bytesRead } = await log.read(
      Buffer.alloc(lastWordsBytesMax),
      0,
      lastWordsBytesMax,
      Math.max(0, size - lastWordsBytesMax),
    );
    return buffer.toString('utf8', 0, bytesRead).trim();
  } finally {
    await log.close();
  }
}
