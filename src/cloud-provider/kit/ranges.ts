// Ranges of addresses in the one form that vendors' APIs answer in, so that what is wanted and what is there compare as texts. Pure.
import { cidrText, type IPPrefix, parseCIDR, parseIP } from '#apimachinery/validation';

export type AddressFamily = 'IPv4' | 'IPv6';

/** The family of an address; undefined where the text is none. */
export function familyOf(address: string): AddressFamily | undefined {
  const parsed = parseIP(address);
  if (!parsed || parsed.leadingZeros) return undefined;
  return parsed.family === 4 ? 'IPv4' : 'IPv6';
}

/** The first bits of an address, the rest of them zero. */
export interface AddressRange {
  family: AddressFamily;
  bits: bigint;
  length: number;
  /** `198.51.100.0/24`, `2001:db8::/32` (RFC 5952). */
  text: string;
}

const rangeOf = ({ network, length, ...rest }: IPPrefix): AddressRange => ({
  family: network.family === 4 ? 'IPv4' : 'IPv6',
  bits: network.value,
  length,
  text: cidrText({ network, length, ...rest }),
});

/**
 * Reads `address/length`, without regard to bits behind the length. Undefined: it is no range. One with an IPv6 zone is none, nor is one of IPv4 addresses
 * in the clothes of IPv6.
 */
export function parseRange(text: string): AddressRange | undefined {
  const parsed = parseCIDR(text);
  return parsed && !parsed.address.mapped ? rangeOf(parsed) : undefined;
}

/** Whether one range lies in another, or is the same. */
export function isWithin(inner: AddressRange, outer: AddressRange): boolean {
  const rest = BigInt((outer.family === 'IPv6' ? 128 : 32) - outer.length);
  return inner.family === outer.family && inner.length >= outer.length && inner.bits >> rest === outer.bits >> rest;
}

/** A range in its one form; undefined: it is no range. */
export const canonicalRange = (text: string): string | undefined => parseRange(text)?.text;
