// What ownership needs to know of a type (sigs.k8s.io/structured-merge-diff, schema.Atom), compiled once per type from the schema table:
// which collections are owned whole (atomic) and which item by item, and what names an item.
import type { FieldSchema, SchemaTable, TypeSchema } from '../schema/index.ts';

export type Scalar = 'string' | 'numeric' | 'boolean' | 'untyped';

export interface FieldShape {
  name: string;
  /** `f:name`. */
  element: string;
  /** Place in element order. */
  order: number;
  readonly shape: Shape;
}

export interface MapShape {
  atomic: boolean;
  /** Declared fields in element order. */
  fields: readonly FieldShape[];
  byName: ReadonlyMap<string, FieldShape>;
  /** The shape of every other key; undefined: there may be none. */
  element: Shape | undefined;
}

export interface ListShape {
  atomic: boolean;
  /** Names of the fields that tell items apart, sorted, with the value an absent one has; empty for sets. */
  keys: readonly { name: string; default: unknown }[];
  element: Shape;
}

/** A type may be several things at once (untyped values). */
export interface Shape {
  scalar?: Scalar;
  map?: MapShape;
  list?: ListShape;
}

const noFields: ReadonlyMap<string, FieldShape> = new Map();

const untypedAtomic: Shape = { scalar: 'untyped' };
untypedAtomic.list = { atomic: true, keys: [], element: untypedAtomic };
untypedAtomic.map = { atomic: true, fields: [], byName: noFields, element: untypedAtomic };

/** Any JSON: objects are owned key by key, lists whole. */
export const deduced: Shape = { scalar: 'untyped', list: { atomic: true, keys: [], element: untypedAtomic } };
deduced.map = { atomic: false, fields: [], byName: noFields, element: deduced };

const anyObject: Shape = { map: deduced.map };

const scalars: Partial<Record<FieldSchema['type'], Shape>> = {
  string: { scalar: 'string' },
  bytes: { scalar: 'string' },
  bool: { scalar: 'boolean' },
  int32: { scalar: 'numeric' },
  int64: { scalar: 'numeric' },
  uint32: { scalar: 'numeric' },
  uint64: { scalar: 'numeric' },
  float: { scalar: 'numeric' },
  double: { scalar: 'numeric' },
  anyScalar: { scalar: 'untyped' },
  quantity: { scalar: 'untyped' },
  time: { scalar: 'untyped' },
  microTime: { scalar: 'untyped' },
  rawExtension: untypedAtomic,
  fieldsV1: anyObject,
};

// Structs upstream's encoder never drops for being empty.
const specialZeros: Partial<Record<FieldSchema['type'], unknown>> = {
  time: null,
  microTime: null,
  quantity: '0',
  intOrString: 0,
  bytes: null,
  rawExtension: null,
  json: null,
};

const zeroOf = (field: FieldSchema): unknown => {
  if (field.type === 'string' || field.type === 'bytes') return '';
  return field.type === 'bool' ? false : 0;
};

/** The value upstream's encoder writes for an unset field of a struct, or undefined where it writes none. */
function unsetValue(table: SchemaTable, field: FieldSchema): unknown {
  if (field.omitzero) return undefined;
  if (field.shape === undefined && !field.pointer) {
    if (field.type === 'message') return zeroObject(table, field.ref);
    if (Object.hasOwn(specialZeros, field.type)) return specialZeros[field.type];
  }
  if (field.omitempty) return undefined;
  return field.shape !== undefined || field.pointer ? null : zeroOf(field);
}

/** An object of the type with nothing set, as upstream's encoder writes it: what a new object is compared with. */
export function zeroObject(table: SchemaTable, typeName: string | undefined): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  const type = typeName === undefined ? undefined : table.type(typeName);
  for (const field of type?.fields ?? []) {
    const value = unsetValue(table, field);
    if (value !== undefined) out[field.name] = value;
  }
  return out;
}

const compilers = new WeakMap<SchemaTable, ShapeCompiler>();

/** The shapes of a table's types: kinds share most of them, their metadata first of all. */
export function shapesOf(table: SchemaTable): ShapeCompiler {
  let compiler = compilers.get(table);
  if (compiler === undefined) compilers.set(table, (compiler = new ShapeCompiler(table)));
  return compiler;
}

/** Compiles the types of one table, each of them once. */
class ShapeCompiler {
  readonly #table: SchemaTable;
  readonly #types = new Map<string, Shape>();

  constructor(table: SchemaTable) {
    this.#table = table;
  }

  /** The shape of a named type; a type that is not in the table is any JSON. */
  of(typeName: string): Shape {
    const known = this.#types.get(typeName);
    if (known !== undefined) return known;
    const type = this.#table.type(typeName);
    const shape = type === undefined ? deduced : this.#struct(type);
    this.#types.set(typeName, shape);
    return shape;
  }

  #struct(type: TypeSchema): Shape {
    if (type.fields.length === 0) return anyObject;
    const compile = (field: FieldSchema): Shape => this.#field(field);
    const fields = type.fields
      .filter((field) => field.name !== '')
      .map((field) => {
        let shape: Shape | undefined;
        return {
          name: field.name,
          element: `f:${field.name}`,
          order: 0,
          get shape(): Shape {
            shape ??= compile(field);
            return shape;
          },
        };
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const [order, field] of fields.entries()) field.order = order;
    const byName = new Map(fields.map((field) => [field.name, field]));
    const element = type.keepsUnknown ? deduced : undefined;
    return { map: { atomic: type.mapType === 'atomic', fields, byName, element } };
  }

  #one(field: FieldSchema): Shape {
    if (field.type === 'message') return this.of(field.ref ?? '');
    return scalars[field.type] ?? deduced;
  }

  #field(field: FieldSchema): Shape {
    const value = this.#one(field);
    switch (field.shape) {
      case undefined:
        if (field.mapType === undefined || value.map === undefined) return value;
        return { ...value, map: { ...value.map, atomic: field.mapType === 'atomic' } };
      case 'map':
        return { map: { atomic: field.mapType === 'atomic', fields: [], byName: noFields, element: value } };
      case 'mapOfLists': {
        const list: Shape = { list: { atomic: true, keys: [], element: value } };
        return { map: { atomic: field.mapType === 'atomic', fields: [], byName: noFields, element: list } };
      }
      case 'list':
        return { list: this.#list(field, value) };
    }
  }

  #list(field: FieldSchema, element: Shape): ListShape {
    const items = field.ref === undefined ? undefined : this.#table.type(field.ref);
    const keys = [...(field.listMapKeys ?? [])].sort().map((name) => {
      const key = items?.fields.find((one) => one.name === name);
      return { name, default: key?.default ?? (key?.zeroDefault ? zeroOf(key) : undefined) };
    });
    return { atomic: field.listType !== 'set' && field.listType !== 'map', keys, element };
  }
}
