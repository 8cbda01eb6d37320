// Structural schemas of custom resources (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema):
// pruning and defaulting.
import type { JSONSchemaProps } from '#api/apiextensions/v1';
import { deepCopy, own, setOwn } from '#utils';
import { isObject, otherEntries, schemaItems } from './structure.ts';

const typeMeta = new Set(['apiVersion', 'kind', 'metadata']);
const metaFields = new Set(
  `annotations creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName generation labels managedFields name
  namespace ownerReferences resourceVersion selfLink uid`.split(/\s+/),
);

function pruneMetadata(metadata: unknown, path: string, dropped: string[]): void {
  if (!isObject(metadata)) return;
  for (const name of Object.keys(metadata)) {
    if (metaFields.has(name)) continue;
    delete metadata[name];
    dropped.push(`${path}.${name}`);
  }
}

/**
 * Drops, in place, what the schema does not know; answers the paths of what was dropped. `root`: apiVersion, kind and metadata belong to the
 * object whatever the schema says.
 */
export function prune(schema: JSONSchemaProps, value: unknown, root: boolean, path = '', dropped: string[] = []): string[] {
  if (Array.isArray(value)) {
    const items = schemaItems(schema);
    if (items) value.forEach((item, at) => prune(items, item, false, `${path}[${at}]`, dropped));
    return dropped;
  }
  if (!isObject(value)) return dropped;
  const keepsMeta = root || schema['x-kubernetes-embedded-resource'] === true;
  for (const key of Object.keys(value)) {
    const at = path === '' ? key : `${path}.${key}`;
    const known = schema.properties && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
    const other = otherEntries(schema);
    if (keepsMeta && typeMeta.has(key)) {
      if (key === 'metadata' && !root) pruneMetadata(value[key], at, dropped);
      continue;
    }
    const below = known ?? other;
    if (below) prune(below, value[key], false, at, dropped);
    else if (schema['x-kubernetes-preserve-unknown-fields'] !== true && schema.additionalProperties !== true) {
      delete value[key];
      dropped.push(at);
    }
  }
  return dropped;
}

/** Whether any value may be filled in. */
export function declaresDefaults(schema: JSONSchemaProps): boolean {
  if (schema.default !== undefined) return true;
  const inner = [schemaItems(schema), otherEntries(schema), ...Object.values(schema.properties ?? {})];
  return inner.some((one) => one !== undefined && declaresDefaults(one));
}

/** Drops, in place, nulls that the schema neither allows nor has a default for (what is read from outside; not what was applied). */
export function dropNulls(schema: JSONSchemaProps | undefined, value: unknown): void {
  if (!schema) return;
  if (Array.isArray(value)) for (const item of value) dropNulls(schemaItems(schema), item);
  if (!isObject(value)) return;
  const others = otherEntries(schema);
  for (const key of Object.keys(value)) {
    const below = own(schema.properties ?? {}, key) ?? others;
    const given = own(value, key);
    if (given !== null) dropNulls(below, given);
    else if (below && below.nullable !== true && below.default === undefined) delete value[key];
  }
}

/** Fills declared defaults, in place, also for nulls that are not allowed. */
export function applyDefaults(schema: JSONSchemaProps, value: unknown): void {
  if (Array.isArray(value)) {
    const items = schemaItems(schema);
    if (!items) return;
    for (const [at, item] of value.entries()) {
      if (item === null && items.nullable !== true && items.default !== undefined) value[at] = deepCopy(items.default);
      applyDefaults(items, value[at]);
    }
    return;
  }
  if (!isObject(value)) return;
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const given = own(value, key);
    const missing = given === undefined || (given === null && property.nullable !== true);
    if (missing && property.default !== undefined) setOwn(value, key, deepCopy(property.default));
    const filled = own(value, key);
    if (filled !== undefined) applyDefaults(property, filled);
  }
  const other = otherEntries(schema);
  if (other) for (const key of Object.keys(value)) applyDefaults(other, value[key]);
}
