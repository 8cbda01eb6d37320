// Who else a load balancer's firewall lets in beside its source ranges. Pure.
import { parseCIDR, parseIP } from '#apimachinery/validation';
import type { ServicePort } from './model.ts';

/** What a node whose address is not known is taken for, as upstream does. */
const unknownAddress = '127.0.0.1';

/**
 * The load balancer's own addresses, where the node itself is let in: on a node that has such an address as its own, what it sends there comes
 * back with that address as its source.
 */
export function ownSources(
  { loadBalancerSourceRanges, loadBalancerIps }: ServicePort,
  nodeAddress: string | undefined,
): string[] {
  const node = parseIP(nodeAddress ?? unknownAddress);
  if (!node) return [];
  const isLetIn = loadBalancerSourceRanges.some((range) => {
    const prefix = parseCIDR(range);
    if (prefix?.network.family !== node.family) return false;
    const hostBits = BigInt(32 - prefix.length);
    return prefix.network.value >> hostBits === node.value >> hostBits;
  });
  return isLetIn ? loadBalancerIps : [];
}
