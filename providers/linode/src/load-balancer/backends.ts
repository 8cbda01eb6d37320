// Nodes as the backends of a NodeBalancer.
import { isIPv6 } from 'node:net';
import type { Node } from 'sagong/cloud-provider';
import type { NodeRequest } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { note } from '../instances/node-notes.ts';
import { labelCharactersMax, labelCharactersMin, namesShown, nodeWeight } from '../limits.ts';
import type { PortPlan } from './ports.ts';

export interface Backend {
  /** The name of the Node. */
  name: string;
  ip: string;
  /** The subnet of a VPC that `ip` is in; absent outside a VPC. */
  subnetId?: number;
}

export interface BackendOptions {
  usesIpv6: boolean;
  /** Undefined: outside of VPCs. */
  subnetId: number | undefined;
}

/** The address of a Node that a backend has; undefined where the Node has no such address (yet). */
function ipOf({ metadata, status }: Node, { usesIpv6, subnetId }: BackendOptions): string | undefined {
  const { annotations = {} } = metadata;
  if (usesIpv6) {
    const [address = ''] = (annotations[note.publicIpv6] ?? '').split('/');
    return isIPv6(address) ? address : undefined;
  }
  const noted = subnetId === undefined ? annotations[note.privateIp] : undefined;
  return noted || status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
}

const shown = (names: readonly string[]): string =>
  `${names.slice(0, namesShown).join(', ')}${names.length > namesShown ? ` and ${names.length - namesShown} more` : ''}`;

/** Nodes without an address are left out with a warning; rejects when there are nodes and none has one. */
export function backendsOf({ logger }: Pick<Cloud, 'logger'>, nodes: readonly Node[], options: BackendOptions): Backend[] {
  const found: Backend[] = [];
  const without: string[] = [];
  const { subnetId } = options;
  for (const node of nodes) {
    const { name = '' } = node.metadata;
    const ip = ipOf(node, options);
    if (ip === undefined) without.push(name);
    else found.push({ name, ip, ...(subnetId !== undefined && { subnetId }) });
  }
  const what = options.usesIpv6 ? 'public IPv6 address' : 'internal IP';
  if (found.length === 0 && without.length > 0) throw new Error(`no ${what} found for node ${shown(without)}`);
  if (without.length > 0) logger.warn(`nodes without ${what} are no backends`, { nodes: shown(without) });
  return found;
}

/** Of those given the ones whose Linode exists, as it is now. */
export async function existing({ finder, signal }: Cloud, nodes: readonly Node[]): Promise<Node[]> {
  finder.forget();
  const found: Node[] = [];
  for (const node of nodes) if (await finder.ofNode(node, signal)) found.push(node);
  return found;
}

/** A name as long as a label must be. */
const labelOf = (name: string): string => (name.length < labelCharactersMin ? `node-${name}` : name).slice(0, labelCharactersMax);

export const nodeRequests = ({ config, nodePort }: PortPlan, backends: readonly Backend[]): NodeRequest[] =>
  backends.map(({ name, ip, subnetId }) => ({
    label: labelOf(name),
    address: isIPv6(ip) ? `[${ip}]:${nodePort}` : `${ip}:${nodePort}`,
    weight: nodeWeight,
    ...(config.protocol !== 'udp' && { mode: 'accept' as const }),
    ...(subnetId !== undefined && { subnet_id: subnetId }),
  }));
