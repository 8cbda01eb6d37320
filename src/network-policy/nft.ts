// Brings transactions into the kernel with nft(8).
import { readFile, writeFile } from 'node:fs/promises';
import type { Exec } from '#utils';
import { applyTimeoutMs } from './limits.ts';
import { removal } from './text.ts';

export class NftError extends Error {
  override name = 'NftError';
}

/** Whether an error says that nft is not installed here. */
export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';

/** One transaction: all of it, or nothing. */
export async function apply(exec: Exec, text: string): Promise<void> {
  const { code, stderr } = await exec('nft', ['-f', '-'], { input: text, timeoutMs: applyTimeoutMs });
  if (code !== 0) throw new NftError(`nft failed: ${stderr.trim().slice(0, 1_000) || `exit code ${code}`}`);
}

/** Takes all rules of network policies out of the kernel. Safe to repeat. */
export async function removePolicyRules(exec: Exec): Promise<void> {
  await apply(exec, `${removal.join('\n')}\n`).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
}

const bridgedPackets = '/proc/sys/net/bridge/bridge-nf-call-iptables';

/** Packets between pods of one node pass a bridge: rules see them only where the kernel shows bridged packets to them. Throws where it does not. */
export async function seeBridgedPackets(): Promise<void> {
  for (const path of [bridgedPackets, bridgedPackets.replace('iptables', 'ip6tables')]) {
    const value = await readFile(path, 'utf8').catch((error: unknown) => {
      throw new Error('packets between pods of one node pass no rules: the kernel module br_netfilter is not loaded', {
        cause: error,
      });
    });
    if (value.trim() !== '1') await writeFile(path, '1\n');
  }
}
