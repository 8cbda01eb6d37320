// The schema table as OpenAPI schemas (https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-interface-definition), for v3
// (`components/schemas`) and v2 (`definitions`): the same with references in another place.
import type { FieldSchema, SchemaTable, TypeSchema } from '#apimachinery/schema';

export type Schema = Record<string, unknown>;
/** Type -> field ('' for the type itself) -> what it is for. */
export type Descriptions = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;

const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const extensionsPackage = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';
const specialNames: Partial<Record<FieldSchema['type'], string>> = {
  time: `${metaPackage}.Time`,
  microTime: `${metaPackage}.MicroTime`,
  quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  intOrString: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  rawExtension: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
  fieldsV1: `${metaPackage}.FieldsV1`,
  json: `${extensionsPackage}.JSON`,
  schemaOrArray: `${extensionsPackage}.JSONSchemaPropsOrArray`,
  schemaOrBool: `${extensionsPackage}.JSONSchemaPropsOrBool`,
  schemaOrStringArray: `${extensionsPackage}.JSONSchemaPropsOrStringArray`,
};

const specialSchemas: Record<string, Schema> = {
  [`${metaPackage}.Time`]: { type: 'string', format: 'date-time' },
  [`${metaPackage}.MicroTime`]: { type: 'string', format: 'date-time' },
  [`${metaPackage}.Duration`]: { type: 'string' },
  'io.k8s.apimachinery.pkg.runtime.RawExtension': { type: 'object' },
  [`${metaPackage}.FieldsV1`]: { type: 'object' },
  [`${extensionsPackage}.JSON`]: {},
  [`${extensionsPackage}.JSONSchemaPropsOrArray`]: {},
  [`${extensionsPackage}.JSONSchemaPropsOrBool`]: {},
  [`${extensionsPackage}.JSONSchemaPropsOrStringArray`]: {},
};

/** Types that are a text or a number: version 2 cannot say so. */
const eitherSchemas: Readonly<Record<string, Readonly<Record<2 | 3, Schema>>>> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': {
    2: { type: 'string' },
    3: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  },
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': {
    2: { type: 'string', format: 'int-or-string' },
    3: { oneOf: [{ type: 'integer' }, { type: 'string' }], format: 'int-or-string' },
  },
};

const scalars: Partial<Record<FieldSchema['type'], Schema>> = {
  string: { type: 'string' },
  bytes: { type: 'string', format: 'byte' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  uint32: { type: 'integer', format: 'int64' },
  uint64: { type: 'integer', format: 'int64' },
  float: { type: 'number', format: 'float' },
  double: { type: 'number', format: 'double' },
  any: {},
};

export interface SchemaCollector {
  /** A reference to the type; its schema and those it needs are added to `schemas`. */
  reference(typeName: string): Schema;
  readonly schemas: Record<string, Schema>;
}

/** The types that stand in no table. */
export interface MoreTypes {
  schema(typeName: string, reference: (typeName: string) => Schema): Schema | undefined;
}

export function collectSchemas(
  table: SchemaTable,
  descriptions: Descriptions,
  version: 2 | 3,
  more?: MoreTypes,
  kindsOf: (type: TypeSchema) => TypeSchema['gvks'] = ({ gvks }) => gvks,
): SchemaCollector {
  const schemas: Record<string, Schema> = {};
  const place = version === 3 ? '#/components/schemas/' : '#/definitions/';
  const reference = (typeName: string): Schema => {
    if (!(typeName in schemas)) {
      schemas[typeName] = {};
      schemas[typeName] = schemaOf(typeName);
    }
    return { $ref: place + typeName };
  };
  const schemaOf = (typeName: string): Schema => {
    const special = eitherSchemas[typeName]?.[version] ?? specialSchemas[typeName];
    const description = descriptions[typeName]?.[''];
    if (special) return { ...(description && { description }), ...special };
    const known = more?.schema(typeName, reference);
    if (known) return known;
    const type = table.type(typeName);
    return type ? structSchema(type) : { type: 'object' };
  };
  const structSchema = (type: TypeSchema): Schema => {
    const texts = descriptions[type.name];
    const properties: Record<string, Schema> = {};
    for (const field of type.fields) if (field.name !== '') properties[field.name] = property(field, texts?.[field.name]);
    const gvks = kindsOf(type);
    const required = type.fields.filter((field) => field.required === true).map(({ name }) => name);
    return {
      ...(texts?.[''] && { description: texts[''] }),
      type: 'object',
      ...(Object.keys(properties).length > 0 && { properties }),
      ...(required.length > 0 && { required }),
      ...(type.mapType && { 'x-kubernetes-map-type': type.mapType }),
      ...(gvks && { 'x-kubernetes-group-version-kind': gvks }),
      ...(type.unions && { 'x-kubernetes-unions': type.unions.map(unionSchema) }),
    };
  };
  const valueSchema = (field: FieldSchema): Schema => {
    const name = field.type === 'message' ? field.ref : specialNames[field.type];
    return name === undefined ? { ...scalars[field.type], ...(field.enum && { enum: field.enum }) } : reference(name);
  };
  const shaped = (field: FieldSchema): Schema => {
    const item = (): Schema => itemSchema(field, valueSchema(field), version);
    if (field.shape === 'list') return { type: 'array', items: item() };
    if (field.shape === 'map') return { type: 'object', additionalProperties: item() };
    if (field.shape === 'mapOfLists') return { type: 'object', additionalProperties: { type: 'array', items: item() } };
    return valueSchema(field);
  };
  const property = (field: FieldSchema, description: string | undefined): Schema => {
    const base = shaped(field);
    const extra: Schema = {
      ...(description && { description }),
      ...(version === 3 && defaultOf(field)),
      ...(field.listType && { 'x-kubernetes-list-type': field.listType }),
      ...(field.listMapKeys && { 'x-kubernetes-list-map-keys': field.listMapKeys }),
      ...(field.mapType && { 'x-kubernetes-map-type': field.mapType }),
      ...(field.patchStrategy && { 'x-kubernetes-patch-strategy': field.patchStrategy }),
      ...(field.patchMergeKey && { 'x-kubernetes-patch-merge-key': field.patchMergeKey }),
    };
    if (!('$ref' in base)) return { ...base, ...extra };
    if (version === 2) return { ...extra, ...base };
    return Object.keys(extra).length === 0 ? base : { ...extra, allOf: [base] };
  };
  return { reference, schemas };
}

const zeros: Partial<Record<FieldSchema['type'], unknown>> = {
  ...{ string: '', bool: false, int32: 0, int64: 0, uint32: 0, uint64: 0, float: 0, double: 0 },
  message: {},
};

/** The default that the schema marks. */
function defaultOf({ type, shape, default: marked, zeroDefault }: FieldSchema): { default?: unknown } {
  if (marked !== undefined) return { default: marked };
  if (!zeroDefault) return {};
  return { default: shape === undefined ? (zeros[type] ?? {}) : {} };
}

/** The schema of an item. Version 3 states the zero value as its default, except for types that encode themselves (quantities, times). */
function itemSchema({ type }: FieldSchema, value: Schema, version: 2 | 3): Schema {
  const zero = zeros[type];
  if (version === 2 || zero === undefined) return value;
  return '$ref' in value ? { default: zero, allOf: [value] } : { ...value, default: zero };
}

const unionSchema = ({ discriminator, fields }: NonNullable<TypeSchema['unions']>[number]): Schema => ({
  ...(discriminator && { discriminator }),
  'fields-to-discriminateBy': fields,
});
