// Ranges of addresses in the one form that vendors' APIs answer in, so that what is wanted and what is there compare as texts. Pure.
import { isIP } from 'node:net';

export type AddressFamily = 'IPv4' | 'IPv6';

/** Undefined: it is no address. */
export const familyOf = (address: string): AddressFamily | undefined => {
  const version = isIP(address);
  if (version === 0) return undefined;
  return version === 6 ? 'IPv6' : 'IPv4';
};

/** All bits of an address as one number. */
function bitsOf(address: string, family: AddressFamily): bigint {
  if (family === 'IPv4') return address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const hex = (a: string, b: string): string => ((Number(a) << 8) | Number(b)).toString(16);
  const plain = dotted
    ? `${dotted[1]}${hex(dotted[2] as string, dotted[3] as string)}:${hex(dotted[4] as string, dotted[5] as string)}`
    : address;
  const [head = '', tail] = plain.split('::');
  const words = (part: string | undefined): string[] => (part ? part.split(':') : []);
  const [before, after] = [words(head), words(tail)];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const all = [...before, ...Array.from({ length: zeros }, () => '0'), ...after];
  return all.reduce((sum, word) => (sum << 16n) | BigInt(`0x${word}`), 0n);
}

function textOf(bits: bigint, family: AddressFamily): string {
  const part = (index: number, size: bigint): bigint => (bits >> (BigInt(index) * size)) & ((1n << size) - 1n);
  if (family === 'IPv4') return [3, 2, 1, 0].map((index) => part(index, 8n)).join('.');
  const words = [7, 6, 5, 4, 3, 2, 1, 0].map((index) => part(index, 16n).toString(16)).join(':');
  // The shortest form (RFC 5952): the platform knows it.
  return new URL(`http://[${words}]`).hostname.slice(1, -1);
}

/** The first bits of an address, the rest of them zero. */
export interface AddressRange {
  family: AddressFamily;
  bits: bigint;
  length: number;
}

/** Reads `address/length`, without regard to bits behind the length. Undefined: it is no range; an IPv6 zone makes it none. */
export function parseRange(text: string): AddressRange | undefined {
  const [, address = '', digits = ''] = /^([^/%]+)\/(\d{1,3})$/.exec(text) ?? [];
  const family = familyOf(address);
  const width = family === 'IPv6' ? 128 : 32;
  const length = Number(digits);
  if (!family || digits === '' || length > width) return undefined;
  const rest = BigInt(width - length);
  return { family, length, bits: (bitsOf(address, family) >> rest) << rest };
}

/** Whether one range lies in another, or is the same. */
export const isWithin = (inner: AddressRange, outer: AddressRange): boolean => {
  const rest = BigInt((outer.family === 'IPv6' ? 128 : 32) - outer.length);
  return inner.family === outer.family && inner.length >= outer.length && inner.bits >> rest === outer.bits >> rest;
};

/** `198.51.100.0/24`, `2001:db8::/32` (RFC 5952). */
export const rangeText = ({ bits, family, length }: AddressRange): string => `${textOf(bits, family)}/${length}`;

/** A range in the form of `rangeText`; undefined: it is no range. */
export function canonicalRange(text: string): string | undefined {
  const range = parseRange(text);
  return range && rangeText(range);
}
