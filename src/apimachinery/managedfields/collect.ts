// The paths a value occupies (sigs.k8s.io/structured-merge-diff, ToFieldSet and the added side of Compare). This is the hot path of every
// create: it writes the FieldsV1 tree directly, fields in their final order.
import { compareElements } from './element.ts';
import { emptySet, type FieldNode, type FieldSet, leaf, nodeOf } from './field-set.ts';
import { isEmptyObject, isObject, type JsonObject } from './json.ts';
import type { ListShape, MapShape, Shape } from './shape.ts';
import { granularList, granularMap, itemElementOrNone } from './typed.ts';

type Children = Record<string, FieldNode>;

const isHollow = (value: unknown): boolean => value === null || (isObject(value) && isEmptyObject(value));

function mapChildren(map: MapShape, object: JsonObject, all: boolean): Children {
  const out: Children = {};
  if (map.element === undefined) {
    for (const field of map.fields) {
      const value = object[field.name];
      if (value === undefined) continue;
      const node = nodeAt(field.shape, value, all || isHollow(value), all);
      if (node !== undefined) out[field.element] = node;
    }
    return out;
  }
  for (const key of Object.keys(object).sort()) {
    const value = object[key];
    if (value === undefined) continue;
    const named = map.byName.get(key);
    const node = nodeAt(named?.shape ?? map.element, value, all || named === undefined || isHollow(value), all);
    if (node !== undefined) out[`f:${key}`] = node;
  }
  return out;
}

// An item that occurs more than once is owned whole: its copies cannot be told apart.
function listChildren(list: ListShape, items: readonly unknown[], all: boolean): Children {
  const nodes = new Map<string, FieldNode>();
  for (const item of items) {
    const element = itemElementOrNone(list, item);
    if (element === undefined) continue;
    nodes.set(element, nodes.has(element) ? leaf : (nodeAt(list.element, item, true, all) ?? leaf));
  }
  const out: Children = {};
  const elements = [...nodes.keys()];
  if (elements.length > 1) elements.sort(compareElements);
  for (const element of elements) out[element] = nodes.get(element) ?? leaf;
  return out;
}

function nodeAt(shape: Shape, value: unknown, member: boolean, all: boolean): FieldNode | undefined {
  if (value === null || typeof value !== 'object') {
    if (value !== null) return leaf;
    return member || (granularMap(shape, null) === undefined && granularList(shape, null) === undefined) ? leaf : undefined;
  }
  const map = granularMap(shape, value);
  if (map !== undefined) return nodeOf(member, isObject(value) ? mapChildren(map, value, all) : {});
  const list = granularList(shape, value);
  if (list !== undefined) return nodeOf(member, Array.isArray(value) ? listChildren(list, value, all) : {});
  return leaf;
}

/** The paths a configuration states: what an applier owns. Structs are not members themselves, items and map entries are. */
export function fieldSetOf(shape: Shape, object: JsonObject): FieldSet {
  const map = granularMap(shape, object);
  return map === undefined ? emptySet : mapChildren(map, object, false);
}

/** The node of a value that appears or disappears as a whole: every step of every path. */
export const everyPath = (shape: Shape, value: unknown): FieldNode => nodeAt(shape, value, true, true) ?? leaf;
