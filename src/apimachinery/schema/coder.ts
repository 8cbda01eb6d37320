// Turns types of the schema table into readers, once for each type: one pass checks a value as upstream's typed decoder does and builds what
// the encoder would write (fields in Go's struct order, omitempty and zero values applied, map keys sorted).
import { assert, setOwn } from '#utils';
import { DecodeContext, type Duplicates } from './context.ts';
import { goNameOf } from './notation.ts';
import type { FieldSchema, SchemaTable, TypeSchema } from './types.ts';
import { eitherCoder, type Read, type ValueCoder, valueCoder } from './values.ts';

type JsonObject = Record<string, unknown>;

interface FieldPlan {
  name: string;
  /** Of the struct that the message names, and the path of Go names inside it. */
  struct: string;
  goPath: string;
  read: Read;
  /** Drops a value that was read. */
  isEmpty: ((value: unknown) => boolean) | undefined;
  /** Written when absent; undefined: nothing is. */
  zero: (() => unknown) | undefined;
}

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

class TableCoder {
  readonly #table: SchemaTable;
  readonly #coders = new Map<string, ValueCoder>();

  constructor(table: SchemaTable) {
    this.#table = table;
  }

  /** The coder of a struct. Types refer to each other in circles, so a type's plan is made when it is first used. */
  message(name: string): ValueCoder {
    const known = this.#coders.get(name);
    if (known !== undefined) return known;
    let plan: StructPlan | undefined;
    const planned = (): StructPlan => (plan ??= this.#plan(name));
    const coder: ValueCoder = {
      read: (value, context) => readStruct(planned(), value, context),
      zero: () => zeroStruct(planned()),
    };
    this.#coders.set(name, coder);
    return coder;
  }

  #plan(name: string): StructPlan {
    const type = this.#table.type(name);
    assert(type !== undefined, `type ${name} is in the schema table`);
    const fields = type.fields.map((field) => this.#field(type, field));
    return { goType: goNameOf(name), fields, index: new Map(fields.map((field, at) => [field.name, at])) };
  }

  #field(type: TypeSchema, field: FieldSchema): FieldPlan {
    const coder = this.#shaped(field);
    const typeMeta = field.number === 0 && (field.name === 'kind' || field.name === 'apiVersion');
    const embedded = this.#embedded(type, field) || (typeMeta ? 'TypeMeta.' : '');
    const dropped = field.omitempty === true && (field.pointer === true || coder.isEmpty !== undefined);
    return {
      name: field.name,
      struct: type.name.slice(type.name.lastIndexOf('.') + 1),
      goPath: embedded + field.name,
      read: coder.read,
      isEmpty: field.omitzero ? (value) => value === null : field.omitempty && !field.pointer ? coder.isEmpty : undefined,
      zero: dropped || field.omitzero ? undefined : field.pointer ? () => null : coder.zero,
    };
  }

  /** The embedded structs that hold a field, each with a dot. */
  #embedded(type: TypeSchema, field: FieldSchema): string {
    const inlined = type.inlined?.find(({ number }) => number === field.inlined)?.ref;
    if (inlined === undefined) return '';
    const inner = this.#table.type(inlined);
    const held = inner?.fields.find(({ name }) => name === field.name);
    return `${inlined.slice(inlined.lastIndexOf('.') + 1)}.${inner && held ? this.#embedded(inner, held) : ''}`;
  }

  #shaped(field: FieldSchema): ValueCoder {
    const goType = field.goType ?? field.type;
    if (field.shape === undefined) return this.#value(field, goType);
    const elementType = goType.startsWith('[]')
      ? goType.slice(2)
      : goType.startsWith('map[')
        ? goType.slice(goType.indexOf(']') + 1)
        : field.type;
    if (field.shape === 'list') return listCoder(this.#value(field, elementType), goType);
    if (field.shape === 'map') return mapCoder(this.#value(field, elementType), goType);
    return mapCoder(listCoder(this.#value(field, field.type), elementType), goType);
  }

  #value(field: FieldSchema, goType: string): ValueCoder {
    if (field.ref === undefined) return valueCoder(field.type, goType);
    const message = this.message(field.ref);
    return field.type === 'message' ? message : eitherCoder(field.type, message);
  }
}

interface StructPlan {
  goType: string;
  fields: FieldPlan[];
  index: Map<string, number>;
}

function readStruct(plan: StructPlan, value: unknown, context: DecodeContext): unknown {
  if (!isObject(value)) {
    context.saveWrong(value, plan.goType);
    return undefined;
  }
  const { fields, index } = plan;
  const read = new Array<unknown>(fields.length);
  const order = context.duplicates?.order.get(value);
  const literals = context.duplicates?.literals.get(value);
  for (const key of context.byField ? fieldOrder(plan, value) : (order ?? Object.keys(value))) {
    const at = index.get(key);
    const field = at === undefined ? undefined : fields[at];
    if (field === undefined || at === undefined) context.unknownField(key);
    else if (read[at] !== undefined && order !== undefined) context.duplicateField(key);
    else {
      context.literal = literals?.get(key);
      read[at] = readField(field, value[key], context);
    }
  }
  const object: JsonObject = {};
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at] as FieldPlan;
    const found = read[at];
    if (found !== undefined && !field.isEmpty?.(found)) object[field.name] = found;
    else if (field.zero !== undefined) object[field.name] = field.zero();
  }
  return object;
}

const fieldOrder = ({ fields }: StructPlan, value: JsonObject): string[] =>
  fields.map(({ name }) => name).filter((name) => Object.hasOwn(value, name));

function readField(field: FieldPlan, value: unknown, context: DecodeContext): unknown {
  if (value === null || value === undefined) return undefined;
  if (context.trusted) return field.read(value, context);
  context.enterField(field.struct, field.goPath, field.name);
  const found = field.read(value, context);
  context.leaveField();
  return found;
}

function zeroStruct(plan: StructPlan): JsonObject {
  const object: JsonObject = {};
  for (const field of plan.fields) if (field.zero !== undefined) object[field.name] = field.zero();
  return object;
}

function listCoder(element: ValueCoder, goType: string): ValueCoder {
  return {
    read(value, context) {
      if (!Array.isArray(value)) {
        context.saveWrong(value, goType, 'slice');
        return undefined;
      }
      // Protobuf does not tell an empty list from none: what was stored has none.
      if (context.trusted && value.length === 0) return undefined;
      return value.map((entry: unknown, at) => {
        if (entry === null || entry === undefined) return element.zero();
        if (context.trusted) return element.read(entry, context);
        context.enterIndex(at);
        const found = element.read(entry, context);
        context.leave();
        return found;
      });
    },
    zero: () => null,
    isEmpty: (value) => (value as unknown[] | null)?.length === 0,
  };
}

/** Maps that were read and hold nothing. To ask the runtime takes as long as the map is large. */
const emptyMaps = new WeakSet<object>();

const areSorted = (keys: readonly string[]): boolean => keys.every((key, at) => at === 0 || (keys[at - 1] as string) <= key);

/** Takes the entries of a map as they come, and makes the object with its keys sorted. A large object is made once. */
class MapBuilder {
  readonly #keys: readonly string[];
  readonly #object: JsonObject = {};
  readonly #unsorted: Map<string, unknown> | undefined;
  #isEmpty = true;

  constructor(keys: readonly string[]) {
    this.#keys = keys;
    this.#unsorted = areSorted(keys) ? undefined : new Map();
  }

  add(key: string, value: unknown): void {
    this.#isEmpty = false;
    if (this.#unsorted === undefined) setOwn(this.#object, key, value);
    else this.#unsorted.set(key, value);
  }

  made(): JsonObject {
    const object = this.#object;
    const unsorted = this.#unsorted;
    if (unsorted !== undefined)
      for (const key of this.#keys.toSorted()) if (unsorted.has(key)) setOwn(object, key, unsorted.get(key));
    if (this.#isEmpty) emptyMaps.add(object);
    return object;
  }
}

function mapCoder(element: ValueCoder, goType: string): ValueCoder {
  return {
    read(value, context) {
      if (!isObject(value)) {
        context.saveWrong(value, goType, 'map');
        return undefined;
      }
      const literals = context.duplicates?.literals.get(value);
      const keys = Object.keys(value);
      const builder = new MapBuilder(keys);
      // Read as it was sent, for the first error is told.
      for (const key of keys) {
        const entry = value[key];
        if (entry === undefined) continue;
        context.literal = literals?.get(key);
        if (!context.trusted) context.enterKey(key);
        const isNone = entry === null || (context.trusted && Array.isArray(entry) && entry.length === 0);
        builder.add(key, isNone ? element.zero() : element.read(entry, context));
        if (!context.trusted) context.leave();
      }
      for (const key of context.duplicates?.get(value) ?? []) context.duplicateField(key);
      return builder.made();
    },
    zero: () => null,
    isEmpty: (value) => emptyMaps.has(value as object),
  };
}

const coders = new WeakMap<SchemaTable, TableCoder>();

function coderOf(table: SchemaTable, typeName: string): ValueCoder {
  let coder = coders.get(table);
  if (coder === undefined) coders.set(table, (coder = new TableCoder(table)));
  return coder.message(typeName);
}

export interface DecodeOptions {
  /** Collect unknown and duplicate fields (fieldValidation Warn and Strict). */
  strict?: boolean;
  /** From `parseJson`, when `strict`. */
  duplicates?: Duplicates | undefined;
  /** Reads fields in the order of their struct, not of the text, and only those: the first error is then that of upstream's converter. */
  byField?: boolean;
}

export interface Decoded {
  object: Record<string, unknown>;
  /** `unknown field "spec.foo"`, `duplicate field "..."`: warnings, or the parts of a "strict decoding error". At most 100. */
  strictErrors: string[];
}

/**
 * Reads parsed JSON as `typeName`, as upstream's typed decoder does: names are case-sensitive, unknown fields are dropped, null is absent, the
 * result is what the encoder would write. `json` is not changed; opaque subtrees (RawExtension, managed fields) are shared with it.
 * Throws `DecodeError`.
 */
export function decode(table: SchemaTable, typeName: string, json: unknown, options: DecodeOptions = {}): Decoded {
  const context = new DecodeContext(options);
  const coder = coderOf(table, typeName);
  const object = json === null ? coder.zero() : coder.read(json, context);
  if (context.firstError !== undefined) throw context.firstError;
  return { object: object as Record<string, unknown>, strictErrors: context.strictErrors };
}

/**
 * The object as the encoder would write it: a fresh object with fields in Go's order, map keys sorted, empty optional values dropped, zero
 * values written where upstream writes them. The values are taken to be well-formed. Throws `DecodeError` when a value has a wrong JSON type.
 */
export function normalize<T>(table: SchemaTable, typeName: string, object: T): T {
  const context = new DecodeContext({ trusted: true });
  const result = coderOf(table, typeName).read(object, context);
  if (context.firstError !== undefined) throw context.firstError;
  return result as T;
}
