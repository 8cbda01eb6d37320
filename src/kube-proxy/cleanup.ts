// `--cleanup`: the rules of every mode.
import type { Exec } from '#utils';
import { removeRules } from './iptables/applier.ts';
import { removeTable } from './nftables/nft.ts';

export async function removeAllRules(exec: Exec): Promise<void> {
  await removeRules(exec);
  await removeTable(exec);
}
