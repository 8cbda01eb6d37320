// Addresses and ranges. Pure.
import { BlockList } from 'node:net';

/** Whether an address, or a range, lies in a range of its family. */
export function lies(inner: string, outer: string): boolean {
  const [address = '', innerBits] = inner.split('/');
  const [network = '', bits] = outer.split('/');
  const family = network.includes(':') ? 'ipv6' : 'ipv4';
  if (address.includes(':') !== network.includes(':')) return false;
  if (innerBits !== undefined && Number(innerBits) < Number(bits)) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family);
  return list.check(address, family);
}
