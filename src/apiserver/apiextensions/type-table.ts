// A structural schema in the shape of the built-in schema table, for server-side apply (design: "Schema").
import type { FieldSchema, SchemaTable, TypeSchema } from '#apimachinery/schema';
import type { JsonSchema } from './json-schema.ts';

const metaType = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const scalars: Record<string, FieldSchema['type'] | undefined> = {
  string: 'string',
  boolean: 'bool',
  integer: 'int64',
  number: 'double',
};

/** `rootType` names the object itself in the table. */
export function customTypeTable(builtin: SchemaTable, rootType: string, schema: JsonSchema): SchemaTable {
  const types = new Map<string, TypeSchema>();
  const optional = { number: 0, omitempty: true, pointer: true } as const;
  const structType = (name: string, struct: JsonSchema, fields: FieldSchema[] = []): string => {
    const own = Object.entries(struct.properties ?? {}).filter(([key]) => !fields.some((field) => field.name === key));
    types.set(name, {
      name,
      fields: [...fields, ...own.map(([key, value]) => fieldOf(name, key, value))],
      ...(struct['x-kubernetes-map-type'] && { mapType: struct['x-kubernetes-map-type'] }),
    });
    return name;
  };
  const valueOf = (name: string, value: JsonSchema): Pick<FieldSchema, 'type' | 'ref'> => {
    if (value['x-kubernetes-int-or-string']) return { type: 'intOrString' };
    if (value['x-kubernetes-preserve-unknown-fields'] || value.additionalProperties === true) return { type: 'any' };
    if (value.type === 'object' && value.properties) return { type: 'message', ref: structType(name, value) };
    return { type: scalars[value.type ?? ''] ?? 'any' };
  };
  const fieldOf = (owner: string, key: string, value: JsonSchema): FieldSchema => {
    const name = `${owner}.${key}`;
    if (value.type === 'array' && value.items) {
      const listType = value['x-kubernetes-list-type'] ?? 'atomic';
      return {
        name: key,
        ...optional,
        ...valueOf(name, value.items),
        shape: 'list',
        listType,
        ...(value['x-kubernetes-list-map-keys'] && { listMapKeys: value['x-kubernetes-list-map-keys'] }),
      };
    }
    if (value.type === 'object' && !value.properties && typeof value.additionalProperties === 'object') {
      return {
        name: key,
        ...optional,
        ...valueOf(name, value.additionalProperties),
        shape: 'map',
        ...(value['x-kubernetes-map-type'] && { mapType: value['x-kubernetes-map-type'] }),
      };
    }
    return {
      name: key,
      ...optional,
      ...valueOf(name, value),
      ...(value['x-kubernetes-map-type'] && { mapType: value['x-kubernetes-map-type'] }),
    };
  };
  structType(rootType, schema, [
    { name: 'kind', ...optional, type: 'string' },
    { name: 'apiVersion', ...optional, type: 'string' },
    { name: 'metadata', ...optional, type: 'message', ref: metaType },
  ]);
  return {
    type: (name) => types.get(name) ?? builtin.type(name),
    kind: (group, version, kind) => builtin.kind(group, version, kind),
    names: () => [...types.keys(), ...builtin.names()],
    kinds: () => builtin.kinds(),
  };
}
