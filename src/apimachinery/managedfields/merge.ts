// A configuration laid over an object (sigs.k8s.io/structured-merge-diff, Merge): what the configuration states wins, the rest stays.
import { deepEqual, own, setOwn } from '#utils';
import { isEmptyObject, isObject, type JsonObject } from './json.ts';
import type { ListShape, MapShape, Shape } from './shape.ts';
import { asList, asMap, childShape, formOf, granularList, granularMap, itemElement } from './typed.ts';

const isHollow = (value: unknown): boolean =>
  value === null || value === undefined || (Array.isArray(value) ? value.length === 0 : isObject(value) && isEmptyObject(value));

function mergeMaps(map: MapShape, left: JsonObject, right: JsonObject): JsonObject {
  const out: Record<string, unknown> = { ...left };
  for (const key in right) {
    const shape = childShape(map, key);
    setOwn(out, key, shape === undefined ? right[key] : mergeValues(shape, own(left, key), right[key]));
  }
  return out;
}

interface Item {
  element: string;
  value: unknown;
}

const itemsOf = (list: ListShape, values: readonly unknown[]): Item[] =>
  values.map((value) => ({ element: itemElement(list, value), value }));

/**
 * Items keep the object's order; those the configuration states come in the configuration's order, each as early as that allows. Items
 * that both have are the anchors between which the others are placed.
 */
function mergeLists(list: ListShape, left: readonly unknown[], right: readonly unknown[]): unknown[] {
  const before = itemsOf(list, left);
  const after = itemsOf(list, right);
  const inBefore = new Map<string, unknown>();
  for (const { element, value } of before) inBefore.set(element, inBefore.has(element) ? null : value);
  const inAfter = new Map(after.map((item) => [item.element, item.value]));
  const anchors = after.filter((item) => inBefore.has(item.element)).map((item) => item.element);
  const placed = new Set<string>();
  let anchor = 0;
  const out: unknown[] = [];
  const place = ({ element, value }: Item): void => {
    placed.add(element);
    out.push(mergeValues(list.element, inBefore.get(element), value));
    if (anchors[anchor] === element) anchor++;
  };
  let l = 0;
  let r = 0;
  while (l < before.length || r < after.length) {
    const old = before[l];
    const stated = after[r];
    if (old !== undefined && stated !== undefined) {
      if (old.element === stated.element) {
        place(stated);
        l++;
        r++;
        continue;
      }
      if (inAfter.has(old.element) && anchors[anchor] !== undefined && anchors[anchor] !== old.element) {
        l++;
        continue;
      }
    }
    if (old !== undefined && !inAfter.has(old.element)) {
      out.push(old.value);
      l++;
      continue;
    }
    if (old !== undefined && placed.has(old.element)) l++;
    if (stated !== undefined) {
      place(stated);
      r++;
    }
  }
  return out;
}

/** Lays `right` over `left`; undefined means absent. Throws ShapeError for items that cannot be named. */
export function mergeValues(shape: Shape, left: unknown, right: unknown): unknown {
  if (right === undefined) return left;
  if (left === undefined) return right;
  if (isHollow(left) && isHollow(right)) return right;
  if (left !== null && right !== null && formOf(shape, left) !== formOf(shape, right)) return right;
  const sample = right === null ? left : right;
  const map = granularMap(shape, sample);
  if (map !== undefined) return mergeMaps(map, asMap(left), asMap(right));
  const list = granularList(shape, sample);
  if (list !== undefined) return mergeLists(list, asList(left), asList(right));
  return deepEqual(left, right) ? left : right;
}
