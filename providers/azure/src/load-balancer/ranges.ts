// Ranges of addresses, as security rules take them: of one family, none of them within another. Pure.
import { BlockList, isIP } from 'node:net';
import { type AddressRange, isWithin, parseRange } from 'sagong/cloud-provider/kit';
import { securityAddressesMax } from '../limits.ts';
import type { Family } from '../names.ts';

export interface Range {
  family: Family;
  /** `198.51.100.0/24`, with all bits behind the prefix zero. */
  cidr: string;
  isAll: boolean;
}

const inside = new BlockList();
for (const [address, length, family] of [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['::', 127, 'ipv6'],
] as const)
  inside.addSubnet(address, length, family);
/** Whether an address belongs to a network of its own, and not to the Internet. */
export const isInside = (address: string): boolean => inside.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** By family and first address, the larger one first: a range comes right behind those that it lies within. */
const inOrder = (a: AddressRange, b: AddressRange): number => {
  if (a.family !== b.family) return a.family < b.family ? -1 : 1;
  if (a.bits !== b.bits) return a.bits < b.bits ? -1 : 1;
  return a.length - b.length;
};

/**
 * Reads ranges, and leaves out each that lies within another. Throws an Error, which begins with `what`, for a text that
 * is not a range. */
export function readRanges(texts: readonly string[], what: string): Range[] {
  if (texts.length > securityAddressesMax)
    throw new Error(`${what}: ${texts.length} ranges are more than ${securityAddressesMax}`);
  const all = texts.map((text) => {
    const parsed = parseRange(text);
    if (!parsed) throw new Error(`${what}: ${JSON.stringify(text)} is not a range of addresses`);
    return parsed;
  });
  const kept: AddressRange[] = [];
  for (const one of all.sort(inOrder)) {
    const last = kept.at(-1);
    if (!last || !isWithin(one, last)) kept.push(one);
  }
  return kept.map((one) => ({ family: one.family, cidr: one.text, isAll: one.length === 0 }));
}
