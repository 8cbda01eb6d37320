// Structural schemas of custom resources (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema):
// the shape, pruning and defaulting.
import { deepCopy } from '../registry/generic/values.ts';

export interface JsonSchema {
  type?: string;
  format?: string;
  title?: string;
  description?: string;
  default?: unknown;
  nullable?: boolean;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
  required?: string[];
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  allOf?: JsonSchema[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  not?: JsonSchema;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: 'atomic' | 'granular';
}

type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

const typeMeta = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Drops, in place, what the schema does not know; answers the paths of what was dropped. `root`: apiVersion, kind and metadata belong to the
 * object whatever the schema says.
 */
export function prune(schema: JsonSchema, value: unknown, root: boolean, path = '', dropped: string[] = []): string[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items) value.forEach((item, at) => prune(items, item, false, `${path}[${at}]`, dropped));
    return dropped;
  }
  if (!isObject(value)) return dropped;
  const keepsMeta = root || schema['x-kubernetes-embedded-resource'] === true;
  for (const key of Object.keys(value)) {
    const at = path === '' ? key : `${path}.${key}`;
    const known = schema.properties && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
    const other = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
    if (keepsMeta && typeMeta.has(key)) continue;
    const below = known ?? other;
    if (below) prune(below, value[key], false, at, dropped);
    else if (schema['x-kubernetes-preserve-unknown-fields'] !== true && schema.additionalProperties !== true) {
      delete value[key];
      dropped.push(at);
    }
  }
  return dropped;
}

/** Fills declared defaults, in place, and drops nulls that a default replaces. */
export function applyDefaults(schema: JsonSchema, value: unknown): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!items) return;
    for (const [at, item] of value.entries()) {
      if (item === null && items.nullable !== true && items.default !== undefined) value[at] = deepCopy(items.default);
      applyDefaults(items, value[at]);
    }
    return;
  }
  if (!isObject(value)) return;
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const missing = value[key] === undefined || (value[key] === null && property.nullable !== true);
    if (missing && property.default !== undefined) value[key] = deepCopy(property.default);
    else if (value[key] === null && property.nullable !== true && property.type !== undefined) delete value[key];
    if (value[key] !== undefined) applyDefaults(property, value[key]);
  }
  if (typeof schema.additionalProperties === 'object')
    for (const key of Object.keys(value)) applyDefaults(schema.additionalProperties, value[key]);
}
