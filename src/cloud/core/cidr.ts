// IPv4 addresses and ranges as numbers.

export interface Range {
  first: number;
  /** Last address, inclusive. */
  last: number;
  length: number;
}

export const addressNumber = (text: string): number => text.split('.').reduce((value, part) => value * 256 + Number(part), 0);
export const addressText = (value: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');

export function rangeOf(cidr: string): Range {
  const [address = '', length = '32'] = cidr.split('/');
  const size = 2 ** (32 - Number(length));
  const first = Math.floor(addressNumber(address) / size) * size;
  return { first, last: first + size - 1, length: Number(length) };
}

export const contains = (outer: Range, inner: Range): boolean => outer.first <= inner.first && inner.last <= outer.last;
export const overlaps = (a: Range, b: Range): boolean => a.first <= b.last && b.first <= a.last;
/** Whether the address of the CIDR is the first one of its range: `10.0.0.0/16`, not `10.0.0.1/16`. */
export const isCanonical = (cidr: string): boolean => {
  const { first, length } = rangeOf(cidr);
  return cidr === `${addressText(first)}/${length}`;
};
export const holds = ({ first, last }: Range, address: string): boolean => {
  const value = addressNumber(address);
  return first <= value && value <= last;
};
