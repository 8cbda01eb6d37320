// What calls cost at run time, as upstream counts it (cel-go interpreter, runtimecost.go; k8s.io/apiserver/pkg/cel/library, cost.go).
import { ListValue, MapValue, ObjectValue, Optional, type Value } from '../values/values.ts';

/** The cost of walking over one character of a text. */
const traversal = 0.1;
const regexFactor = 0.25;
export const listCost = 10;
export const mapCost = 30;
export const structCost = 40;

/** Items, characters or bytes; 1 for what has no size. */
export function sizeOfValue(value: Value): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length;
  if (value instanceof ListValue || value instanceof MapValue) return value.size;
  if (value instanceof Optional && value.value !== undefined) return sizeOfValue(value.value);
  return value instanceof ObjectValue ? Object.keys(value.raw).length : 1;
}

export const textCost = (text: string | Uint8Array): number => Math.ceil(text.length * traversal);
/** The text is walked, and another made of it. */
export const rewriteCost = (text: string): number => Math.ceil(text.length * 2 * traversal);
export const joinedCost = (one: string | Uint8Array, two: string | Uint8Array): number =>
  Math.ceil((one.length + two.length) * traversal);
export const containsCost = (text: string, part: string): number => textCost(text) * textCost(part);
export const patternCost = (text: string, pattern: string): number =>
  Math.ceil((1 + text.length) * traversal) * Math.ceil(pattern.length * regexFactor);
export const comparisonCost = (one: Value, two: Value): number =>
  Math.ceil(Math.min(sizeOfValue(one), sizeOfValue(two)) * traversal);

/** The cost of walking a value with all that it holds. */
export function traversalCost(value: Value): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return Math.trunc(value.length * traversal);
  if (value instanceof ListValue) return value.values().reduce((sum: number, item) => sum + traversalCost(item), 0);
  if (!(value instanceof MapValue)) return 1;
  return value.keys.reduce((sum: number, key) => sum + traversalCost(key) + traversalCost(value.get(key) ?? null), 0);
}

/** The cost of making a list of `items` items. */
export const madeListCost = (items: number, factor = 1): number => Math.trunc(items * factor) + 1 + listCost;

/** The cost of comparing all items of a list with one another. */
export function selfComparisonCost(list: ListValue): number {
  const isText = list.size > 0 && (typeof list.at(0) === 'string' || list.at(0) instanceof Uint8Array);
  return madeListCost(list.size ** 2, isText ? 2 + traversal : 2);
}

export const setsCost =
  (factor: number) =>
  (one: ListValue, two: ListValue): number =>
    1 + one.size * two.size * factor;
