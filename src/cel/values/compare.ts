// Equality and order of values (https://github.com/google/cel-spec/blob/master/doc/langdef.md#equality).
import { spendWork } from '../meter.ts';
import { Duration, Timestamp } from './times.ts';
import { keysOf, ListValue, memberOf, OpaqueValue, Optional, StructValue, TypeValue, Uint, type Value } from './values.ts';

const isNumber = (value: Value): boolean => typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint;
const numberOf = (value: Value): bigint | number => (value instanceof Uint ? value.value : (value as bigint | number));

/** Whether two values are equal. That is never an error, and numbers are compared across their types. */
export function equal(left: Value, right: Value): boolean {
  spendWork(1);
  if (left === right) return true;
  if (isNumber(left) && isNumber(right)) return numberOf(left) == numberOf(right); // oxlint-disable-line eqeqeq
  if (left === null || right === null || typeof left !== 'object' || typeof right !== 'object') return false;
  if (left instanceof ListValue && right instanceof ListValue) return listsEqual(left, right);
  if (left instanceof Timestamp || left instanceof Duration)
    return right.constructor === left.constructor && (right as Timestamp | Duration).ns === left.ns;
  if (left instanceof Uint8Array)
    return right instanceof Uint8Array && left.length === right.length && left.every((byte, index) => byte === right[index]);
  if (left instanceof TypeValue) return right instanceof TypeValue && left.name === right.name;
  if (left instanceof Optional) return right instanceof Optional && optionalsEqual(left, right);
  if (left instanceof StructValue) return right instanceof StructValue && left.type === right.type && structsEqual(left, right);
  if (left instanceof OpaqueValue)
    return (
      right instanceof OpaqueValue &&
      left.type === right.type &&
      (left.equals ? left.equals(right.content) : left.content === right.content)
    );
  return mappingsEqual(left, right);
}

const optionalsEqual = (left: Optional, right: Optional): boolean =>
  left.value === undefined || right.value === undefined ? left.value === right.value : equal(left.value, right.value);

const structsEqual = (left: StructValue, right: StructValue): boolean =>
  left.fields.size === right.fields.size &&
  [...left.fields].every(([name, value]) => {
    const other = right.fields.get(name);
    return other !== undefined && equal(value, other);
  });

/**
 * What two items have in common when they are the same one: for sets the whole item, for lists with keys the keys. Undefined: only a comparison
 * shows it.
 */
function indexOf(item: Value, keys: readonly string[]): string | undefined {
  if (keys.length === 0) return scalarText(item);
  const texts = keys.map((key) => scalarText(memberOf(item, key) ?? null));
  return texts.includes(undefined) ? undefined : JSON.stringify(texts);
}

function scalarText(value: Value): string | undefined {
  if (isNumber(value)) return `n${numberOf(value)}`;
  return typeof value === 'object' && value !== null ? undefined : `${typeof value}${String(value)}`;
}

/** The order of sets and of lists with keys says nothing. */
function unorderedEqual(left: ListValue, right: ListValue, keys: readonly string[]): boolean {
  const others = new Map<string | undefined, Value[]>();
  for (const item of right.values()) {
    const index = indexOf(item, keys);
    const known = others.get(index);
    if (known) known.push(item);
    else others.set(index, [item]);
  }
  return left.values().every((item) => {
    spendWork(4 * keys.length + 4);
    return others.get(indexOf(item, keys))?.some((other) => equal(item, other)) ?? false;
  });
}

function listsEqual(left: ListValue, right: ListValue): boolean {
  if (left.size !== right.size) return false;
  if (left.keys) return unorderedEqual(left, right, left.keys);
  for (let index = 0; index < left.size; index++) if (!equal(left.at(index), right.at(index))) return false;
  return true;
}

function mappingsEqual(left: Value, right: Value): boolean {
  const mine = keysOf(left);
  const theirs = keysOf(right);
  if (!mine || !theirs || mine.length !== theirs.length) return false;
  return mine.every((key) => {
    const other = memberOf(right, key);
    return other !== undefined && equal(memberOf(left, key) as Value, other);
  });
}

/** Below zero, zero, or above; undefined: the two have no order. */
export function compare(left: Value, right: Value): number | undefined {
  if (isNumber(left) && isNumber(right)) {
    const [one, two] = [numberOf(left), numberOf(right)];
    return one < two ? -1 : one > two ? 1 : one == two ? 0 : undefined; // oxlint-disable-line eqeqeq
  }
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right);
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  if ((left instanceof Timestamp && right instanceof Timestamp) || (left instanceof Duration && right instanceof Duration))
    return left.ns < right.ns ? -1 : Number(left.ns > right.ns);
  if (left instanceof Uint8Array && right instanceof Uint8Array) return compareBytes(left, right);
  return undefined;
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;

/** By code points, as UTF-8 orders: halves of pairs come after all other units. */
function compareText(left: string, right: string): number {
  if (left === right) return 0;
  const shorter = Math.min(left.length, right.length);
  for (let at = 0; at < shorter; at++) {
    const [one, two] = [left.charCodeAt(at), right.charCodeAt(at)];
    if (one !== two) return isSurrogate(one) === isSurrogate(two) ? one - two : isSurrogate(one) ? 1 : -1;
  }
  return left.length - right.length;
}
