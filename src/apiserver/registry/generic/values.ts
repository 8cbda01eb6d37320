// Comparisons of plain JSON values.
import { own, setOwn } from '#utils';

/** Whether two JSON values are exactly equal, except for the order of members: an empty map differs from an absent one. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    for (let i = 0; i < left.length; i++) if (!sameJson(left[i], right[i])) return false;
    return true;
  }
  const a = left as Record<string, unknown>;
  const b = right as Record<string, unknown>;
  for (const key in a) if (!sameJson(a[key], own(b, key))) return false;
  for (const key in b) if (b[key] !== undefined && own(a, key) === undefined) return false;
  return true;
}

/** Upstream's semantic equality on JSON: absent, null and an empty list or map are the same. */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (isEmpty(left) && isEmpty(right)) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    for (let i = 0; i < left.length; i++) if (!deepEqual(left[i], right[i])) return false;
    return true;
  }
  if (Array.isArray(right)) return false;
  const a = left as Record<string, unknown>;
  const b = right as Record<string, unknown>;
  for (const key in a) if (!deepEqual(a[key], own(b, key))) return false;
  for (const key in b) if (!Object.hasOwn(a, key) && !isEmpty(b[key])) return false;
  return true;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}

/** What an object is to the schema of a definition: nothing, a schema, or schemas by the names of fields, which may be called as members of schemas are. */
type Place = 'outside' | 'schema' | 'fields';
const schemasByName = new Set(['properties', 'patternProperties', 'definitions', 'dependencies']);
const valuesInSchemas = new Set(['default', 'example', 'enum']);

function placeOf(place: Place, key: string): Place {
  if (place === 'outside') return key === 'openAPIV3Schema' ? 'schema' : 'outside';
  return place === 'schema' && schemasByName.has(key) ? 'fields' : 'schema';
}

/**
 * Whether a member holds what has no type, where a null is a value: who manages fields, a revision of a controller, the parameters of a device driver
 * and what it says of a device, values in the schema of a definition. Other types have members of the same names that are maps of texts, where a null counts as absent.
 */
function isOpaque(object: Readonly<Record<string, unknown>>, key: string, place: Place): boolean {
  if (place !== 'outside') return place === 'schema' && valuesInSchemas.has(key);
  if (key === 'data')
    return (
      object['kind'] === 'ControllerRevision' || (typeof object['driver'] === 'string' && typeof object['device'] === 'string')
    );
  if (key === 'parameters') return typeof object['driver'] === 'string';
  return key === 'managedFields';
}

/** The value without the null members of its objects. Parts without nulls are shared. It is for rules and printers, which look at stored objects. */
export function withoutNulls<T>(value: T, place: Place = 'outside'): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (let at = 0; at < value.length; at++) {
      const item: unknown = value[at];
      const clean = withoutNulls(item, place);
      if (clean !== item) (copy ??= [...(value as unknown[])])[at] = clean;
    }
    return (copy ?? value) as T;
  }
  const object = value as Record<string, unknown>;
  let copy: Record<string, unknown> | undefined;
  for (const key in object) {
    const item = object[key];
    if (item !== null && isOpaque(object, key, place)) continue;
    const clean = withoutNulls(item, placeOf(place, key));
    if (clean === null) delete (copy ??= { ...object })[key];
    else if (clean !== item) setOwn((copy ??= { ...object }), key, clean);
  }
  return (copy ?? value) as T;
}

/** Removes null members of objects, in place: decoding writes them for unset fields, rules are simpler without. */
export function dropNulls(value: unknown, place: Place = 'outside'): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) dropNulls(item, place);
    return;
  }
  const object = value as Record<string, unknown>;
  for (const key in object) {
    if (object[key] === null) delete object[key];
    else if (typeof object[key] === 'object' && !isOpaque(object, key, place)) dropNulls(object[key], placeOf(place, key));
  }
}
