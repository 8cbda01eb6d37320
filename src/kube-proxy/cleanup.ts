// Rules that are not to be there: those of every mode (`--cleanup`), or those of a mode that was used before.
import type { Exec } from '#utils';
import type { ProxyMode } from './dataplane.ts';
import { removeRules } from './iptables/applier.ts';
import { removeTable } from './nftables/nft.ts';

export async function removeAllRules(exec: Exec): Promise<void> {
  await removeRules(exec);
  await removeTable(exec);
}

/** Takes away what the mode that is not used left. */
export async function removeRulesOfOther(used: ProxyMode, exec: Exec): Promise<void> {
  if (used === 'iptables') return removeTable(exec);
  await removeRules(exec).catch((error: NodeJS.ErrnoException) => {
    // Without the program there are no rules of it.
    if (error.code !== 'ENOENT') throw error;
  });
}
