// The schema table as OpenAPI schemas (https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-interface-definition), for v3
// (`components/schemas`) and v2 (`definitions`): the same with references in another place.
import type { FieldSchema, SchemaTable, TypeSchema } from '#apimachinery/schema';

export type Schema = Record<string, unknown>;
/** Type -> field ('' for the type itself) -> what it is for. */
export type Descriptions = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;

const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const specialNames: Partial<Record<FieldSchema['type'], string>> = {
  time: `${metaPackage}.Time`,
  microTime: `${metaPackage}.MicroTime`,
  quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  intOrString: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  rawExtension: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
  fieldsV1: `${metaPackage}.FieldsV1`,
};

const specialSchemas: Record<string, Schema> = {
  [`${metaPackage}.Time`]: { type: 'string', format: 'date-time' },
  [`${metaPackage}.MicroTime`]: { type: 'string', format: 'date-time' },
  [`${metaPackage}.Duration`]: { type: 'string' },
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { type: 'string', format: 'int-or-string' },
  'io.k8s.apimachinery.pkg.runtime.RawExtension': { type: 'object' },
  [`${metaPackage}.FieldsV1`]: { type: 'object' },
};
const quantityName = 'io.k8s.apimachinery.pkg.api.resource.Quantity';

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

/** Types that are in no table. */
export interface MoreTypes {
  schema(typeName: string, reference: (typeName: string) => Schema): Schema | undefined;
}

export function collectSchemas(
  table: SchemaTable,
  descriptions: Descriptions,
  version: 2 | 3,
  more?: MoreTypes,
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
    const special = typeName === quantityName ? quantity(version) : specialSchemas[typeName];
    const known = special ?? more?.schema(typeName, reference);
    if (known) return known;
    const type = table.type(typeName);
    return type ? structSchema(type) : { type: 'object' };
  };
  const structSchema = (type: TypeSchema): Schema => {
    const texts = descriptions[type.name];
    const properties: Record<string, Schema> = {};
    for (const field of type.fields) if (field.name !== '') properties[field.name] = property(field, texts?.[field.name]);
    const required = type.fields.filter((field) => field.required === true).map(({ name }) => name);
    return {
      ...(texts?.[''] && { description: texts[''] }),
      type: 'object',
      ...(Object.keys(properties).length > 0 && { properties }),
      ...(required.length > 0 && { required }),
      ...(type.mapType && { 'x-kubernetes-map-type': type.mapType }),
      ...(type.gvks && { 'x-kubernetes-group-version-kind': type.gvks }),
      ...(type.unions && { 'x-kubernetes-unions': type.unions.map(unionSchema) }),
    };
  };
  const valueSchema = (field: FieldSchema): Schema => {
    const name = field.type === 'message' ? field.ref : specialNames[field.type];
    return name === undefined ? { ...scalars[field.type], ...(field.enum && { enum: field.enum }) } : reference(name);
  };
  const shaped = (field: FieldSchema): Schema => {
    const value = valueSchema(field);
    if (field.shape === 'list') return { type: 'array', items: itemSchema(value, version) };
    if (field.shape === 'map') return { type: 'object', additionalProperties: itemSchema(value, version) };
    if (field.shape === 'mapOfLists') return { type: 'object', additionalProperties: { type: 'array', items: value } };
    return value;
  };
  const property = (field: FieldSchema, description: string | undefined): Schema => {
    const base = shaped(field);
    const extra: Schema = {
      ...(description && { description }),
      ...(field.default !== undefined && { default: field.default }),
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

/** v3 wraps references inside lists and maps, so that a default can stand beside them. */
const itemSchema = (value: Schema, version: 2 | 3): Schema =>
  version === 3 && '$ref' in value ? { allOf: [value], default: {} } : value;

const quantity = (version: 2 | 3): Schema =>
  version === 3 ? { oneOf: [{ type: 'string' }, { type: 'number' }] } : { type: 'string' };

const unionSchema = ({ discriminator, fields }: NonNullable<TypeSchema['unions']>[number]): Schema => ({
  ...(discriminator && { discriminator }),
  'fields-to-discriminateBy': fields,
});
