// Resource lists of specs: maps from a resource's name to a quantity in text form (k8s.io/apimachinery/pkg/api/resource as upstream's kinds
// use it). The texts were checked when they were decoded.
import { parseQuantity } from '#apimachinery/quantity';
import { own, setOwn } from '#utils';

export { compareQuantities } from '#apimachinery/quantity';

export type ResourceList = Record<string, string>;

/** No part smaller than one unit. */
const longDecimal = /^[+-]?0*(?:\.?\d){19}/;

/**
 * No thousandths remain. Beyond 64 bits upstream's own arithmetic shows: binary amounts, and those of more than 18 digits, keep the low bits,
 * others count as nothing.
 */
export function isWhole(text: string): boolean {
  const quantity = parseQuantity(text);
  const milli = quantity.milliValue();
  if (Number.isSafeInteger(milli)) return milli % 1000 === 0;
  const exact = quantity.scaledBigInt(-3);
  const low = BigInt.asIntN(64, exact);
  return low % 1000n === 0n || (low !== exact && quantity.format !== 'BinarySI' && !longDecimal.test(text));
}

export const isPositive = (text: string): boolean => parseQuantity(text).sign > 0;

/** Rounds every amount up to thousandths, as upstream does when it fills in defaults. */
export function roundUpResourceList(list: ResourceList | undefined): void {
  for (const name in list) {
    const quantity = parseQuantity(list[name] ?? '0');
    if (!quantity.isExactAt(-3)) list[name] = quantity.roundUp(-3).toString();
  }
}

/** Adds `other` to `list` in place. */
export function addResources(list: ResourceList, other: ResourceList | undefined): void {
  for (const name in other) {
    const amount = other[name] ?? '0';
    const sum = own(list, name);
    setOwn(list, name, sum === undefined ? amount : parseQuantity(sum).add(parseQuantity(amount)).toString());
  }
}

/** Keeps the larger of both amounts in `list`. */
export function maxResources(list: ResourceList, other: ResourceList): void {
  for (const name in other) {
    const amount = other[name] ?? '0';
    const known = own(list, name);
    if (known === undefined || parseQuantity(amount).compare(parseQuantity(known)) > 0) setOwn(list, name, amount);
  }
}
