// Child processes whose end and last words matter (a node's init, its containerd, its agent), and whether somebody listens.
import { type ChildProcess, spawn } from 'node:child_process';
import { connect } from 'node:net';
import { openLogFile } from '#host';
import { stderrTailBytesMax } from './limits.ts';

export interface ManagedProcess {
  readonly child: ChildProcess;
  /** Resolves when the process has ended and was reaped. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** The end of what it wrote to standard error. */
  lastWords(): string;
}

export interface StartOptions {
  /** Appended to. */
  logFile: string;
  env?: Record<string, string | undefined>;
  /** Standard output is given to this function instead of the log. */
  onStdout?: (text: string) => void;
}

/** Starts `command`; rejects when it cannot be started. */
export function startProcess(
  command: string,
  args: readonly string[],
  { logFile, env, onStdout }: StartOptions,
): Promise<ManagedProcess> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    const log = openLogFile(logFile);
    let tail = '';
    child.stderr.on('data', (chunk: Buffer) => {
      tail = (tail + chunk.toString('utf8')).slice(-stderrTailBytesMax);
      log.write(chunk);
    });
    child.stdout.on('data', (chunk: Buffer) => (onStdout ? onStdout(chunk.toString('utf8')) : void log.write(chunk)));
    const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((done) => {
      child.once('close', (code, signal) => {
        log.end();
        done({ code, signal });
      });
    });
    child.once('error', reject);
    child.once('spawn', () => resolve({ child, ended, lastWords: () => tail.trim() }));
  });
}

/** Sends a signal to a process that may be gone already. */
export function killPid(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Whether something listens at a socket or a port. */
export const accepts = (target: { path: string } | { host: string; port: number }): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(target);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
