// The paths a value occupies (sigs.k8s.io/structured-merge-diff, ToFieldSet and the added side of Compare). This is the hot path of every
// create: it finds the FieldsV1 tree directly, fields in their final order.
import { sortedElements } from './element.ts';
import { emptySet, type FieldNode, type FieldSet, leaf } from './field-set.ts';
import { isEmptyObject, isObject, type JsonObject } from './json.ts';
import { NodeBuilder } from './node-table.ts';
import type { ListShape, MapShape, Shape } from './shape.ts';
import { granularList, granularMap, itemElement, presentFields } from './typed.ts';

const isHollow = (value: unknown): boolean => value === null || (isObject(value) && isEmptyObject(value));

function sortedKeys(object: JsonObject): string[] {
  const keys = Object.keys(object);
  return keys.length > 1 ? keys.sort() : keys;
}

function mapNode(map: MapShape, object: JsonObject, member: boolean, all: boolean): FieldNode | undefined {
  const out = new NodeBuilder(member);
  const visit = (element: string, shape: Shape, value: unknown, named: boolean): void => {
    const node = nodeAt(shape, value, all || !named || isHollow(value), all);
    if (node !== undefined) out.add(element, node);
  };
  if (map.element === undefined) {
    for (const field of presentFields(map, object)) {
      const value = object[field.name];
      if (value !== undefined) visit(field.element, field.shape, value, true);
    }
  } else {
    for (const key of sortedKeys(object)) {
      const named = map.byName.get(key);
      if (object[key] !== undefined) visit(`f:${key}`, named?.shape ?? map.element, object[key], named !== undefined);
    }
  }
  return out.node();
}

// An item that occurs more than once is owned whole: its copies cannot be told apart.
function listNode(list: ListShape, items: readonly unknown[], member: boolean, all: boolean): FieldNode | undefined {
  const out = new NodeBuilder(member);
  const nodeOf = (item: unknown): FieldNode => nodeAt(list.element, item, true, all) ?? leaf;
  if (items.length === 1) {
    const element = itemElement(list, items[0]);
    out.add(element, nodeOf(items[0]));
    return out.node();
  }
  const nodes = new Map<string, FieldNode>();
  for (const item of items) {
    const element = itemElement(list, item);
    nodes.set(element, nodes.has(element) ? leaf : nodeOf(item));
  }
  for (const element of sortedElements([...nodes.keys()])) out.add(element, nodes.get(element) ?? leaf);
  return out.node();
}

function nodeAt(shape: Shape, value: unknown, member: boolean, all: boolean): FieldNode | undefined {
  if (value === null || typeof value !== 'object') {
    if (value !== null) return leaf;
    return member || (granularMap(shape, null) === undefined && granularList(shape, null) === undefined) ? leaf : undefined;
  }
  const map = granularMap(shape, value);
  if (map !== undefined) return mapNode(map, isObject(value) ? value : {}, member, all);
  const list = granularList(shape, value);
  if (list !== undefined) return listNode(list, Array.isArray(value) ? value : [], member, all);
  return leaf;
}

/** The paths a configuration states: what an applier owns. Structs are not members themselves, items and map entries are. */
export function fieldSetOf(shape: Shape, object: JsonObject): FieldSet {
  const map = granularMap(shape, object);
  return map === undefined ? emptySet : (mapNode(map, object, false, false) ?? emptySet);
}

/** The paths below a map that was empty before. */
export const everyField = (map: MapShape, object: JsonObject): FieldNode | undefined => mapNode(map, object, false, true);

/** The paths below a list that was empty before. */
export const everyItem = (list: ListShape, items: readonly unknown[]): FieldNode | undefined =>
  listNode(list, items, false, true);

/** The node of a value that appears or disappears as a whole: every step of every path. */
export const everyPath = (shape: Shape, value: unknown): FieldNode => nodeAt(shape, value, true, true) ?? leaf;
