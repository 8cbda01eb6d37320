// Addresses of a machine: those of its first network card, by family, then its name, then the public ones.
import type { NetworkInterface, NetworkInterfaceIPConfiguration } from '@azure/arm-network';
import type { NodeAddress } from 'sagong/cloud-provider';
import { undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import type { Arm } from '../api/arm.ts';
import { parseId } from '../ids.ts';
import type { Family } from '../names.ts';
import type { Machine } from './machine.ts';

export const familyOfConfig = ({ privateIPAddressVersion }: { privateIPAddressVersion?: string }): Family =>
  privateIPAddressVersion === 'IPv6' ? 'IPv6' : 'IPv4';

/** The primary configuration of a card first. */
export const configsOf = ({ ipConfigurations = [] }: NetworkInterface): NetworkInterfaceIPConfiguration[] =>
  ipConfigurations.toSorted((a, b) => Number(b.primary ?? false) - Number(a.primary ?? false));

/** The network card of a machine; undefined when it no longer exists. */
export async function interfaceOf(arm: Arm, machine: Machine, signal?: AbortSignal): Promise<NetworkInterface | undefined> {
  const { group, scaleSet, name } = machine.id;
  if (scaleSet !== undefined) {
    const cards = (await arm.memberInterfaces(group, scaleSet, name, signal).catch(undefinedIfAbsent)) ?? [];
    return cards.length === 1 ? cards[0] : cards.find(({ primary }) => primary);
  }
  const id = parseId(machine.interfaceId);
  return id && arm.interfaces.get(id.group, id.names[0] ?? '', signal).catch(undefinedIfAbsent);
}

async function publicAddressOf(
  arm: Arm,
  { publicIPAddress }: NetworkInterfaceIPConfiguration,
  signal?: AbortSignal,
): Promise<string | undefined> {
  if (publicIPAddress?.ipAddress) return publicIPAddress.ipAddress;
  const id = parseId(publicIPAddress?.id);
  // The addresses of members belong to their scale set, and are not asked for by themselves.
  if (!id || id.type.toLowerCase() !== 'publicipaddresses') return undefined;
  return (await arm.publicIps.get(id.group, id.names[0] ?? '', signal).catch(undefinedIfAbsent))?.ipAddress;
}

export async function nodeAddresses(arm: Arm, machine: Machine, nodeName: string, signal?: AbortSignal): Promise<NodeAddress[]> {
  const card = await interfaceOf(arm, machine, signal);
  const configs = card ? configsOf(card) : [];
  const families: Family[] = ['IPv4', 'IPv6'];
  // The first one of a family is the machine's own; further ones belong to pods.
  const own = families.flatMap((family) => configs.find((one) => familyOfConfig(one) === family && one.privateIPAddress) ?? []);
  if (own.length === 0) throw new Error(`no address of machine ${machine.id.name} is known`);
  const outside = await Promise.all(own.map((one) => publicAddressOf(arm, one, signal)));
  return [
    ...own.map(({ privateIPAddress = '' }) => ({ type: 'InternalIP', address: privateIPAddress })),
    { type: 'Hostname', address: nodeName },
    ...outside.flatMap((address) => (address ? [{ type: 'ExternalIP', address }] : [])),
  ];
}
