// nft(8): one transaction at a time, in a table of our own.
import type { Exec } from '#utils';
import { applyTimeoutMs } from '../limits.ts';

/** The table of all rules, with upstream's name. */
export const table = 'ip kube-proxy';

export class NftError extends Error {
  override name = 'NftError';
}

export async function nft(exec: Exec, text: string): Promise<void> {
  const { code, stderr } = await exec('nft', ['-f', '-'], { input: text, timeoutMs: applyTimeoutMs });
  if (code !== 0) throw new NftError(`nft failed: ${stderr.trim().slice(0, 1_000) || `exit code ${code}`}`);
}

/** Whether our table is in the kernel with what the first transaction made. */
export async function isThere(exec: Exec): Promise<boolean> {
  const { code } = await exec('nft', ['list', 'chain', ...table.split(' '), 'services'], { timeoutMs: applyTimeoutMs });
  return code === 0;
}

export const removal = `add table ${table}\ndelete table ${table}\n`;

/** Where nft is not installed, nothing of it is there. */
export async function removeTable(exec: Exec): Promise<void> {
  await nft(exec, removal).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}
