// What an expression costs at most for the largest values that its variables can have (cel-go checker/cost.go): told before it is ever run.
import type { Node } from '../syntax/ast.ts';
import { type Argument, estimateCall, fixedSize, one, type Size, times, union, unknownSize } from './call-estimates.ts';
import { listCost, mapCost, structCost } from '../run/call-costs.ts';
import type { Checked } from '../check/checker.ts';
import type { Overload } from '../check/environment.ts';
import { foldCosts } from '../run/folds.ts';
import type { Sized } from '../schema/sizes.ts';
import type { Type } from '../types.ts';

/** Where a value lies in a variable; null: where nothing is known of sizes; undefined: it is made by the expression. */
type Place = Sized | null | undefined;

/** Sizes of what a list or map holds. */
interface Entry {
  kind: 'list' | 'map';
  key: Size;
  value: Size;
}

interface Estimate {
  cost: number;
  place: Place;
  /** Undefined: nothing is known. */
  size: Size | undefined;
  entry?: Entry | undefined;
}

type Local = Omit<Estimate, 'cost'>;
type Scope = ReadonlyMap<string, Local>;

/** Sizes of the variables, and of whatever is reached from values that the expression itself makes (upstream takes those for parts of the variable). */
export interface VariableSizes {
  of(name: string): Sized | undefined;
  made: Sized | undefined;
}

export const estimateCost = (node: Node, checked: Checked, sizes: VariableSizes): number =>
  new Estimator(checked, sizes).estimate(node, new Map()).cost;

const step = (place: Sized, name: string): Sized | undefined => {
  if (name === '@items' || name === '@values') return place.items;
  return name === '@keys' ? place.keys : (place.fields?.get(name) ?? place.anyField);
};

const isScalar = (type: Type | undefined): boolean =>
  type?.kind === 'opaque'
    ? type.name === 'optional_type' && isScalar(type.params[0])
    : ['bool', 'int', 'uint', 'double', 'timestamp', 'duration'].includes(type?.kind ?? '');

const joined = (a: Entry | undefined, b: Entry | undefined): Entry | undefined =>
  a && b && { kind: a.kind, key: union(a.key, b.key), value: union(a.value, b.value) };

const entryOf = (kind: Entry['kind'], keys: readonly Size[], values: readonly Size[]): Entry => {
  const all = (sizes: readonly Size[]): Size => (sizes.length === 0 ? fixedSize(0) : sizes.reduce(union));
  return { kind, key: kind === 'list' ? one : all(keys), value: all(values) };
};

class Estimator {
  readonly checked: Checked;
  readonly sizes: VariableSizes;

  constructor(checked: Checked, sizes: VariableSizes) {
    this.checked = checked;
    this.sizes = sizes;
  }

  estimate(node: Node, scope: Scope): Estimate {
    switch (node.kind) {
      case 'literal':
        return { cost: 0, place: undefined, size: literalSize(node) };
      case 'ident':
        return this.#variable(node, node.name, scope);
      case 'select':
        return this.#select(node, scope);
      case 'call':
        return this.#call(node, scope);
      case 'list':
        return this.#list(node, scope);
      case 'map':
        return this.#map(node, scope);
      case 'struct':
        return this.#finished(
          node,
          structCost + this.#sum(node.fields.map(({ value }) => this.estimate(value, scope))),
          undefined,
        );
      case 'fold':
        return this.#fold(node, scope);
      case 'bind':
        return this.#bind(node, scope);
    }
  }

  #sum(parts: readonly Estimate[]): number {
    return parts.reduce((total, { cost }) => total + cost, 0);
  }

  #below(place: Place, name: string): Place {
    if (place === null) return null;
    return (place === undefined ? this.sizes.made : step(place, name)) ?? null;
  }

  /** With the best that is known of its size. */
  #finished(node: Node, cost: number, place: Place, size?: Size, entry?: Entry): Estimate {
    const known =
      size ?? (place ? { min: 0, max: place.max } : undefined) ?? (isScalar(this.checked.types.get(node)) ? one : undefined);
    return { cost, place, size: known, ...(entry && { entry }) };
  }

  #variable(node: Node, name: string, scope: Scope): Estimate {
    const local = scope.get(name);
    if (!local) return this.#finished(node, 1, this.sizes.of(name) ?? null);
    const made = this.#finished(node, 1, local.place, undefined, local.entry);
    return { ...made, size: made.size ?? local.size };
  }

  #select(node: Node & { kind: 'select' }, scope: Scope): Estimate {
    const name = this.checked.qualified.get(node);
    if (name !== undefined) return this.#variable(node, name, scope);
    const operand = this.estimate(node.operand, scope);
    if (node.test) return this.#finished(node, operand.cost, undefined);
    if (node.optional) return this.#finished(node, operand.cost + 1, undefined);
    const kind = this.checked.types.get(node.operand)?.kind ?? 'dyn';
    const own = kind === 'map' || kind === 'object' || kind === 'param' ? 1 : 0;
    return this.#finished(node, operand.cost + own, this.#below(operand.place, node.field));
  }

  #list({ items }: Node & { kind: 'list' }, scope: Scope): Estimate {
    const made = items.map(({ value }) => this.estimate(value, scope));
    const entry = entryOf(
      'list',
      [],
      made.map(({ size }) => size ?? unknownSize),
    );
    return { cost: listCost + this.#sum(made), place: undefined, size: fixedSize(items.length), entry };
  }

  #map({ entries }: Node & { kind: 'map' }, scope: Scope): Estimate {
    const keys = entries.map(({ key }) => this.estimate(key, scope));
    const values = entries.map(({ value }) => this.estimate(value, scope));
    const sizes = (all: readonly Estimate[]): Size[] => all.map(({ size }) => size ?? unknownSize);
    const cost = mapCost + this.#sum(keys) + this.#sum(values);
    return { cost, place: undefined, size: fixedSize(entries.length), entry: entryOf('map', sizes(keys), sizes(values)) };
  }

  #call(node: Node & { kind: 'call' }, scope: Scope): Estimate {
    const { name } = node;
    const qualified = this.checked.qualified.get(node);
    const parts = node.target && qualified === undefined ? [node.target, ...node.args] : node.args;
    const given = parts.map((part) => this.estimate(part, scope));
    const total = this.#sum(given);
    const [first, second, third] = given;
    if (name === '_&&_' || name === '_||_') return this.#finished(node, total, undefined);
    if (name === 'dyn' && first) return this.#finished(node, total + 1, undefined, first.size, first.entry);
    if (name === '_?_:_' && first && second && third) {
      const size = union(second.size ?? unknownSize, third.size ?? unknownSize);
      return this.#finished(
        node,
        first.cost + Math.max(second.cost, third.cost),
        undefined,
        size,
        joined(second.entry, third.entry),
      );
    }
    const overloads = this.checked.overloads.get(node) ?? [];
    const args = parts.map((part, index) => this.#argument(part, given[index] as Estimate));
    const { cost, result } = widest(qualified ?? name, overloads, args);
    if (name === '_[_]' && first && overloads.some(({ params: [of] }) => of?.kind === 'list' || of?.kind === 'map'))
      return this.#finished(node, total + cost, this.#below(first.place, '@items'), first.entry?.value);
    const entry = name === '_+_' ? joined(first?.entry, second?.entry) : undefined;
    return this.#finished(node, total + cost, undefined, result, entry);
  }

  #argument(node: Node, { size, place }: Estimate): Argument {
    const items = place && this.#below(place, '@items');
    const itemSize = items ? { min: 0, max: items.max } : unknownSize;
    const type = this.checked.types.get(node) ?? { kind: 'dyn' };
    return { node, type, size: size ?? unknownSize, isSized: size !== undefined, itemSize };
  }

  #fold(node: Node & { kind: 'fold' }, scope: Scope): Estimate {
    const range = this.estimate(node.range, scope);
    const [firstName = '', secondName] = node.vars;
    const isList = range.entry ? range.entry.kind === 'list' : this.checked.types.get(node.range)?.kind === 'list';
    const value = { place: this.#below(range.place, isList ? '@items' : '@values'), size: range.entry?.value };
    const key = { place: this.#below(range.place, isList ? '@indices' : '@keys'), size: range.entry?.key };
    const inner = new Map(scope);
    inner.set(firstName, isList && secondName === undefined ? value : key);
    if (secondName !== undefined) inner.set(secondName, value);
    const predicate = node.predicate ? this.estimate(node.predicate, inner) : undefined;
    const transform = node.transform ? this.estimate(node.transform, inner) : undefined;
    const { once, item, kept } = foldCosts[node.fold];
    const each = item + kept + (predicate?.cost ?? 0) + (transform?.cost ?? 0);
    const count = range.size ?? unknownSize;
    const cost = range.cost + once + times(count.max, each);
    if (node.fold === 'transformMap') return this.#finished(node, cost, undefined, count);
    if (node.fold !== 'map' && node.fold !== 'filter') return this.#finished(node, cost, undefined, one);
    const item1 = node.fold === 'map' ? transform?.size : this.#localSize(inner.get(firstName));
    const entry: Entry = { kind: 'list', key: one, value: { min: 0, max: (item1 ?? unknownSize).max } };
    return this.#finished(node, cost, undefined, count, entry);
  }

  #localSize(local: Local | undefined): Size | undefined {
    return local?.place ? { min: 0, max: local.place.max } : local?.size;
  }

  #bind(node: Node & { kind: 'bind' }, scope: Scope): Estimate {
    const value = this.estimate(node.value, scope);
    const inner = new Map(scope);
    if (node.form === 'bind') {
      inner.set(node.name, value);
      const body = this.estimate(node.body, inner);
      return this.#finished(node, listCost + value.cost + body.cost, undefined, body.size, body.entry);
    }
    inner.set(node.name, { place: undefined, size: undefined });
    // Upstream's macro asks the value twice: whether it is there, and for it.
    const own = listCost + (node.form === 'optMap' ? 3 : 2);
    return this.#finished(node, 2 * value.cost + own + this.estimate(node.body, inner).cost, undefined);
  }
}

function literalSize({ value }: Node & { kind: 'literal' }): Size {
  if (value.type === 'string') return fixedSize(Array.from(value.value).length);
  return fixedSize(value.type === 'bytes' ? value.value.length : 1);
}

/** The cost of a call whose values decide later which overload runs: the most that any of them costs. */
function widest(name: string, overloads: readonly Overload[], args: readonly Argument[]): { cost: number; result?: Size } {
  let cost = 0;
  let result: Size | undefined;
  for (const overload of overloads) {
    const estimate = estimateCall(name, overload, args);
    cost = Math.max(cost, estimate.cost);
    if (estimate.result) result = result ? union(result, estimate.result) : estimate.result;
  }
  return { cost, ...(result && { result }) };
}
