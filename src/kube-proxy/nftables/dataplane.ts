// The nftables mode: maps in a table of our own, written by nft.
import type { Exec } from '#utils';
import type { Dataplane } from '../dataplane.ts';
import type { NftOptions } from './base.ts';
import { isThere, nft, removeTable } from './nft.ts';
import { nftRules, type NftRules } from './rules.ts';
import { ProxyTable } from './table.ts';

export function nftablesDataplane(exec: Exec, options: NftOptions): Dataplane<NftRules> {
  let known: ProxyTable | undefined;
  return {
    mode: 'nftables',
    rulesOf: (port, endpoints, node) => nftRules(port, endpoints, options, node.address),
    async sync(rules, _healthChecks, full) {
      // Writing everything forgets which client was with which endpoint: only where somebody has taken the table away.
      const before = full && known && !(await isThere(exec)) ? undefined : known;
      known = undefined;
      const next = before ?? new ProxyTable(options);
      const text = next.to(rules);
      if (text !== '') await nft(exec, text);
      known = next;
    },
    remove: () => removeTable(exec),
  };
}
