// The addresses of a Linode, in the order in which Kubernetes prefers them, and which of them are internal. Pure.
import { BlockList, isIP } from 'node:net';
import { type Node, type NodeAddress, providedNodeIpAnnotation } from 'sagong/cloud-provider';
import type { Linode, VpcIp } from '../api/types.ts';

/** Tells addresses for private use (RFC 1918, RFC 4193), but for those of one network that counts as external. */
export function privateTest(externalSubnet: string): (address: string) => boolean {
  const family = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
  const blocks = (...ranges: string[]): BlockList => {
    const list = new BlockList();
    for (const range of ranges) {
      const [address = '', bits] = range.split('/');
      list.addSubnet(address, Number(bits), family(address));
    }
    return list;
  };
  const own = blocks('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7');
  const external = externalSubnet === '' ? blocks() : blocks(externalSubnet);
  return (address) => own.check(address, family(address)) && !external.check(address, family(address));
}

const plain = (address: string): string => address.split('/')[0] ?? '';

/** The addresses of a Node: those of VPCs first, then its own, public IPv6 last: the first of a type is the preferred one. */
export function addressesOf(linode: Linode, vpcIps: readonly VpcIp[], isPrivate: (address: string) => boolean): NodeAddress[] {
  const typed = (address: string, internal: boolean): NodeAddress => ({ type: internal ? 'InternalIP' : 'ExternalIP', address });
  const inVpc = vpcIps.flatMap(({ address }) => (address ? [typed(address, true)] : []));
  const inVpcIpv6 = vpcIps.flatMap(({ ipv6_addresses: addresses = [], ipv6_is_public: isPublic }) =>
    addresses.map(({ slaac_address: address }) => typed(address, !isPublic)),
  );
  const own = linode.ipv4.map((address) => typed(address, isPrivate(address)));
  return [...inVpc, ...own, ...inVpcIpv6, ...(linode.ipv6 ? [typed(plain(linode.ipv6), false)] : [])];
}

/** What the Node shows: its host name, the addresses, and internal ones that its kubelet was told (`--node-ip`). */
export function shownAddresses(label: string, addresses: readonly NodeAddress[], node: Node): NodeAddress[] {
  const all: NodeAddress[] = [{ type: 'Hostname', address: label }, ...addresses];
  const told = (node.metadata.annotations?.[providedNodeIpAnnotation] ?? '').split(',').map((address) => address.trim());
  const byKubelet = (node.status?.addresses ?? []).filter(({ type, address }) => type === 'InternalIP' && told.includes(address));
  const seen = new Set<string>();
  return [...all, ...byKubelet].filter(({ type, address }) => {
    const key = type === 'Hostname' ? `${type} ${address}` : address;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}
