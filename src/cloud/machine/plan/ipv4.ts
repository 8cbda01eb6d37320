// IPv4 prefixes as numbers. What the world holds was validated by the API, so text that is no prefix is a programmer's error.
import { ipText, parseCIDR } from '#apimachinery/validation';
import { assert } from '#utils';

/** The address `offset` places after the first of the prefix. */
export function addressIn(cidr: string, offset: number): string {
  const prefix = parseCIDR(cidr);
  assert(prefix !== undefined, `not a prefix: ${cidr}`);
  return ipText({ ...prefix.network, value: prefix.network.value + BigInt(offset) });
}

export const prefixLength = (cidr: string): number => Number(cidr.slice(cidr.indexOf('/') + 1));

/** The address of the VPC's router in a subnet. */
export const gatewayOf = (subnetCidr: string): string => addressIn(subnetCidr, 1);
/** The address of the VPC's name server, which the router holds. */
export const nameServerOf = (vpcCidr: string): string => addressIn(vpcCidr, 2);
