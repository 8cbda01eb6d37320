// Values seen through their shape (sigs.k8s.io/structured-merge-diff, typed): what kind of thing a value is, and what its items are called.
import { own } from '#utils';
import { keyElement, valueElement } from './element.ts';
import { isObject, type JsonObject } from './json.ts';
import type { FieldShape, ListShape, MapShape, Shape } from './shape.ts';

/** A value that does not fit its shape. */
export class ShapeError extends Error {}

/** Which of its possible forms a value takes; null takes the first one the shape knows. */
export function formOf(shape: Shape, value: unknown): 'map' | 'list' | 'scalar' {
  if (Array.isArray(value)) {
    if (shape.list !== undefined) return 'list';
  } else if (typeof value === 'object' && value !== null) {
    if (shape.map !== undefined) return 'map';
  } else if (value !== null && value !== undefined && shape.scalar !== undefined) {
    return 'scalar';
  }
  if (shape.map !== undefined) return 'map';
  return shape.scalar === undefined && shape.list !== undefined ? 'list' : 'scalar';
}

/** The map a value is, owned key by key, or undefined when it is owned whole. */
export const granularMap = (shape: Shape, value: unknown): MapShape | undefined =>
  shape.map !== undefined && !shape.map.atomic && formOf(shape, value) === 'map' ? shape.map : undefined;

/** The list a value is, owned item by item, or undefined when it is owned whole. */
export const granularList = (shape: Shape, value: unknown): ListShape | undefined =>
  shape.list !== undefined && !shape.list.atomic && formOf(shape, value) === 'list' ? shape.list : undefined;

/** The shape below a key, or undefined when the key may not be there. */
export const childShape = (map: MapShape, key: string): Shape | undefined => map.byName.get(key)?.shape ?? map.element;

/** The declared fields an object has, or two objects have, in element order. Objects have few of the fields of their type. */
export function presentFields(map: MapShape, object: JsonObject, other?: JsonObject): FieldShape[] {
  const fields: FieldShape[] = [];
  for (const name in object) insert(fields, map.byName.get(name));
  if (other !== undefined) for (const name in other) if (own(object, name) === undefined) insert(fields, map.byName.get(name));
  return fields;
}

function insert(fields: FieldShape[], field: FieldShape | undefined): void {
  if (field === undefined) return;
  let at = fields.length;
  fields.push(field);
  for (let before = fields[at - 1]; before !== undefined && before.order > field.order; before = fields[at - 1])
    fields[at--] = before;
  fields[at] = field;
}

/** What an item of a granular list is called. Throws ShapeError. */
export function itemElement(list: ListShape, item: unknown): string {
  if (list.keys.length > 0) return keyedElement(list, item);
  if (Array.isArray(item)) throw new ShapeError('not supported: associative list with lists as elements');
  if (item === null) throw new ShapeError("associative list without keys has an element that's an explicit null");
  if (typeof item === 'object') throw new ShapeError("associative list without keys has an element that's a map type");
  return valueElement(item);
}

function keyedElement(list: ListShape, item: unknown): string {
  if (item === null) throw new ShapeError('associative list with keys may not have a null element');
  if (!isObject(item)) throw new ShapeError('associative list with keys may not have non-map elements');
  const keys: [string, unknown][] = [];
  for (const key of list.keys) {
    const given = own(item, key.name);
    const value = given === undefined ? key.default : given;
    if (value !== undefined) keys.push([key.name, value]);
  }
  if (keys.length > 0) return keyElement(keys);
  const names = list.keys.map((key) => `"${key.name}"`).join(' ');
  throw new ShapeError(
    `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
  );
}

/** The item's name, or undefined when it has none (a stored object may be malformed; it is then not tracked item by item). */
export function itemElementOrNone(list: ListShape, item: unknown): string | undefined {
  try {
    return itemElement(list, item);
  } catch (error) {
    if (error instanceof ShapeError) return undefined;
    throw error;
  }
}

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const asMap = (value: unknown): JsonObject => (isObject(value) ? value : {});
