// What changed between two objects of a type (sigs.k8s.io/structured-merge-diff, Compare), as three sets of paths.
import { deepEqual, own } from '#utils';
import { everyField, everyItem, everyPath } from './collect.ts';
import { type FieldNode, type FieldSet, emptySet, leaf, nodeOf } from './field-set.ts';
import { isEmptyObject, isObject, type JsonObject } from './json.ts';
import { NodeBuilder } from './node-table.ts';
import type { ListShape, MapShape, Shape } from './shape.ts';
import { asList, asMap, childShape, formOf, granularList, granularMap, itemElement, presentFields } from './typed.ts';

export interface Comparison {
  added: FieldSet;
  modified: FieldSet;
  removed: FieldSet;
}

interface Change {
  added?: FieldNode;
  modified?: FieldNode;
  removed?: FieldNode;
}

const sides = ['added', 'modified', 'removed'] as const;
const same: Change = Object.freeze({});
const changed: Change = Object.freeze({ modified: leaf });

/** Gathers the changes of children under one parent. */
class Gathering {
  readonly #nodes: Partial<Record<(typeof sides)[number], NodeBuilder>> = {};

  put(element: string, change: Change): void {
    if (change === same) return;
    for (const side of sides) {
      const node = change[side];
      if (node !== undefined) (this.#nodes[side] ??= new NodeBuilder(false)).put(element, node);
    }
  }

  result(): Change {
    let out: Change | undefined;
    for (const side of sides) {
      const node = this.#nodes[side]?.node();
      if (node !== undefined) (out ??= {})[side] = node;
    }
    return out ?? same;
  }
}

/** What comes where nothing was: on the way of every create. */
const onlyAdded = (added: FieldNode | undefined): Change => (added === undefined ? same : { added });

function compareMaps(map: MapShape, left: JsonObject, right: JsonObject): Change {
  if (isEmptyObject(left)) return onlyAdded(everyField(map, right));
  const gathering = new Gathering();
  const visit = (key: string, shape: Shape | undefined): void => {
    const [before, after] = [own(left, key), own(right, key)];
    if (before !== after && shape !== undefined) gathering.put(`f:${key}`, compareValues(shape, before, after));
  };
  if (map.element === undefined) {
    for (const field of presentFields(map, right, left)) visit(field.name, field.shape);
  } else {
    const keys = Object.keys(right);
    for (const key in left) if (!Object.hasOwn(right, key)) keys.push(key);
    for (const key of keys.sort()) visit(key, childShape(map, key));
  }
  return gathering.result();
}

function groupItems(list: ListShape, items: readonly unknown[]): Map<string, unknown[]> {
  const groups = new Map<string, unknown[]>();
  for (const item of items) {
    const element = itemElement(list, item);
    const group = groups.get(element);
    if (group === undefined) groups.set(element, [item]);
    else group.push(item);
  }
  return groups;
}

// Copies of one item are compared as a group: they cannot be told apart.
function compareGroups(shape: Shape, left: readonly unknown[], right: readonly unknown[]): Change {
  if (left.length <= 1 && right.length <= 1) return compareValues(shape, left[0], right[0]);
  if (left.length > 1 && right.length > 1) return deepEqual(left, right) ? same : changed;
  if (left.length > 1) {
    const added = right.length === 0 ? same : compareValues(shape, undefined, right[0]);
    return { ...added, removed: leaf };
  }
  const removed = left.length === 0 ? same : compareValues(shape, left[0], undefined);
  return { ...removed, added: leaf };
}

function compareLists(list: ListShape, left: readonly unknown[], right: readonly unknown[]): Change {
  if (left.length === 0) return onlyAdded(everyItem(list, right));
  const before = groupItems(list, left);
  const after = groupItems(list, right);
  const gathering = new Gathering();
  for (const [element, items] of before) gathering.put(element, compareGroups(list.element, items, after.get(element) ?? []));
  for (const [element, items] of after) if (!before.has(element)) gathering.put(element, compareGroups(list.element, [], items));
  return gathering.result();
}

// A value that turned from one form into another: its old items go, its new ones come.
function compareForms(shape: Shape, left: unknown, right: unknown): Change {
  const withoutSelf = (value: unknown): FieldNode | undefined => {
    const { '.': _, ...children } = everyPath(shape, value);
    return nodeOf(false, children);
  };
  const isLeaf = (value: unknown): boolean => isEmptyObject(everyPath(shape, value));
  const removed = withoutSelf(left);
  const added = withoutSelf(right);
  return {
    ...(added !== undefined && { added }),
    ...((isLeaf(left) || isLeaf(right)) && { modified: leaf }),
    ...(removed !== undefined && { removed }),
  };
}

const isHollow = (value: unknown): boolean =>
  value === null || (Array.isArray(value) ? value.length === 0 : isObject(value) && isEmptyObject(value));

function compareValues(shape: Shape, left: unknown, right: unknown): Change {
  if (left === right) return same;
  if (left === undefined) return { added: everyPath(shape, right) };
  if (right === undefined) return { removed: everyPath(shape, left) };
  const sample = right === null ? left : right;
  if (left !== null && right !== null && formOf(shape, left) !== formOf(shape, right)) return compareForms(shape, left, right);
  if (!(isHollow(left) && isHollow(right))) {
    const map = granularMap(shape, sample);
    if (map !== undefined) return compareMaps(map, asMap(left), asMap(right));
    const list = granularList(shape, sample);
    if (list !== undefined) return compareLists(list, asList(left), asList(right));
  }
  return deepEqual(left, right) ? same : changed;
}

/** What it takes to get from `left` to `right`. */
export function compareObjects(shape: Shape, left: JsonObject, right: JsonObject): Comparison {
  const { added = emptySet, modified = emptySet, removed = emptySet } = compareValues(shape, left, right);
  return { added, modified, removed };
}
