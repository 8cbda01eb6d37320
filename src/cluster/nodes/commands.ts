// Short programs that have to succeed.
import type { Exec } from '#utils';
import { commandTimeoutMs } from './limits.ts';

/** Standard output of a program; rejects with what it said when it fails. */
export async function must(exec: Exec, command: string, args: readonly string[], input?: string): Promise<string> {
  const result = await exec(command, args, { timeoutMs: commandTimeoutMs, ...(input !== undefined && { input }) });
  if (result.code !== 0)
    throw new Error(`${command} ${args.join(' ')} failed: ${result.stderr.trim() || `exit code ${result.code}`}`);
  return result.stdout;
}
