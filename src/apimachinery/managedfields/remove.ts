// Taking fields out of an object (sigs.k8s.io/structured-merge-diff, RemoveItems), and the paths that stand for a struct that was emptied.
import { setOwn } from '#utils';
import { type FieldNode, type FieldSet, isEmptySet, isMember, nodeOf, noteWidth } from './field-set.ts';
import { isObject, type JsonObject } from './json.ts';
import type { ListShape, MapShape, Shape } from './shape.ts';
import { childShape, granularList, granularMap, itemElementOrNone } from './typed.ts';

function removeFromMap(map: MapShape, object: JsonObject, set: FieldNode): JsonObject {
  const out: Record<string, unknown> = {};
  for (const key in object) {
    const node = set[`f:${key}`];
    if (node === undefined) setOwn(out, key, object[key]);
    else if (!isMember(node)) {
      const shape = childShape(map, key);
      setOwn(out, key, shape === undefined ? object[key] : removeValue(shape, object[key], node));
    }
  }
  return out;
}

function removeFromList(list: ListShape, items: readonly unknown[], set: FieldNode): unknown[] {
  const out: unknown[] = [];
  for (const item of items) {
    const element = itemElementOrNone(list, item);
    const node = element === undefined ? undefined : set[element];
    if (node === undefined) out.push(item);
    else if (!isMember(node)) out.push(removeValue(list.element, item, node));
  }
  return out;
}

function removeValue(shape: Shape, value: unknown, set: FieldNode): unknown {
  const map = granularMap(shape, value);
  if (map !== undefined && isObject(value)) return removeFromMap(map, value, set);
  const list = granularList(shape, value);
  return list !== undefined && Array.isArray(value) ? removeFromList(list, value, set) : value;
}

/** The object without the members of the set. Collections that lose everything stay, empty. */
export const removeFields = (shape: Shape, object: JsonObject, set: FieldSet): JsonObject => {
  const map = granularMap(shape, object);
  return map === undefined ? object : removeFromMap(map, object, set);
};

/** The set with every declared field on the way to a member made a member itself. */
export function withNamedParents(shape: Shape | undefined, set: FieldNode): FieldNode {
  const out: Record<string, FieldNode> = {};
  let width = 0;
  for (const element in set) {
    const node = set[element];
    if (node === undefined) continue;
    // Nothing is below most members, and they stay what they are.
    if (element === '.' || isEmptySet(node)) {
      out[element] = node;
      width++;
      continue;
    }
    const named = element.startsWith('f:') ? shape?.map?.byName.get(element.slice(2)) : undefined;
    const below = element.startsWith('f:') ? (named?.shape ?? shape?.map?.element) : shape?.list?.element;
    const { '.': _, ...children } = withNamedParents(below, node);
    const out_ = nodeOf(isMember(node) || named !== undefined, children);
    if (out_ === undefined) continue;
    out[element] = out_;
    width++;
  }
  return noteWidth(out, width);
}
