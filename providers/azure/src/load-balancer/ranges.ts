// Ranges of addresses, as security rules take them: of one family, none of them within another. Pure.
import { BlockList, isIP } from 'node:net';
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

export const familyOf = (address: string): Family | undefined => {
  const version = isIP(address);
  if (version === 0) return undefined;
  return version === 6 ? 'IPv6' : 'IPv4';
};

/** All bits of an address as one number. */
function bitsOf(address: string, family: Family): bigint {
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

function textOf(bits: bigint, family: Family): string {
  const part = (index: number, size: bigint): bigint => (bits >> (BigInt(index) * size)) & ((1n << size) - 1n);
  if (family === 'IPv4') return [3, 2, 1, 0].map((index) => part(index, 8n)).join('.');
  const words = [7, 6, 5, 4, 3, 2, 1, 0].map((index) => part(index, 16n).toString(16)).join(':');
  // The shortest form (RFC 5952): the platform knows it.
  return new URL(`http://[${words}]`).hostname.slice(1, -1);
}

interface Parsed {
  family: Family;
  bits: bigint;
  length: number;
}

function parse(text: string): Parsed | undefined {
  const [, address = '', digits = ''] = /^([^/%]+)\/(\d{1,3})$/.exec(text) ?? [];
  const family = familyOf(address);
  const width = family === 'IPv6' ? 128 : 32;
  const length = Number(digits);
  if (!family || digits === '' || length > width) return undefined;
  const rest = BigInt(width - length);
  return { family, length, bits: (bitsOf(address, family) >> rest) << rest };
}

const within = (inner: Parsed, outer: Parsed): boolean => {
  const rest = BigInt((outer.family === 'IPv6' ? 128 : 32) - outer.length);
  return inner.family === outer.family && inner.length >= outer.length && inner.bits >> rest === outer.bits >> rest;
};

/** By family and first address, the larger one first: a range comes right behind those that it lies within. */
const inOrder = (a: Parsed, b: Parsed): number => {
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
    const parsed = parse(text);
    if (!parsed) throw new Error(`${what}: ${JSON.stringify(text)} is not a range of addresses`);
    return parsed;
  });
  const kept: Parsed[] = [];
  for (const one of all.sort(inOrder)) {
    const last = kept.at(-1);
    if (!last || !within(one, last)) kept.push(one);
  }
  return kept.map(({ family, bits, length }) => ({ family, cidr: `${textOf(bits, family)}/${length}`, isAll: length === 0 }));
}
