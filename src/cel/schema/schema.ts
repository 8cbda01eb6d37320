// Structural schemas as CEL types (k8s.io/apiserver/pkg/cel/common, SchemaDeclType; escaping.go).
import { own } from '#utils';
import * as types from '../types.ts';
import type { ObjectType, Type } from '../types.ts';
import { listKeyTable } from '../values/values.ts';

/** The part of a structural schema that says what values are. */
export interface SchemaShape {
  type?: string;
  format?: string;
  properties?: Record<string, SchemaShape>;
  additionalProperties?: SchemaShape | boolean;
  items?: SchemaShape;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: string[];
}

const keywords = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const escapes: readonly (readonly [string, string])[] = [
  ['__', '__underscores__'],
  ['.', '__dot__'],
  ['-', '__dash__'],
  ['/', '__slash__'],
];

/** How CEL spells a property; undefined: it cannot. */
export function escapeName(name: string): string | undefined {
  if (!/^[a-zA-Z_.\-/$][a-zA-Z0-9_.\-/$]*$/.test(name) || name.includes('$')) return undefined;
  if (keywords.has(name)) return `__${name}__`;
  return name.replace(/__|[.\-/]/g, (part) => escapes.find(([plain]) => plain === part)?.[1] ?? part);
}

/** The property that CEL spells this way. */
export function unescapeName(name: string): string {
  const word = /^__(.+)__$/.exec(name)?.[1];
  if (word !== undefined && keywords.has(word)) return word;
  return name.replace(
    /__(underscores|dot|dash|slash)__/g,
    (escaped) => escapes.find(([, own]) => own === escaped)?.[0] ?? escaped,
  );
}

const typesOf = new WeakMap<SchemaShape, Type | null>();

/** The type of a schema's values; undefined: CEL does not see them (unknown fields). `path` names object types. */
export function schemaType(schema: SchemaShape, path = 'object', isRoot = false): Type | undefined {
  const known = typesOf.get(schema);
  if (known !== undefined) return known ?? undefined;
  const made = makeType(schema, path, isRoot || schema['x-kubernetes-embedded-resource'] === true);
  typesOf.set(schema, made ?? null);
  return made;
}

function makeType(schema: SchemaShape, path: string, hasMetadata: boolean): Type | undefined {
  if (schema['x-kubernetes-int-or-string']) return types.dyn;
  switch (schema.type) {
    case 'array':
      return arrayType(schema, path);
    case 'object':
      return objectOf(schema, path, hasMetadata);
    case 'string':
      return stringType(schema.format);
    case 'boolean':
      return types.bool;
    case 'integer':
      return types.int;
    case 'number':
      return types.double;
    default:
      return undefined;
  }
}

const stringType = (format = ''): Type =>
  own<Type>({ byte: types.bytes, duration: types.duration, date: types.timestamp, 'date-time': types.timestamp }, format) ??
  types.string;

function arrayType(schema: SchemaShape, path: string): Type | undefined {
  const of = schema.items && schemaType(schema.items, `${path}.@idx`);
  if (!of) return undefined;
  const made = types.list(of);
  const { 'x-kubernetes-list-type': listType } = schema;
  if (listType === 'set' || listType === 'map') listKeyTable.set(made, schema['x-kubernetes-list-map-keys'] ?? []);
  return made;
}

const metadataType: ObjectType = {
  kind: 'object',
  name: 'object.metadata',
  field: (name) => (name === 'name' || name === 'generateName' ? types.string : undefined),
};

function objectOf(schema: SchemaShape, path: string, hasMetadata: boolean): Type | undefined {
  const { additionalProperties: more } = schema;
  if (typeof more === 'object') {
    const of = schemaType(more, `${path}.@elem`);
    return of && types.map(types.string, of);
  }
  if (!schema.properties && !hasMetadata && !schema['x-kubernetes-preserve-unknown-fields']) {
    return { kind: 'object', name: path, field: () => undefined };
  }
  const fields = new Map<string, Type>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const escaped = escapeName(name);
    const type = escaped === undefined ? undefined : schemaType(property, `${path}.${name}`);
    if (escaped !== undefined && type) fields.set(escaped, type);
  }
  if (hasMetadata) {
    fields.set('apiVersion', types.string);
    fields.set('kind', types.string);
    fields.set('metadata', metadataType);
  }
  return { kind: 'object', name: path, field: (name) => fields.get(name), jsonName: unescapeName };
}
