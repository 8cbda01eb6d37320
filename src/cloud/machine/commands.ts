// Short programs that have to succeed, and how many of them run at a time.
import type { Exec } from '#utils';
import { commandTimeoutMs } from './limits.ts';

/** Standard output of a program; rejects with what it said when it fails. */
export async function must(exec: Exec, command: string, args: readonly string[], input?: string): Promise<string> {
  const result = await exec(command, args, { timeoutMs: commandTimeoutMs, ...(input !== undefined && { input }) });
  if (result.code !== 0)
    throw new Error(`${command} ${args.join(' ')} failed: ${result.stderr.trim() || `exit code ${result.code}`}`);
  return result.stdout;
}

/** Runs a shell script inside a named network namespace. `dir` marks the process as the cloud's. */
export const inNetns = (exec: Exec, netns: string, script: string, dir: string): Promise<string> =>
  must(exec, 'nsenter', [`--net=/run/netns/${netns}`, 'sh', '-s', dir], script);
