// Addresses: none is given twice. Private ones per subnet, public ones from the cloud's range; always the lowest free one.
import { conflicting, invalid } from '../api/errors.ts';
import type { Subnet, World } from '../model/index.ts';
import { addressNumber, addressText, type Range, rangeOf } from './cidr.ts';
import { reservedInPublic, reservedInSubnet } from './limits.ts';

/** The private addresses that are in use in a VPC. */
export function usedPrivate(world: World, vpcId: string): Set<number> {
  const used = new Set<number>();
  for (const item of world.interfaces.values()) if (item.vpcId === vpcId) used.add(addressNumber(item.privateAddress));
  for (const item of world.loadBalancers.values())
    if (item.vpcId === vpcId && item.scheme === 'internal') used.add(addressNumber(item.address));
  return used;
}

export function usedPublic(world: World): Set<number> {
  const used = new Set<number>();
  for (const { publicAddress } of world.addresses.values()) used.add(addressNumber(publicAddress));
  for (const { publicAddress } of world.interfaces.values()) if (publicAddress) used.add(addressNumber(publicAddress));
  for (const item of world.loadBalancers.values()) if (item.scheme === 'internet-facing') used.add(addressNumber(item.address));
  return used;
}

/** What may be given of a range: not its first addresses, and not the broadcast address. */
const usable = ({ first, last }: Range, reserved: number): { from: number; to: number } => ({
  from: first + reserved,
  to: last - 1,
});

function choose(range: Range, reserved: number, used: ReadonlySet<number>, wanted: string | undefined, field: string): string {
  const { from, to } = usable(range, reserved);
  if (wanted !== undefined) {
    const value = addressNumber(wanted);
    if (value < from || value > to) throw invalid(field, `${wanted} is not one of ${addressText(from)} to ${addressText(to)}`);
    if (used.has(value)) throw conflicting('AddressInUse', `${wanted} is in use`);
    return wanted;
  }
  for (let value = from; value <= to; value++) if (!used.has(value)) return addressText(value);
  throw conflicting('InsufficientFreeAddresses', `all of ${addressText(from)} to ${addressText(to)} are in use`);
}

export const choosePrivate = (world: World, { vpcId, cidr }: Subnet, wanted: string | undefined, field: string): string =>
  choose(rangeOf(cidr), reservedInSubnet, usedPrivate(world, vpcId), wanted, field);
export const choosePublic = (world: World, publicCidr: string, wanted: string | undefined, field: string): string =>
  choose(rangeOf(publicCidr), reservedInPublic, usedPublic(world), wanted, field);

/** What instances are called in their VPC's name service: `ip-10-77-0-5.<region>.compute.internal`. */
export const privateDnsName = (address: string, region: string): string =>
  `ip-${address.replaceAll('.', '-')}.${region}.compute.internal`;
