// Brings rules into the kernel with iptables-restore, and takes all of them out again.
import type { Exec } from '#utils';
import { applyTimeoutMs, lockWaitSeconds } from '../limits.ts';
import { isOwnChain, jumps, sharedChains } from './restore.ts';

const wait = ['-w', String(lockWaitSeconds)];

export class IptablesError extends Error {
  override name = 'IptablesError';
}

async function run(exec: Exec, command: string, args: readonly string[], input?: string): Promise<string> {
  const result = await exec(command, args, { timeoutMs: applyTimeoutMs, ...(input !== undefined && { input }) });
  if (result.code !== 0)
    throw new IptablesError(`${command} ${args.join(' ')} failed: ${result.stderr.trim() || `exit code ${result.code}`}`);
  return result.stdout;
}

/** Applies restore input in one transaction per table; other rules stay. */
export const applyRules = (exec: Exec, text: string): Promise<string> =>
  run(exec, 'iptables-restore', [...wait, '--noflush'], text);

/** Makes sure the kernel's chains lead into ours; a rule already there is left alone. Our chains must exist. */
export async function ensureJumps(exec: Exec): Promise<void> {
  for (const { table, chain, first, rule } of jumps) {
    const present = await exec('iptables', [...wait, '-t', table, '-C', chain, ...rule], { timeoutMs: applyTimeoutMs });
    if (present.code !== 0) await run(exec, 'iptables', [...wait, '-t', table, first ? '-I' : '-A', chain, ...rule]);
  }
}

/** Chains of service ports left in the nat table by an earlier run. */
export async function ownChains(exec: Exec): Promise<string[]> {
  const saved = await exec('iptables-save', ['-t', 'nat'], { timeoutMs: applyTimeoutMs });
  return saved.stdout.split('\n').flatMap((line) => {
    const name = /^:(\S+) /.exec(line)?.[1];
    return name && isOwnChain(name) ? [name] : [];
  });
}

/** Whether `MASQUERADE --random-fully` can be used. */
export async function supportsRandomFully(exec: Exec): Promise<boolean> {
  const version = await exec('iptables', ['--version'], { timeoutMs: applyTimeoutMs });
  const [, major = '0', minor = '0', patch = '0'] = /v(\d+)\.(\d+)\.(\d+)/.exec(version.stdout) ?? [];
  return [major, minor, patch].map(Number).reduce((value, part) => value * 1000 + part, 0) >= 1_006_002;
}

/** Removes every rule and chain of this proxy (`--cleanup`). Safe to repeat. */
export async function removeRules(exec: Exec): Promise<void> {
  for (const { table, chain, rule } of jumps) {
    let removed = await exec('iptables', [...wait, '-t', table, '-D', chain, ...rule], { timeoutMs: applyTimeoutMs });
    while (removed.code === 0)
      removed = await exec('iptables', [...wait, '-t', table, '-D', chain, ...rule], { timeoutMs: applyTimeoutMs });
  }
  const own = { filter: [] as string[], nat: await ownChains(exec) };
  for (const table of ['filter', 'nat'] as const) {
    const saved = await exec('iptables-save', ['-t', table], { timeoutMs: applyTimeoutMs });
    const shared = sharedChains[table].filter((name) => saved.stdout.includes(`:${name} `));
    const chains = [...own[table], ...shared];
    if (chains.length === 0) continue;
    const text = [
      `*${table}`,
      ...chains.map((name) => `:${name} - [0:0]`),
      ...chains.map((name) => `-X ${name}`),
      'COMMIT',
      '',
    ].join('\n');
    await run(exec, 'iptables-restore', [...wait, '--noflush'], text);
  }
}
