// Which of the cloud's addresses a Node gets (KEP-3705; k8s.io/cloud-provider node/helpers/address.go). Pure.
import type { Node, NodeAddress } from '#api/core/v1';
import { ipText, parseIP } from '#apimachinery/validation';
import { providedNodeIpAnnotation } from '#cloud-provider';

const sameIp = (a: string, b: string): boolean => {
  const [first, second] = [parseIP(a), parseIP(b)];
  return first !== undefined && second !== undefined && ipText(first) === ipText(second);
};

function chosen(annotation: string, offered: readonly NodeAddress[]): NodeAddress[] {
  const wanted = annotation.split(',').map((ip) => ip.trim());
  const enforced: NodeAddress[] = [];
  for (const ip of wanted) {
    if (parseIP(ip) === undefined) throw new Error(`failed to parse node IP "${annotation}": could not parse "${ip}"`);
    const matches = offered.filter(({ address }) => sameIp(address, ip));
    if (matches.length === 0) throw new Error(`failed to get node address from cloud provider that matches ip: ${ip}`);
    enforced.push(...matches.map(({ type, address }) => ({ type, address })));
  }
  const types = new Set(enforced.map(({ type }) => type));
  return [...enforced, ...offered.filter(({ type }) => !types.has(type)).map(({ type, address }) => ({ type, address }))];
}

/** The Node's addresses: those of `--node-ip` first and alone of their type. Throws when the cloud does not have that address. */
export function addressesOf(node: Node, offered: readonly NodeAddress[]): NodeAddress[] {
  const hostnames = (node.status?.addresses ?? []).filter(({ type }) => type === 'Hostname');
  const all = offered.some(({ type }) => type === 'Hostname') ? offered : [...offered, ...hostnames];
  const annotation = node.metadata.annotations?.[providedNodeIpAnnotation];
  return annotation === undefined || annotation === '' ? [...all] : chosen(annotation, all);
}
