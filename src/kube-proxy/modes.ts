// The modes by name, and rules that are not to be there: those of every mode (`--cleanup`), or those of a mode that was used before.
import type { Exec } from '#utils';
import type { BackEnd, ProxyMode } from './dataplane.ts';
import { iptables } from './iptables/dataplane.ts';
import { nftables } from './nftables/dataplane.ts';

export const backEnds: Readonly<Record<ProxyMode, BackEnd>> = { iptables, nftables };

export async function removeAllRules(exec: Exec): Promise<void> {
  for (const { remove } of Object.values(backEnds)) await remove(exec);
}

/** Takes away what the modes that are not used left. */
export async function removeRulesOfOthers(used: ProxyMode, exec: Exec): Promise<void> {
  for (const [mode, { remove }] of Object.entries(backEnds)) if (mode !== used) await remove(exec);
}
