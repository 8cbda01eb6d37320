// Does a configuration fit its type (sigs.k8s.io/structured-merge-diff, Validate)? Only applied objects are asked: others went through the
// strict decoder.
import { goPrint, goSyntax, goTypeName } from '#utils';
import { elementText } from './element.ts';
import { isObject, type JsonObject } from './json.ts';
import type { ListShape, MapShape, Scalar, Shape } from './shape.ts';
import { childShape, formOf, itemElement, ShapeError } from './typed.ts';

/** A value of a Go type that JSON does not have. No schema accepts it; the failure names its type and its text. */
export class ForeignValue {
  readonly goType: string;
  /** As Go prints it. */
  readonly text: string;
  constructor(goType: string, text: string) {
    this.goType = goType;
    this.text = text;
  }
}

const typeOf = (value: unknown): string => (value instanceof ForeignValue ? value.goType : goTypeName(value));
const printed = (value: unknown): string => (value instanceof ForeignValue ? value.text : goPrint(value));
const syntax = (value: unknown): string => (value instanceof ForeignValue ? value.text : goSyntax(value));

export interface ShapeProblem {
  path: string;
  message: string;
}

const isScalar = (value: unknown): boolean =>
  typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean';

function scalarProblem(scalar: Scalar, value: unknown): string | undefined {
  switch (scalar) {
    case 'numeric':
      return typeof value === 'number' ? undefined : `expected numeric (int or float), got ${typeOf(value)}`;
    case 'string':
      return typeof value === 'string' ? undefined : `expected string, got &value.valueUnstructured{Value:${syntax(value)}}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got &{${printed(value)}}`;
    case 'untyped':
      return isScalar(value) ? undefined : `expected any scalar, got &{${printed(value)}}`;
  }
}

function mapProblems(map: MapShape, object: JsonObject, path: string): ShapeProblem[] {
  const problems: ShapeProblem[] = [];
  for (const key of Object.keys(object).sort()) {
    const shape = childShape(map, key);
    if (shape === undefined) return [...problems, { path: `${path}.${key}`, message: 'field not declared in schema' }];
    problems.push(...shapeProblems(shape, object[key], `${path}.${key}`));
  }
  return problems;
}

function listProblems(list: ListShape, items: readonly unknown[], path: string): ShapeProblem[] {
  const problems: ShapeProblem[] = [];
  const seen = new Set<string>();
  for (const [i, item] of items.entries()) {
    if (list.atomic) {
      problems.push(...shapeProblems(list.element, item, `${path}[${i}]`));
      continue;
    }
    try {
      const element = itemElement(list, item);
      if (seen.has(element)) problems.push({ path, message: `duplicate entries for key ${elementText(element)}` });
      seen.add(element);
      problems.push(...shapeProblems(list.element, item, path + elementText(element)));
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error;
      return [...problems, { path, message: `element ${i}: ${error.message}` }];
    }
  }
  return problems;
}

/** All that does not fit in a value of that shape. */
export function shapeProblems(shape: Shape, value: unknown, path = ''): ShapeProblem[] {
  if (value === null || value === undefined) return [];
  const form = value instanceof ForeignValue && shape.scalar !== undefined ? 'scalar' : formOf(shape, value);
  if (form === 'map' && shape.map !== undefined) {
    return isObject(value) && !(value instanceof ForeignValue)
      ? mapProblems(shape.map, value, path)
      : [{ path, message: `expected map, got &{${printed(value)}}` }];
  }
  if (form === 'list' && shape.list !== undefined) {
    return Array.isArray(value)
      ? listProblems(shape.list, value, path)
      : [{ path, message: `expected list, got &{${printed(value)}}` }];
  }
  const message = scalarProblem(shape.scalar ?? 'untyped', value);
  return message === undefined ? [] : [{ path, message }];
}

/** The problems as upstream words them together. */
export function problemText(problems: readonly ShapeProblem[]): string {
  const texts = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  return texts.length === 1 ? (texts[0] ?? '') : ['errors:', ...texts.map((text) => `  ${text}`)].join('\n');
}
