// Objects inside objects say what they are, and have metadata as all objects have (apiextensions-apiserver, pkg/apiserver/schema/objectmeta).
import type { JSONSchemaProps } from '#api/apiextensions/v1';
import { errorText, type FieldError, invalid, required } from '#apimachinery/field';
import type { ObjectMeta } from '#apimachinery/meta';
import { DecodeError } from '#apimachinery/schema';
import { isDNS1035Label, isPathSegmentName, isPathSegmentPrefix, validateObjectMeta } from '#apimachinery/validation';
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

const pathSegment = (name: string, prefix: boolean): string[] => (prefix ? isPathSegmentPrefix(name) : isPathSegmentName(name));

function versionErrors(value: unknown, place: Place): FieldError[] {
  const path = fieldOf(place, 'apiVersion');
  if (typeof value !== 'string') return [invalid(path, value, 'must be a string')];
  if (value === '') return [invalid(path, value, 'must not be empty')];
  return value.split('/').length > 2 ? [invalid(path, value, `unexpected GroupVersion string: ${value}`)] : [];
}

function kindErrors(value: unknown, place: Place): FieldError[] {
  const path = fieldOf(place, 'kind');
  if (typeof value !== 'string') return [invalid(path, value, 'must be a string')];
  if (value === '') return [invalid(path, value, 'must not be empty')];
  const problems = isDNS1035Label(value.toLowerCase());
  return problems.length > 0
    ? [invalid(path, value, `may have mixed case, but should otherwise match: ${problems.join(',')}`)]
    : [];
}

/** Rules of one embedded object itself. */
function objectErrors(value: JsonObject, place: Place): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['apiVersion', 'kind']) if (value[name] === undefined) errors.push(required(fieldOf(place, name)));
  if (value['apiVersion'] !== undefined) errors.push(...versionErrors(value['apiVersion'], place));
  if (value['kind'] !== undefined) errors.push(...kindErrors(value['kind'], place));
  const { metadata } = value;
  const path = fieldOf(place, 'metadata');
  if (metadata !== undefined && !isObject(metadata)) errors.push(invalid(path, metadata, 'must be an object'));
  else if (metadata) {
    const meta: ObjectMeta = { ...(metadata as ObjectMeta) };
    meta.name ||= 'fakename';
    errors.push(...validateObjectMeta(meta, Boolean(meta.namespace), pathSegment, path));
  }
  return errors;
}

export function validateEmbedded(
  schema: JSONSchemaProps | undefined,
  value: unknown,
  place?: Place,
  isObjectItself = schema?.['x-kubernetes-embedded-resource'] === true,
): FieldError[] {
  if (!schema || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item, at) => validateEmbedded(schemaItems(schema), item, itemOf(place, at)));
  const { properties = {} } = schema;
  const others = otherEntries(schema);
  const errors = isObjectItself ? objectErrors(value as JsonObject, place) : [];
  for (const [name, item] of describedEntries(schema, value as JsonObject)) {
    if (Object.hasOwn(properties, name)) errors.push(...validateEmbedded(properties[name], item, fieldOf(place, name)));
    else if (others) errors.push(...validateEmbedded(others, item, entryOf(place, name)));
  }
  return errors;
}

/** Reads metadata as its type. Throws `DecodeError` for what does not fit the type. */
export type ReadMetadata = (metadata: unknown) => { object: JsonObject; strictErrors: string[] };

/**
 * Makes the metadata of objects inside an object what its type says, in place, as upstream does with what comes from outside
 * (pkg/apiserver/schema/objectmeta, Coerce). Throws the first failure; answers the paths of fields that metadata do not have.
 */
export function coerceEmbedded(
  schema: JSONSchemaProps | undefined,
  value: unknown,
  read: ReadMetadata,
  place?: Place,
  unknown: string[] = [],
): string[] {
  if (!schema || typeof value !== 'object' || value === null) return unknown;
  if (Array.isArray(value)) {
    const items = schemaItems(schema);
    if (items) for (const [at, item] of value.entries()) coerceEmbedded(items, item, read, itemOf(place, at), unknown);
    return unknown;
  }
  const { properties = {} } = schema;
  const others = otherEntries(schema);
  if (schema['x-kubernetes-embedded-resource'] === true) coerceOne(value as JsonObject, read, place, unknown);
  for (const [name, item] of Object.entries(value)) {
    const isKnown = Object.hasOwn(properties, name);
    if (isKnown) coerceEmbedded(properties[name], item, read, fieldOf(place, name), unknown);
    else if (others) coerceEmbedded(others, item, read, entryOf(place, name), unknown);
  }
  return unknown;
}

function coerceOne(value: JsonObject, read: ReadMetadata, place: Place, unknown: string[]): void {
  for (const name of ['apiVersion', 'kind']) {
    const given = value[name];
    if (given !== undefined && typeof given !== 'string')
      throw new DecodeError(errorText(invalid(fieldOf(place, name), given, 'must be a string')));
  }
  const { metadata } = value;
  if (metadata === undefined) return;
  const path = fieldOf(place, 'metadata');
  try {
    const { object, strictErrors } = read(metadata);
    value['metadata'] = object;
    for (const text of strictErrors) unknown.push(`${path.toString()}.${/^unknown field "(.*)"$/.exec(text)?.[1] ?? ''}`);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new DecodeError(errorText(invalid(path, metadata, error.message)));
  }
}
