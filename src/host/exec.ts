// Runs other programs (iptables-restore, ip, mount, ...) without a shell.
import { setMaxListeners } from 'node:events';
import { spawn, type ChildProcess } from 'node:child_process';
import type { Exec, ExecOptions, ExecResult } from '#utils';
import { limits } from './limits.ts';
import { signalExitCode } from './signals.ts';

/** A program could not be started, took too long, was aborted or wrote too much. A non-zero exit is no error. */
export class ExecError extends Error {
  readonly command: string;
  constructor(command: string, why: string, cause?: unknown) {
    super(`${command}: ${why}`, { cause });
    this.name = 'ExecError';
    this.command = command;
  }
}

/** Collects one output stream; calls `overflow` once when it grows past the limit. */
function collect(child: ChildProcess, name: 'stdout' | 'stderr', overflow: () => void): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  child[name]?.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > limits.execOutputBytesMax) overflow();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

function terminate(child: ChildProcess): void {
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), limits.execKillGraceMs);
  force.unref();
  child.once('exit', () => clearTimeout(force));
}

/**
 * The `Exec` of this machine. `code` is 128 + the signal's number when the program was killed from outside, as a shell reports it.
 * Without `options.env` the program inherits this process's environment.
 */
export const execCommand: Exec = (command, args, options: ExecOptions = {}) =>
  new Promise<ExecResult>((resolve, reject) => {
    if (options.signal?.aborted) return reject(new ExecError(command, 'aborted', options.signal.reason));
    const child = spawn(command, [...args], {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let failure: ExecError | undefined;
    const fail = (why: string, cause?: unknown): void => {
      failure ??= new ExecError(command, why, cause);
      terminate(child);
    };
    const onAbort = (): void => fail('aborted', options.signal?.reason);
    // Any number of programs may be ended by one signal.
    if (options.signal) setMaxListeners(0, options.signal);
    options.signal?.addEventListener('abort', onAbort, { once: true });
    const timer =
      options.timeoutMs === undefined
        ? undefined
        : setTimeout(() => fail(`timed out after ${options.timeoutMs}ms`), options.timeoutMs);
    const done = (): void => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
    };
    const stdout = collect(child, 'stdout', () => fail('output too large'));
    const stderr = collect(child, 'stderr', () => fail('output too large'));
    child.once('error', (error) => {
      done();
      reject(failure ?? new ExecError(command, error.message, error));
    });
    child.once('close', (code, signal) => {
      done();
      if (failure) reject(failure);
      else resolve({ code: code ?? signalExitCode(signal), stdout: stdout(), stderr: stderr() });
    });
    // A program may exit without reading its input; that EPIPE is its business.
    child.stdin.on('error', () => {});
    child.stdin.end(options.input);
  });
