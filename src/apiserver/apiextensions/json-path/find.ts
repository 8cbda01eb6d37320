// What a path finds in an object (k8s.io/client-go/util/jsonpath, FindResults with missing keys allowed). Paths may look at everything many times,
// so the values that they visit are counted.
import { JsonPathError, type Node, type Path } from './nodes.ts';

type Of<Kind extends Node['kind']> = Node & { kind: Kind };

/** Counts the values that one search may still visit. */
export class Visits {
  left: number;

  constructor(left: number) {
    this.left = left;
  }

  /** Throws `JsonPathError`. */
  spend(count: number): void {
    this.left -= count;
    if (this.left < 0) throw new JsonPathError('the path visits too many values');
  }
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** All that a value holds; of a text its bytes. */
function contents(value: unknown, visits: Visits): unknown[] {
  const held = isMap(value)
    ? Object.values(value)
    : Array.isArray(value)
      ? (value as unknown[])
      : typeof value === 'string'
        ? textBytes(value, visits)
        : [];
  visits.spend(held.length);
  return held;
}

function textBytes(text: string, visits: Visits): number[] {
  visits.spend(text.length);
  return [...new TextEncoder().encode(text)];
}

function field(values: readonly unknown[], name: string): unknown[] {
  return values.flatMap((value) => (isMap(value) && Object.hasOwn(value, name) ? [value[name]] : []));
}

function recursive(values: readonly unknown[], visits: Visits): unknown[] {
  const found: unknown[] = [];
  const waiting = [...values].reverse();
  while (waiting.length > 0) {
    const value = waiting.pop();
    const held = contents(value, visits);
    if (held.length === 0) continue;
    found.push(value);
    for (let at = held.length - 1; at >= 0; at--) waiting.push(held[at]);
  }
  return found;
}

const outOfBounds = (index: number, length: number): JsonPathError =>
  new JsonPathError(`array index out of bounds: index ${index}, length ${length}`);

function slice(values: readonly unknown[], { from, to, step = 1, isIndex }: Of<'slice'>, visits: Visits): unknown[] {
  const found: unknown[] = [];
  for (const value of values) {
    if (value === null) continue;
    if (!Array.isArray(value)) throw new JsonPathError('the value is not array or slice');
    const { length } = value;
    const start = (from ?? 0) < 0 ? (from ?? 0) + length : (from ?? 0);
    // One item is the slice that ends after it, counted from the same end of the list.
    const given = isIndex ? (from ?? 0) + 1 : (to ?? length);
    const end = given < 0 || (isIndex && given === 0) ? given + length : given;
    if (start === end) return found;
    if (start >= length || start < 0) throw outOfBounds(start, length);
    if (end > length || end < 0) throw outOfBounds(end - 1, length);
    if (start > end) throw new JsonPathError(`starting index ${start} is greater than ending index ${end}`);
    if (step <= 0) throw new JsonPathError('step must be > 0');
    visits.spend(Math.ceil((end - start) / step));
    for (let at = start; at < end; at += step) found.push(value[at]);
  }
  return found;
}

const orders: Readonly<Record<string, (order: number) => boolean>> = {
  '==': (order) => order === 0,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

/** Values of one kind only: whole numbers are another than others. */
const kindOf = (value: unknown): string =>
  typeof value === 'number' ? (Number.isInteger(value) ? 'int' : 'float') : typeof value;

function compare(left: unknown, right: unknown, operator: string): boolean {
  const holds = Object.hasOwn(orders, operator) ? orders[operator] : undefined;
  if (!holds) throw new JsonPathError(`unrecognized filter operator ${operator}`);
  if (typeof left === 'object' || (typeof left === 'boolean' && !/^[!=]=$/.test(operator)))
    throw new JsonPathError('invalid type for comparison');
  if (kindOf(left) !== kindOf(right)) throw new JsonPathError('incompatible types for comparison');
  const [one, two] = [left as string, right as string];
  return holds(one < two ? -1 : one > two ? 1 : 0);
}

const single = (values: readonly unknown[]): unknown => {
  if (values.length > 1) throw new JsonPathError('can only compare one element at a time');
  return values[0];
};

/** What cannot be followed counts as there. */
function exists(item: unknown, path: Path, visits: Visits): boolean {
  try {
    return follow([item], path, visits).length > 0;
  } catch (error) {
    if (error instanceof JsonPathError && visits.left >= 0) return true;
    throw error;
  }
}

function passes(item: unknown, { left, operator, right }: Of<'filter'>, visits: Visits): boolean {
  visits.spend(1);
  if (operator === 'exists') return exists(item, left, visits);
  const lefts = follow([item], left, visits);
  if (lefts.length === 0) return false;
  const one = single(lefts);
  const rights = follow([item], right, visits);
  return rights.length > 0 && compare(one, single(rights), operator);
}

function filter(values: readonly unknown[], node: Of<'filter'>, visits: Visits): unknown[] {
  return values.flatMap((value) => {
    if (!Array.isArray(value)) throw new JsonPathError('the value is not array or slice and cannot be filtered');
    return (value as unknown[]).filter((item) => passes(item, node, visits));
  });
}

function step(values: readonly unknown[], node: Node, visits: Visits): readonly unknown[] {
  visits.spend(1 + values.length);
  switch (node.kind) {
    case 'field':
      return field(values, node.name);
    case 'wildcard':
      return values.flatMap((value) => contents(value, visits));
    case 'recursive':
      return recursive(values, visits);
    case 'slice':
      return slice(values, node, visits);
    case 'union':
      return node.paths.flatMap((path) => follow(values, path, visits));
    case 'filter':
      return filter(values, node, visits);
    case 'constant':
      return typeof node.value === 'string' ? [node.value] : values.map(() => node.value);
    case 'word':
      throw new JsonPathError(`unrecognized identifier ${node.name}`);
  }
}

/** The values that a path leads to from any of these. Throws `JsonPathError`. */
export function follow(values: readonly unknown[], path: Path, visits: Visits): readonly unknown[] {
  return path.reduce<readonly unknown[]>((found, node) => step(found, node, visits), values);
}
