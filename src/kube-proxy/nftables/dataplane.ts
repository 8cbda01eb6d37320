// The nftables mode: maps in a table of our own, written by nft.
import type { Exec } from '#utils';
import type { BackEnd, Dataplane, DataplaneOptions } from '../dataplane.ts';
import { isThere, nft, removeTable } from './nft.ts';
import { nftRules, type NftRules } from './rules.ts';
import { ProxyTable } from './table.ts';

function dataplane(exec: Exec, options: DataplaneOptions): Dataplane<NftRules> {
  let known: ProxyTable | undefined;
  return {
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
  };
}

export const nftables: BackEnd<NftRules> = {
  open: async (exec, options) => dataplane(exec, options),
  remove: removeTable,
};
