// Lists, sets and optional values (k8s.io/apiserver/pkg/cel/library, lists; cel-go ext/lists version 3, ext/sets, OptionalTypes).
import { madeListCost, selfComparisonCost, setsCost, traversalCost } from '../run/call-costs.ts';
import { compare, equal } from '../values/compare.ts';
import { global, member } from '../check/environment.ts';
import { CelError, CostError } from '../errors.ts';
import { callCostMax } from '../limits.ts';
import { spendWork } from '../meter.ts';
import { checked } from '../values/numbers.ts';
import { Duration } from '../values/times.ts';
import * as types from '../types.ts';
import { bool, double, duration, int, list, optional, param, string, timestamp, type Type, uint } from '../types.ts';
import { ListValue, MapValue, Optional, Uint, type Value } from '../values/values.ts';

const A = param('A');
const comparable = [int, uint, double, bool, duration, timestamp, string, types.bytes];
const summable: readonly (readonly [Type, Value])[] = [
  [int, 0n],
  [uint, new Uint(0n)],
  [double, 0],
  [duration, new Duration(0n)],
];

const has = (items: ListValue, wanted: Value): boolean => items.values().some((item) => equal(item, wanted));

const outputCost = (items: ListValue): number => madeListCost(items.size);
const flattenCost = (items: ListValue, depth: bigint): number => madeListCost(items.size, Math.max(0, Number(depth)));

const isSorted = (items: ListValue): boolean =>
  items.values().every((item, index, all) => index === 0 || (compare(all[index - 1] as Value, item) ?? 0) <= 0);

function extreme(items: ListValue, sign: 1 | -1, name: string): Value {
  const all = items.values();
  const [first] = all;
  if (first === undefined) throw new CelError(`${name} called on empty list`);
  return all.reduce((best, item) => ((compare(item, best) ?? 0) * sign > 0 ? item : best), first);
}

function sum(items: ListValue, zero: Value): Value {
  return items.values().reduce((total, item) => {
    if (typeof total === 'bigint') return checked(total + (item as bigint));
    if (typeof total === 'number') return total + (item as number);
    return total instanceof Uint
      ? new Uint(total.value + (item as Uint).value)
      : new Duration((total as Duration).ns + (item as Duration).ns);
  }, zero);
}

/** The items in the order of their keys; equal keys keep the order of their items. */
function sortByKeys(items: ListValue, keys: ListValue): ListValue {
  const [all, by] = [items.values(), keys.values()];
  const order = all.map((_, at) => at).sort((one, two) => compare(by[one] as Value, by[two] as Value) ?? 0);
  return new ListValue(order.map((at) => all[at] as Value));
}

const distinct = (items: ListValue): ListValue => {
  const kept: Value[] = [];
  for (const item of items.values()) if (!kept.some((one) => equal(one, item))) kept.push(item);
  return new ListValue(kept);
};

function flatten(items: ListValue, depth: bigint): ListValue {
  if (depth < 0n) throw new CelError('level must be non-negative');
  spendWork(items.size + 1);
  return new ListValue(
    items.values().flatMap((item) => (item instanceof ListValue && depth > 0n ? flatten(item, depth - 1n).values() : [item])),
  );
}

function slice(items: ListValue, from: bigint, to: bigint): ListValue {
  if (from < 0n || to < 0n) throw new CelError(`cannot slice(${from}, ${to}), negative indexes not supported`);
  if (from > to) throw new CelError(`cannot slice(${from}, ${to}), start index must be less than or equal to end index`);
  if (to > BigInt(items.size)) throw new CelError(`cannot slice(${from}, ${to}), list is length ${items.size}`);
  return new ListValue(Array.from({ length: Number(to - from) }, (_, index) => items.at(Number(from) + index)));
}

const nested = list(types.dyn);

const lists = [
  ...comparable.flatMap((type) => [
    member('isSorted', [list(type)], bool, isSorted, traversalCost),
    member('max', [list(type)], type, (items: ListValue) => extreme(items, 1, 'max'), traversalCost),
    member('min', [list(type)], type, (items: ListValue) => extreme(items, -1, 'min'), traversalCost),
    member(
      'sort',
      [list(type)],
      list(type),
      (items: ListValue) => new ListValue(items.values().toSorted((one, two) => compare(one, two) ?? 0)),
      selfComparisonCost,
    ),
    // What the macro sortBy becomes.
    member('@sortByAssociatedKeys', [list(A), list(type)], list(A), sortByKeys, selfComparisonCost),
  ]),
  ...summable.map(([type, zero]) => member('sum', [list(type)], type, (items: ListValue) => sum(items, zero), traversalCost)),
  member(
    'indexOf',
    [list(A), A],
    int,
    (items: ListValue, wanted: Value) => BigInt(items.values().findIndex((item) => equal(item, wanted))),
    traversalCost,
  ),
  member(
    'lastIndexOf',
    [list(A), A],
    int,
    (items: ListValue, wanted: Value) => BigInt(items.values().findLastIndex((item) => equal(item, wanted))),
    traversalCost,
  ),
  member('distinct', [list(A)], list(A), distinct, selfComparisonCost),
  member('reverse', [list(A)], list(A), (items: ListValue) => new ListValue(items.values().toReversed()), outputCost),
  member('flatten', [nested], nested, (items: ListValue) => flatten(items, 1n), outputCost),
  member('flatten', [nested, int], nested, flatten, flattenCost),
  member('slice', [list(A), int, int], list(A), slice, (_: ListValue, from: bigint, to: bigint) =>
    madeListCost(Math.max(0, Number(to - from))),
  ),
  global(
    'lists.range',
    [int],
    list(int),
    (count: bigint) => {
      // Upstream refuses it as well, once it is made.
      if (count > BigInt(callCostMax)) throw new CostError();
      return new ListValue(Array.from({ length: Math.max(0, Number(count)) }, (_, index) => BigInt(index)));
    },
    (count: bigint) => madeListCost(Math.max(0, Number(count))),
  ),
];

const sets = [
  global(
    'sets.contains',
    [list(A), list(A)],
    bool,
    (one: ListValue, two: ListValue) => two.values().every((item) => has(one, item)),
    setsCost(1),
  ),
  global(
    'sets.equivalent',
    [list(A), list(A)],
    bool,
    (one: ListValue, two: ListValue) =>
      two.values().every((item) => has(one, item)) && one.values().every((item) => has(two, item)),
    setsCost(2),
  ),
  global(
    'sets.intersects',
    [list(A), list(A)],
    bool,
    (one: ListValue, two: ListValue) => one.values().some((item) => has(two, item)),
    setsCost(1),
  ),
];

const isZero = (value: Value): boolean =>
  value === null ||
  value === false ||
  value === 0 ||
  value === 0n ||
  value === '' ||
  (value instanceof ListValue && value.size === 0) ||
  (value instanceof MapValue && value.size === 0);

const optionals = [
  global('optional.none', [], optional(A), () => new Optional()),
  global('optional.of', [A], optional(A), (value: Value) => new Optional(value)),
  global('optional.ofNonZeroValue', [A], optional(A), (value: Value) => (isZero(value) ? new Optional() : new Optional(value))),
  member('hasValue', [optional(A)], bool, ({ value }: Optional) => value !== undefined),
  member('value', [optional(A)], A, ({ value }: Optional) => {
    if (value === undefined) throw new CelError('optional.none() dereference');
    return value;
  }),
  member('or', [optional(A), optional(A)], optional(A), (one: Optional, two: Optional) => (one.value === undefined ? two : one)),
  member('orValue', [optional(A), A], A, ({ value }: Optional, other: Value) => value ?? other),
];

export const collectionFunctions = [...lists, ...sets, ...optionals];
