// The macros that walk a list or map, at run time.
import type { Fold } from '../syntax/ast.ts';
import { listCost, mapCost } from './call-costs.ts';
import { CelError, CostError } from '../errors.ts';
import { type Key, keyOf, keysOf, ListValue, MapValue, memberOf, type Value } from '../values/values.ts';

export function truth(value: Value): boolean {
  if (typeof value !== 'boolean') throw new CelError('no such overload');
  return value;
}

type Pair = readonly [Value, Value];

/** What upstream's loops cost beside what is in them: at all, for each item, and for each that is kept. */
export const foldCosts: Readonly<Record<Fold, { once: number; item: number; kept: number }>> = {
  all: { once: 1, item: 3, kept: 0 },
  exists: { once: 1, item: 4, kept: 0 },
  exists_one: { once: 2, item: 1, kept: 1 },
  filter: { once: 1 + listCost, item: 1, kept: 2 + listCost },
  map: { once: 1 + listCost, item: 1, kept: 1 + listCost },
  transformMap: { once: 1 + mapCost, item: 1, kept: 2 },
};

/** The pairs of a list or map, one after another: a loop that ends early does not look at the rest. */
export function* itemsOf(range: Value, isPaired: boolean): Generator<Pair> {
  if (range instanceof ListValue) {
    for (let at = 0; at < range.size; at++) {
      const item = range.at(at);
      yield isPaired ? [BigInt(at), item] : [item, item];
    }
    return;
  }
  const keys = keysOf(range);
  if (!keys) throw new CelError('no such overload');
  for (const key of keys) yield [key, memberOf(range, key) ?? null];
}

type Body = (pair: Pair, part: 'predicate' | 'transform') => Value;

export function foldItems(fold: Fold, items: Iterable<Pair>, body: Body): Value {
  if (fold === 'all' || fold === 'exists') return quantify(items, body, fold === 'exists');
  const kept: Pair[] = [];
  const results: Value[] = [];
  for (const pair of items) {
    if (!truth(body(pair, 'predicate'))) continue;
    kept.push(pair);
    results.push(body(pair, 'transform'));
  }
  if (fold === 'exists_one') return kept.length === 1;
  if (fold === 'filter') return new ListValue(kept.map(([first]) => first));
  if (fold === 'map') return new ListValue(results);
  return new MapValue(new Map(kept.map(([first], index) => [keyOf(first) as Key, results[index]])));
}

/** One item may decide although others fail. */
function quantify(items: Iterable<Pair>, body: Body, decisive: boolean): boolean {
  let failure: CelError | undefined;
  for (const pair of items) {
    try {
      if (truth(body(pair, 'predicate')) === decisive) return decisive;
    } catch (error) {
      if (!(error instanceof CelError) || error instanceof CostError) throw error;
      failure ??= error;
    }
  }
  if (failure) throw failure;
  return !decisive;
}
