// Addresses and names of the network that the server is in.
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

export { isIP, isIPv4, isIPv6, networkInterfaces };

/** Every address of a name. Rejects when the name has none. */
export const addressesOf = async (host: string): Promise<string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address);

const local = new BlockList();
local.addSubnet('127.0.0.0', 8, 'ipv4');
local.addSubnet('169.254.0.0', 16, 'ipv4');
local.addSubnet('224.0.0.0', 4, 'ipv4');
local.addAddress('0.0.0.0', 'ipv4');
local.addAddress('255.255.255.255', 'ipv4');
local.addAddress('::1', 'ipv6');
local.addAddress('::', 'ipv6');
local.addSubnet('fe80::', 10, 'ipv6');
local.addSubnet('ff00::', 8, 'ipv6');

/** Whether a text is an address that means another machine than the one that uses it: no loopback, link-local or multicast address. */
export const isElsewhere = (address: string): boolean =>
  isIP(address) !== 0 && !local.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
