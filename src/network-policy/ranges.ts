// Ranges of IPv4 addresses: what an ipBlock with its exceptions covers. Pure.
import { parseCIDR, parseIP } from '#apimachinery/validation';

/** A range of addresses: its first and its last as numbers. */
export type Range = readonly [first: number, last: number];

/** An IPv4 address as a number; undefined for any other text. */
export function addressNumber(text: string): number | undefined {
  const address = parseIP(text);
  return address?.family === 4 ? Number(address.value) : undefined;
}

export const addressText = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');

/** The addresses of an IPv4 prefix; undefined for any other text. */
export function rangeOf(cidr: string): Range | undefined {
  const prefix = parseCIDR(cidr);
  if (prefix?.network.family !== 4) return undefined;
  const first = Number(prefix.network.value);
  return [first, first + 2 ** (32 - prefix.length) - 1];
}

/** Sorted, without overlaps and without neighbours that could be one. */
export function merged(ranges: readonly Range[]): Range[] {
  const out: [number, number][] = [];
  for (const [first, last] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const previous = out.at(-1);
    if (previous && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
    else out.push([first, last]);
  }
  return out;
}

/** What of `whole` is in none of `holes`. */
export function without(whole: Range, holes: readonly Range[]): Range[] {
  const out: Range[] = [];
  let next = whole[0];
  for (const [first, last] of merged(holes)) {
    if (last < next || first > whole[1]) continue;
    if (first > next) out.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= whole[1]) out.push([next, whole[1]]);
  return out;
}

/** Whether a value is in one of the ranges, which are as `merged` gives them. */
export function covers(ranges: readonly Range[], value: number): boolean {
  let [low, high] = [0, ranges.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [first, last] = ranges[middle] as Range;
    if (value < first) high = middle - 1;
    else if (value > last) low = middle + 1;
    else return true;
  }
  return false;
}

/** A range of addresses in nft's notation. */
export const rangeText = ([first, last]: Range): string =>
  first === last ? addressText(first) : `${addressText(first)}-${addressText(last)}`;
