// The iptables mode: upstream's chains, written by iptables-restore.
import type { Exec } from '#utils';
import type { Dataplane } from '../dataplane.ts';
import { applyRules, ensureJumps, ownChains, removeRules } from './applier.ts';
import { type AllRules, restoreInput } from './restore.ts';
import { type PortRules, portRules, type RuleOptions } from './rules.ts';

export function iptablesDataplane(exec: Exec, options: RuleOptions): Dataplane<PortRules> {
  let applied: { rules: AllRules; chains: ReadonlySet<string> } | undefined;
  return {
    mode: 'iptables',
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
    remove: () => removeRules(exec),
  };
}
