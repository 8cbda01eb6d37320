// Values of CEL at run time. int is bigint, double is number; what comes from JSON is converted where it is touched, by its declared type.
import { decodeBase64 } from '#apimachinery/schema';
import { CelError } from '../errors.ts';
import { spendWork } from '../meter.ts';
import { Duration, durationText, parseDuration, parseTimestamp, Timestamp, timestampText } from './times.ts';
import type { ObjectType, Type } from '../types.ts';
import * as types from '../types.ts';

export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Timestamp
  | Duration
  | TypeValue
  | Optional
  | ListValue
  | MapValue
  | ObjectValue
  | OpaqueValue;

export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    if (value < 0n || value >= 2n ** 64n) throw new CelError('unsigned integer overflow');
    this.value = value;
  }
}

export class TypeValue {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

export class Optional {
  readonly value: Value | undefined;
  constructor(value?: Value) {
    this.value = value;
  }
}

/** The values that libraries bring: quantities, URLs, addresses. */
export class OpaqueValue {
  readonly type: string;
  readonly content: unknown;
  /** Equality within the type; default: the same content. */
  readonly equals: ((other: unknown) => boolean) | undefined;
  constructor(type: string, content: unknown, equals?: (other: unknown) => boolean) {
    this.type = type;
    this.content = content;
    this.equals = equals;
  }
}

/** The value that an expression `Name{field: value}` makes. */
export class StructValue extends OpaqueValue {
  readonly fields: ReadonlyMap<string, Value>;
  constructor(type: string, fields: ReadonlyMap<string, Value>) {
    super(type, fields);
    this.fields = fields;
  }
}

/** A list, of CEL values or of JSON with a declared type. */
export class ListValue {
  readonly #items: readonly unknown[];
  readonly #of: Type | undefined;
  /** Keys that make items of a list with `x-kubernetes-list-type: map` the same, or [] of a set. */
  readonly keys: readonly string[] | undefined;
  constructor(items: readonly unknown[], of?: Type, keys?: readonly string[]) {
    this.#items = items;
    this.#of = of;
    this.keys = keys;
  }
  get size(): number {
    return this.#items.length;
  }
  /** Made by an expression, not by JSON. */
  get isMade(): boolean {
    return this.#of === undefined;
  }
  at(index: number): Value {
    const item = this.#items[index];
    return this.#of === undefined ? (item as Value) : fromJson(item, this.#of);
  }
  values(): Value[] {
    if (this.#of === undefined) return this.#items as Value[];
    spendWork(this.#items.length);
    return this.#items.map((item) => fromJson(item, this.#of as Type));
  }
}

export type Key = string | bigint | boolean;

/** A map, of CEL values or of JSON with a declared type. */
export class MapValue {
  readonly #of: Type | undefined;
  readonly #made: ReadonlyMap<Key, unknown> | undefined;
  readonly #raw: Readonly<Record<string, unknown>>;
  #known: readonly Key[] | undefined;
  constructor(made: ReadonlyMap<Key, unknown> | undefined, raw: Readonly<Record<string, unknown>> = {}, of?: Type) {
    this.#made = made;
    this.#raw = raw;
    this.#of = of;
  }
  get size(): number {
    return this.#made?.size ?? this.keys.length;
  }
  get keys(): readonly Key[] {
    if (this.#known) return this.#known;
    this.#known = this.#made ? [...this.#made.keys()] : Object.keys(this.#raw);
    spendWork(this.#known.length / 4);
    return this.#known;
  }
  /** Made by an expression, not by JSON. */
  get isMade(): boolean {
    return this.#of === undefined;
  }
  get(key: Value): Value | undefined {
    const own = keyOf(key);
    if (own === undefined) return undefined;
    if (this.#made) return this.#made.get(own) as Value | undefined;
    return typeof own === 'string' && Object.hasOwn(this.#raw, own) ? fromJson(this.#raw[own], this.#of ?? types.dyn) : undefined;
  }
}

/** Numbers that are whole are the same key, whatever their type. */
export function keyOf(value: Value): Key | undefined {
  if (typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean') return value;
  if (value instanceof Uint) return value.value;
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : undefined;
}

/** A JSON object of a declared type. */
export class ObjectValue {
  readonly raw: Readonly<Record<string, unknown>>;
  readonly type: ObjectType;
  constructor(raw: Readonly<Record<string, unknown>>, type: ObjectType) {
    this.raw = raw;
    this.type = type;
  }
  get(name: string): Value | undefined {
    const json = this.type.jsonName?.(name) ?? name;
    const value = Object.hasOwn(this.raw, json) ? this.raw[json] : undefined;
    return value === undefined ? undefined : fromJson(value, this.type.field?.(name) ?? types.dyn);
  }
}

/** JSON as a value of a type; JSON that does not fit is taken for what it is. */
export function fromJson(json: unknown, type: Type): Value {
  if (json === null || json === undefined) return null;
  switch (typeof json) {
    case 'boolean':
      return json;
    case 'number':
      return type.kind === 'double' ? json : type.kind === 'int' || Number.isInteger(json) ? BigInt(Math.trunc(json)) : json;
    case 'bigint':
      return type.kind === 'double' ? Number(json) : json;
    case 'string':
      return fromText(json, type);
    case 'object':
      return Array.isArray(json) ? listFrom(json, type) : objectFrom(json as Record<string, unknown>, type);
    default:
      throw new CelError(`unsupported value of type ${typeof json}`);
  }
}

const listFrom = (json: unknown[], type: Type): ListValue =>
  new ListValue(json, type.kind === 'list' ? type.of : types.dyn, type.kind === 'list' ? listKeys(type) : undefined);

/** Keys of list types, kept with the type (schema.ts). */
export const listKeyTable = new WeakMap<Type, readonly string[]>();
const listKeys = (type: Type): readonly string[] | undefined => listKeyTable.get(type);

/** Maps without a declared type, made once for an object: those that look into one often do not count its keys each time. */
const dynamicMaps = new WeakMap<object, MapValue>();

function objectFrom(json: Record<string, unknown>, type: Type): Value {
  if (type.kind === 'object') return new ObjectValue(json, type);
  if (type.kind === 'map') return new MapValue(undefined, json, type.of);
  const known = dynamicMaps.get(json) ?? new MapValue(undefined, json, types.dyn);
  dynamicMaps.set(json, known);
  return known;
}

function fromText(json: string, type: Type): Value {
  if (type.kind === 'timestamp') return parseTimestamp(json.includes('T') || json.includes('t') ? json : `${json}T00:00:00Z`);
  if (type.kind === 'duration') return parseDuration(json);
  if (type.kind !== 'bytes') return json;
  spendWork(json.length / 8);
  const decoded = decodeBase64(json);
  return decoded instanceof Uint8Array ? decoded : new TextEncoder().encode(json);
}

/** What `type()` and messages call the type of a value. */
export function typeNameOf(value: Value): string {
  if (value === null) return 'null_type';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'string':
      return 'string';
    default:
      return objectTypeName(value);
  }
}

function objectTypeName(value: Exclude<Value, null | boolean | bigint | number | string>): string {
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Uint) return 'uint';
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp';
  if (value instanceof Duration) return 'google.protobuf.Duration';
  if (value instanceof ListValue) return 'list';
  if (value instanceof MapValue) return 'map';
  if (value instanceof Optional) return 'optional_type';
  if (value instanceof TypeValue) return 'type';
  return value instanceof ObjectValue ? value.type.name : value.type;
}

/** The keys of a map or object. */
export function keysOf(value: Value): readonly Key[] | undefined {
  if (value instanceof MapValue) return value.keys;
  return value instanceof ObjectValue ? Object.keys(value.raw) : undefined;
}

/** What a map or object holds under a key. */
export function memberOf(value: Value, key: Value): Value | undefined {
  if (value instanceof MapValue) return value.get(key);
  return value instanceof ObjectValue && typeof key === 'string' ? value.get(key) : undefined;
}

/** A value as JSON; undefined: it has no such form. */
export function toJson(value: Value): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint) return Number(value.value);
  if (value instanceof ListValue) return value.values().map(toJson);
  if (value instanceof MapValue)
    return Object.fromEntries(value.keys.map((key) => [String(key), toJson(value.get(key) ?? null)]));
  if (value instanceof ObjectValue)
    return Object.fromEntries(
      Object.keys(value.raw).map((key) => [value.type.jsonName?.(key) ?? key, toJson(value.get(key) ?? null)]),
    );
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof Optional) return value.value === undefined ? undefined : toJson(value.value);
  return undefined;
}
