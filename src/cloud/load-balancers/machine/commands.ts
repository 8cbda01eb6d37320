// The few programs that change a router or the edge.
import type { Exec } from '#utils';
import { limits } from '../limits.ts';

/** Standard output of a program; rejects with what it said when it fails. */
export async function must(exec: Exec, command: string, args: readonly string[], input?: string): Promise<string> {
  const result = await exec(command, args, { timeoutMs: limits.commandTimeoutMs, ...(input !== undefined && { input }) });
  if (result.code !== 0)
    throw new Error(`${command} ${args.join(' ')} failed: ${result.stderr.trim() || `exit code ${result.code}`}`);
  return result.stdout;
}

const enter = (netns: string): string => `--net=/run/netns/${netns}`;

/** Runs a shell script in a namespace. */
export const inNetns = (exec: Exec, netns: string, script: string): Promise<string> =>
  must(exec, 'nsenter', [enter(netns), 'sh', '-s'], script);

/** Runs `ip -batch` with these lines; does nothing where there are none. */
export async function ipBatch(exec: Exec, netns: string, lines: readonly string[]): Promise<void> {
  if (lines.length > 0) await must(exec, 'ip', ['-n', netns, '-batch', '-'], `${lines.join('\n')}\n`);
}

/** Runs `iptables-restore --noflush` with this text; does nothing where it is empty. */
export async function restore(exec: Exec, netns: string, text: string): Promise<void> {
  if (text !== '') await must(exec, 'nsenter', [enter(netns), 'iptables-restore', '-w', '10', '--noflush'], text);
}

/** Calls of conntrack with these arguments; that there was nothing to forget is no failure. */
export async function forget(exec: Exec, netns: string, calls: readonly string[]): Promise<void> {
  if (calls.length === 0) return;
  const script = calls.map((args) => `conntrack ${args} 2>&1 >/dev/null | grep -v -e 'flow entries' >&2`).join('\n');
  const result = await exec('nsenter', [enter(netns), 'sh', '-s'], {
    input: `${script}\n:\n`,
    timeoutMs: limits.commandTimeoutMs,
  });
  if (result.stderr.trim() !== '') throw new Error(`conntrack failed: ${result.stderr.trim().slice(0, 500)}`);
}
