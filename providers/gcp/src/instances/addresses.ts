// Addresses of an instance in upstream's order: interface by interface the internal one, the external ones, the IPv6 one; then one family before the
// other. Pure.
import { isIP } from 'node:net';
import type { NodeAddress } from 'sagong/cloud-provider';
import type { Instance, NetworkInterface } from '../api/types.ts';

/** The IPv6 address of the machine itself; that of external access where there is no other. */
function ipv6Of({ ipv6Address, ipv6AccessType, ipv6AccessConfigs = [] }: NetworkInterface): string | undefined {
  if (ipv6Address || ipv6AccessType !== 'EXTERNAL') return ipv6Address;
  return ipv6AccessConfigs.at(-1)?.externalIpv6;
}

const addressesOf = (card: NetworkInterface): NodeAddress[] =>
  [
    { type: 'InternalIP', address: card.networkIP },
    ...(card.accessConfigs ?? []).map(({ natIP }) => ({ type: 'ExternalIP', address: natIP })),
    { type: 'InternalIP', address: ipv6Of(card) },
  ].filter((one): one is NodeAddress => !!one.address);

/** Throws for an instance without a network. */
export function nodeAddresses({ name, networkInterfaces = [] }: Instance, preferIpv6: boolean): NodeAddress[] {
  if (networkInterfaces.length === 0) throw new Error(`could not find network interfaces for instance ${name}`);
  const all = networkInterfaces.flatMap(addressesOf);
  const family = preferIpv6 ? 6 : 4;
  return [...all.filter(({ address }) => isIP(address) === family), ...all.filter(({ address }) => isIP(address) !== family)];
}
