// Comparing firewall rules: order does not count, and Google fills in what was not said. Pure.
import { sameSet } from 'sagong/cloud-provider/kit';
import type { Firewall, FirewallPorts } from '../api/types.ts';
import { firewallPriority } from '../limits.ts';

/** Ports as single numbers, by protocol: `80`, `81` and `80-81` say the same. */
const openings = (rules: readonly FirewallPorts[] = []): string[] => {
  const all = rules.flatMap(({ IPProtocol = '', ports = [''] }) =>
    ports.flatMap((port) => {
      const [from, to = from] = port.split('-').map(Number);
      if (port === '' || from === undefined || to === undefined) return [`${IPProtocol.toLowerCase()} all`];
      return Array.from({ length: to - from + 1 }, (_, index) => `${IPProtocol.toLowerCase()} ${from + index}`);
    }),
  );
  return [...new Set(all)];
};

export const sameFirewall = (a: Firewall, b: Firewall): boolean =>
  (a.description ?? '') === (b.description ?? '') &&
  (a.priority ?? firewallPriority) === (b.priority ?? firewallPriority) &&
  sameSet(openings(a.allowed), openings(b.allowed)) &&
  sameSet(openings(a.denied), openings(b.denied)) &&
  sameSet(a.sourceRanges, b.sourceRanges) &&
  sameSet(a.destinationRanges, b.destinationRanges) &&
  sameSet(a.targetTags, b.targetTags);

/** The rule for these tags as well. */
export const withTags = (rule: Firewall, tags: readonly string[]): Firewall => ({
  ...rule,
  targetTags: [...new Set([...(rule.targetTags ?? []), ...tags])].sort(),
});
