// The iptables mode: upstream's chains, written by iptables-restore.
import type { Exec } from '#utils';
import type { BackEnd, Dataplane } from '../dataplane.ts';
import { applyRules, ensureJumps, ownChains, removeRules, supportsRandomFully } from './applier.ts';
import { type AllRules, restoreInput } from './restore.ts';
import { type PortRules, portRules, type RuleOptions } from './rules.ts';

function dataplane(exec: Exec, options: RuleOptions): Dataplane<PortRules> {
  let applied: { rules: AllRules; chains: ReadonlySet<string> } | undefined;
  return {
    rulesOf: (port, endpoints, node) => portRules(port, endpoints, options, node.address),
    async sync(rules, healthCheckPorts, full) {
      const before = full ? undefined : applied;
      applied = undefined;
      const leftovers = before ? [] : await ownChains(exec);
      const input = restoreInput(rules, { ...options, healthCheckPorts }, before, leftovers);
      await applyRules(exec, input.text);
      if (!before) await ensureJumps(exec);
      applied = { rules, chains: input.chains };
    },
  };
}

export const iptables: BackEnd<PortRules> = {
  open: async (exec, options) => dataplane(exec, { ...options, randomFully: await supportsRandomFully(exec) }),
  remove: (exec) =>
    removeRules(exec).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    }),
};
