// A structural schema in the shape of the built-in schema table, for server-side apply (design: "Schema").
import type { FieldSchema, SchemaTable, TypeSchema } from '#apimachinery/schema';
import { otherEntries, schemaItems } from '#api/apiextensions/common';
import type { JSONSchemaProps } from '#api/apiextensions/v1';

const metaType = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const scalars: Record<string, FieldSchema['type'] | undefined> = {
  string: 'string',
  boolean: 'bool',
  integer: 'int64',
  number: 'double',
};

/** Definitions are accepted with known kinds of lists and maps only. */
const mapTypeOf = ({ 'x-kubernetes-map-type': type }: JSONSchemaProps): Pick<FieldSchema, 'mapType'> =>
  type === 'atomic' || type === 'granular' ? { mapType: type } : {};

const listTypeOf = ({ 'x-kubernetes-list-type': type }: JSONSchemaProps): 'set' | 'map' | 'atomic' =>
  type === 'set' || type === 'map' ? type : 'atomic';

const keepsUnknown = (value: JSONSchemaProps): boolean =>
  value['x-kubernetes-preserve-unknown-fields'] === true || value.additionalProperties === true;

/** Makes the table of types of a custom resource, in which `rootType` names the object itself. */
export function customTypeTable(builtin: SchemaTable, rootType: string, schema: JSONSchemaProps): SchemaTable {
  const types = new Map<string, TypeSchema>();
  const optional = { number: 0, omitempty: true, pointer: true } as const;
  const objectFields: FieldSchema[] = [
    { name: 'kind', ...optional, type: 'string' },
    { name: 'apiVersion', ...optional, type: 'string' },
    { name: 'metadata', ...optional, type: 'message', ref: metaType },
  ];
  const structType = (name: string, struct: JSONSchemaProps, fields: FieldSchema[] = []): string => {
    const own = Object.entries(struct.properties ?? {}).filter(([key]) => !fields.some((field) => field.name === key));
    types.set(name, {
      name,
      fields: [...fields, ...own.map(([key, value]) => fieldOf(name, key, value))],
      ...mapTypeOf(struct),
      ...(keepsUnknown(struct) && { keepsUnknown: true }),
    });
    return name;
  };
  const valueOf = (name: string, value: JSONSchemaProps): Pick<FieldSchema, 'type' | 'ref'> => {
    if (value['x-kubernetes-int-or-string']) return { type: 'intOrString' };
    if (value['x-kubernetes-embedded-resource']) return { type: 'message', ref: structType(name, value, objectFields) };
    if (value.type === 'object') return { type: 'message', ref: structType(name, value) };
    if (keepsUnknown(value)) return { type: 'any' };
    if (value.type === 'string' && value.format && value.format !== 'byte') return { type: 'anyScalar' };
    return { type: scalars[value.type ?? ''] ?? 'any' };
  };
  const fieldOf = (owner: string, key: string, value: JSONSchemaProps): FieldSchema => {
    const name = `${owner}.${key}`;
    const items = schemaItems(value);
    if (value.type === 'array' && items) {
      return {
        name: key,
        ...optional,
        ...valueOf(name, items),
        shape: 'list',
        listType: listTypeOf(value),
        ...(value['x-kubernetes-list-map-keys'] && { listMapKeys: value['x-kubernetes-list-map-keys'] }),
      };
    }
    const others = otherEntries(value);
    if (value.type === 'object' && !value.properties && others) {
      return {
        name: key,
        ...optional,
        ...valueOf(name, others),
        shape: 'map',
        ...mapTypeOf(value),
      };
    }
    return {
      name: key,
      ...optional,
      ...valueOf(name, value),
      ...mapTypeOf(value),
      // A key of list items that an applied object leaves out has its default.
      ...(value.default !== undefined && { default: value.default }),
    };
  };
  structType(rootType, schema, objectFields);
  return {
    type: (name) => types.get(name) ?? builtin.type(name),
    kind: (group, version, kind) => builtin.kind(group, version, kind),
    names: () => [...types.keys(), ...builtin.names()],
    kinds: () => builtin.kinds(),
  };
}
