// Running other programs as an argument, so that rule appliers and node set-up can be tested without them.

export interface ExecOptions {
  /** Written to standard input, which is then closed. */
  input?: string | Uint8Array;
  env?: Record<string, string>;
  cwd?: string;
  /** The process is killed when it takes longer. Default: no limit. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface ExecResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs `command` without a shell. Resolves whatever the exit code; rejects only when it cannot be started, times out or is aborted. */
export type Exec = (command: string, args: readonly string[], options?: ExecOptions) => Promise<ExecResult>;
