// What a structural schema says about the shape of values: which part of an old value a part of a new one was
// (k8s.io/apiserver/pkg/cel/common, CorrelatedObject and MakeMapList).
import type { JSONSchemaProps } from '#api/apiextensions/v1';
import { Path, root } from '#apimachinery/field';
import { firstOfEach, own, setOwn } from '#utils';

export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const schemaItems = ({ items }: JSONSchemaProps): JSONSchemaProps | undefined =>
  Array.isArray(items) ? undefined : items;

/** The schema of entries that no property describes. */
export const otherEntries = ({ additionalProperties: more }: JSONSchemaProps): JSONSchemaProps | undefined =>
  isObject(more) ? (more as JSONSchemaProps) : undefined;

/** The members of an object of which the schema says something, in the object's order: it may have very many others. */
export function describedEntries(schema: JSONSchemaProps, value: JsonObject): [string, unknown][] {
  const { properties = {} } = schema;
  const isDescribed = otherEntries(schema) ? () => true : (name: string): boolean => Object.hasOwn(properties, name);
  return Object.keys(value)
    .filter(isDescribed)
    .map((name) => [name, value[name]]);
}

export const isMapList = (schema: JSONSchemaProps): boolean => schema['x-kubernetes-list-type'] === 'map';

/** The keys of an item of a list with keys, defaults filled in. */
export function itemKey(schema: JSONSchemaProps, item: JsonObject): JsonObject {
  const properties = schemaItems(schema)?.properties ?? {};
  const key: JsonObject = {};
  for (const name of schema['x-kubernetes-list-map-keys'] ?? []) {
    const value = own(item, name) ?? own(properties, name)?.default;
    if (value !== undefined) setOwn(key, name, value);
  }
  return key;
}

/** The item of an old list with the same keys; undefined: none, or the list has no keys. */
export function correlatedItem(schema: JSONSchemaProps, item: unknown, old: unknown): { value: unknown } | undefined {
  if (!isMapList(schema) || !isObject(item) || !Array.isArray(old)) return undefined;
  let known = itemsByKey.get(old);
  if (known?.schema !== schema)
    itemsByKey.set(old, (known = { schema, items: firstOfEach(old.filter(isObject), (one) => keyText(schema, one)) }));
  const found = known.items.get(keyText(schema, item));
  return found === undefined ? undefined : { value: found };
}

/** Keys are texts, numbers and booleans, in the order that the schema names them. */
const keyText = (schema: JSONSchemaProps, item: JsonObject): string => JSON.stringify(itemKey(schema, item));

/** Of old lists, which nobody changes: each item of a new one is looked for in them. */
const itemsByKey = new WeakMap<readonly unknown[], { schema: JSONSchemaProps; items: ReadonlyMap<string, JsonObject> }>();

/** Where a value is; undefined: it is the whole object. */
export type Place = Path | undefined;

export const fieldOf = (place: Place, name: string): Path => (place ? place.child(name) : root(name));
export const entryOf = (place: Place, name: string): Path => (place ? place.key(name) : new Path(undefined, name, true));
export const itemOf = (place: Place, index: number): Path =>
  place ? place.index(index) : new Path(undefined, String(index), true);
