// What a droplet says about a Node: its id, its addresses, and which droplet a Node without a provider ID is. Pure.
import { instanceIdOf, type Node, type NodeAddress } from 'sagong/cloud-provider';
import { quoted } from './annotations.ts';
import type { Droplet } from './api/types.ts';

export const providerName = 'digitalocean';

/** The droplet's number in a provider ID. Throws for one of another cloud's. */
export function dropletIdOf(providerId: string): number {
  const prefix = `${providerName}://`;
  if (!providerId.startsWith(prefix)) throw new Error(`provider ID ${quoted(providerId)} is missing prefix ${quoted(prefix)}`);
  const text = instanceIdOf(providerName, providerId);
  if (text === undefined) throw new Error('provider ID number cannot be empty');
  if (!/^\d{1,15}$/.test(text)) throw new Error(`failed to convert provider ID number ${quoted(text)}`);
  return Number(text);
}

const addressIn = (networks: { ip_address: string; type: string }[] | undefined, type: string): string | undefined =>
  networks?.find((network) => network.type === type)?.ip_address || undefined;

/** Name, private IPv4, public IPv4, public IPv6. Throws without a private IPv4 address, which every Node needs. */
export function addressesOf({ name, networks }: Droplet): NodeAddress[] {
  const internal = addressIn(networks?.v4, 'private');
  if (internal === undefined)
    throw new Error(`could not get private ip: ${networks ? 'the droplet has none' : 'no networks have been defined'}`);
  const external = [addressIn(networks?.v4, 'public'), addressIn(networks?.v6, 'public')];
  return [
    { type: 'Hostname', address: name },
    { type: 'InternalIP', address: internal },
    ...external.flatMap((address) => (address ? [{ type: 'ExternalIP', address }] : [])),
  ];
}

/** Whether a Node of this name can be this droplet: by its name or by one of its addresses. */
export const isNamed = ({ name, networks }: Droplet, nodeName: string): boolean =>
  name === nodeName || [...(networks?.v4 ?? []), ...(networks?.v6 ?? [])].some(({ ip_address }) => ip_address === nodeName);

export const nameOfNode = (node: Node): string => node.metadata.name ?? '';
