// IP addresses as numbers, for allocating them (RFC 4291, RFC 5952).
import { isIPv4, isIPv6 } from '../../../platform/network.ts';

export type IpFamily = 'IPv4' | 'IPv6';

/** The family of a textual address; undefined for what is no address. */
export const familyOf = (text: string): IpFamily | undefined => (isIPv4(text) ? 'IPv4' : isIPv6(text) ? 'IPv6' : undefined);

/** IPv6 for IPv4, and IPv4 for IPv6. */
export const otherFamily = (family: IpFamily): IpFamily => (family === 'IPv4' ? 'IPv6' : 'IPv4');

function parseV6(text: string): bigint {
  const [address = ''] = text.split('%');
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address);
  const plain = dotted ? `${dotted[1]}${hexOfV4(dotted[2] as string)}` : address;
  const [head = '', tail] = plain.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = !tail ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array.from({ length: zeros }, () => '0'), ...right];
  return groups.reduce((sum, group) => (sum << 16n) | BigInt(Number.parseInt(group, 16)), 0n);
}

const hexOfV4 = (text: string): string => {
  const value = parseV4(text);
  return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
};

const parseV4 = (text: string): bigint => text.split('.').reduce((sum, part) => (sum << 8n) | BigInt(Number(part)), 0n);

/** The address as a number. `text` must be an address. */
export const addressValue = (text: string): bigint => (isIPv4(text) ? parseV4(text) : parseV6(text));

function formatV6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) => Number((value >> BigInt(16 * (7 - i))) & 0xffffn));
  let best = { start: -1, length: 1 };
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (end < 8 && groups[end] === 0) end++;
    if (end - i > best.length) best = { start: i, length: end - i };
  }
  const text = (part: number[]): string => part.map((group) => group.toString(16)).join(':');
  if (best.start < 0) return text(groups);
  return `${text(groups.slice(0, best.start))}::${text(groups.slice(best.start + best.length))}`;
}

/** The canonical text of an address. */
export const formatAddress = (value: bigint, family: IpFamily): string =>
  family === 'IPv6' ? formatV6(value) : [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');

/** A CIDR as the addresses services may have: without the network address and, for IPv4, the broadcast address. */
export interface AddressRange {
  cidr: string;
  family: IpFamily;
  base: bigint;
  first: bigint;
  last: bigint;
  /** The start of the part from which an address is picked when the Service asks for no particular one (KEP-3070). */
  dynamicFirst: bigint;
}

const smallest = (...values: bigint[]): bigint => values.reduce((a, b) => (b < a ? b : a));

/** How much of the range is kept for addresses users ask for. */
function staticCount(size: bigint): bigint {
  if (size <= 16n) return 0n;
  const share = size / 16n;
  return share < 16n ? 16n : smallest(share, 256n);
}

/** Reads `10.96.0.0/16`. Throws an Error for anything else. */
export function addressRange(cidr: string): AddressRange {
  const [text = '', length = ''] = cidr.split('/');
  const family = familyOf(text);
  const bits = family === 'IPv4' ? 32 : 128;
  if (!family || !/^\d+$/.test(length) || Number(length) > bits) throw new Error(`invalid CIDR address: ${cidr}`);
  const size = 1n << BigInt(bits - Number(length));
  const base = (addressValue(text) / size) * size;
  const first = base + 1n;
  const last = base + size - (family === 'IPv4' ? 2n : 1n);
  return { cidr, family, base, first, last, dynamicFirst: first + staticCount(size) };
}

export const rangeHolds = ({ base, last, family }: AddressRange, value: bigint, of: IpFamily): boolean =>
  family === of && value >= base && value <= last + 1n;
