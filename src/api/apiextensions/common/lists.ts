// Sets and lists with keys hold nothing twice (apiextensions-apiserver, pkg/apiserver/schema/listtype).
import type { JSONSchemaProps } from '#api/apiextensions/v1';
import { duplicate, type FieldError, invalid } from '#apimachinery/field';
import { own } from '#utils';
import {
  describedEntries,
  entryOf,
  fieldOf,
  isObject,
  itemOf,
  type JsonObject,
  otherEntries,
  type Place,
  schemaItems,
} from './structure.ts';

/** Of everything that is there more than once, the second place. */
function repeated(values: readonly unknown[]): number[] {
  const times = new Map<unknown, number>();
  return values.flatMap((value, index) => {
    const key = typeof value === 'object' && value !== null ? JSON.stringify(value) : `${typeof value}:${String(value)}`;
    const seen = times.get(key) ?? 0;
    times.set(key, seen + 1);
    return seen === 1 ? [index] : [];
  });
}

function mapListErrors(schema: JSONSchemaProps, list: readonly unknown[], place: Place): FieldError[] {
  const wrong = list.findIndex((item) => item !== null && !isObject(item));
  if (wrong >= 0) return [invalid(itemOf(place, wrong), list[wrong], 'must be an object for an array of list-type map')];
  const keys = list.map((item) => {
    const fields = isObject(item) ? item : {};
    const names = (schema['x-kubernetes-list-map-keys'] ?? []).filter((name) => own(fields, name) !== undefined).sort();
    return Object.fromEntries(names.map((name) => [name, own(fields, name)]));
  });
  return repeated(keys).map((index) => duplicate(itemOf(place, index), keys[index]));
}

export function validateLists(schema: JSONSchemaProps | undefined, value: unknown, place?: Place): FieldError[] {
  if (!schema || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) {
    const listType = schema['x-kubernetes-list-type'];
    const problems =
      listType === 'set'
        ? repeated(value).map((index) => duplicate(itemOf(place, index), value[index]))
        : listType === 'map'
          ? mapListErrors(schema, value, place)
          : [];
    const items = schemaItems(schema);
    return items ? [...problems, ...value.flatMap((item, index) => validateLists(items, item, itemOf(place, index)))] : problems;
  }
  const others = otherEntries(schema);
  const { properties = {} } = schema;
  const errors: FieldError[] = [];
  for (const [name, item] of describedEntries(schema, value as JsonObject)) {
    if (others) errors.push(...validateLists(others, item, entryOf(place, name)));
    if (Object.hasOwn(properties, name)) errors.push(...validateLists(properties[name], item, fieldOf(place, name)));
  }
  return errors;
}
