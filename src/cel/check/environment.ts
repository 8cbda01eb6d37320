// What an expression may use: variables, functions and types (cel-go, Env).
import type { Type } from '../types.ts';
import type { Value } from '../values/values.ts';

/** One way to call a function. `call` gets the receiver first, where there is one. */
export interface Overload {
  member: boolean;
  params: readonly Type[];
  result: Type;
  call(...args: Value[]): Value;
  /** Cost of one call, from its arguments; absent: 1. */
  cost?(...args: Value[]): number;
}

export type Functions = ReadonlyMap<string, readonly Overload[]>;

export interface Environment {
  functions: Functions;
  /** Types of variables by name. */
  variables: ReadonlyMap<string, Type>;
  /** Types that `Name{field: value}` makes; undefined: there is none of this name. */
  struct?(name: string): Type | undefined;
  /** `cel.bind(name, value, expression)` is known (cel-go ext/bindings). Absent: no. */
  bindings?: boolean;
  /** Values that names of types stand for, such as `int`. */
  typeNames: ReadonlySet<string>;
}

/** Joins tables of functions: overloads of the same name add up. */
export function functionTable(...tables: readonly (readonly (readonly [string, Overload])[])[]): Functions {
  const all = new Map<string, Overload[]>();
  for (const table of tables)
    for (const [name, overload] of table) {
      const known = all.get(name);
      if (known) known.push(overload);
      else all.set(name, [overload]);
    }
  return all;
}

type Row = readonly [string, Overload];

type RowOf = (
  name: string,
  params: readonly Type[],
  result: Type,
  call: (...args: never[]) => Value,
  cost?: (...args: never[]) => number,
) => Row;

const rowOf =
  (isMember: boolean): RowOf =>
  (name, params, result, call, cost) => [
    name,
    {
      member: isMember,
      params,
      result,
      call: call as Overload['call'],
      ...(cost && { cost: cost as NonNullable<Overload['cost']> }),
    },
  ];

/** A row of a table: a function called by its name alone. */
export const global = rowOf(false);

/** A row of a table: a function called on its first parameter. */
export const member = rowOf(true);
