// Values of CEL at run time. int is bigint, double is number; what comes from JSON is converted where it is touched, by its declared type.
import { decodeBase64 } from '#apimachinery/schema';
import { parseDurationNs, DurationError } from '#apimachinery/duration';
import type { ObjectType, Type } from './types.ts';
import * as types from './types.ts';

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

/** Why an expression has no value; passed on unless `&&`, `||` or a macro absorbs it. */
export class CelError extends Error {}

/** The expression ran longer than it may. */
export class CostError extends CelError {}

export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    if (value < 0n || value >= 2n ** 64n) throw new CelError('unsigned integer overflow');
    this.value = value;
  }
}

export class Timestamp {
  /** Nanoseconds since the epoch. */
  readonly ns: bigint;
  constructor(ns: bigint) {
    this.ns = ns;
  }
}

export class Duration {
  readonly ns: bigint;
  constructor(ns: bigint) {
    this.ns = ns;
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

/** Values of libraries: quantities, URLs, addresses. */
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

/** What `Name{field: value}` makes. */
export class StructValue extends OpaqueValue {
  readonly fields: ReadonlyMap<string, Value>;
  constructor(type: string, fields: ReadonlyMap<string, Value>) {
    super(type, fields, (other) => fieldsEqual(fields, other as ReadonlyMap<string, Value>));
    this.fields = fields;
  }
}

const fieldsEqual = (left: ReadonlyMap<string, Value>, right: ReadonlyMap<string, Value>): boolean =>
  left.size === right.size &&
  [...left].every(([name, value]) => {
    const other = right.get(name);
    return other !== undefined && equal(value, other);
  });

/** A list, of CEL values or of JSON with a declared type. */
export class ListValue {
  private readonly items: readonly unknown[];
  private readonly of: Type | undefined;
  /** Keys that make items of a list with `x-kubernetes-list-type: map` the same, or [] of a set. */
  readonly keys: readonly string[] | undefined;
  constructor(items: readonly unknown[], of?: Type, keys?: readonly string[]) {
    this.items = items;
    this.of = of;
    this.keys = keys;
  }
  get size(): number {
    return this.items.length;
  }
  /** Made by an expression, not by JSON. */
  get isMade(): boolean {
    return this.of === undefined;
  }
  at(index: number): Value {
    const item = this.items[index];
    return this.of === undefined ? (item as Value) : fromJson(item, this.of);
  }
  values(): Value[] {
    return this.of === undefined ? (this.items as Value[]) : this.items.map((item) => fromJson(item, this.of as Type));
  }
}

export type Key = string | bigint | boolean;

export class MapValue {
  readonly entries: ReadonlyMap<Key, unknown>;
  private readonly of: Type | undefined;
  constructor(entries: ReadonlyMap<Key, unknown>, of?: Type) {
    this.entries = entries;
    this.of = of;
  }
  get size(): number {
    return this.entries.size;
  }
  /** Made by an expression, not by JSON. */
  get isMade(): boolean {
    return this.of === undefined;
  }
  get(key: Value): Value | undefined {
    const own = keyOf(key);
    if (own === undefined || !this.entries.has(own)) return undefined;
    const value = this.entries.get(own);
    return this.of === undefined ? (value as Value) : fromJson(value, this.of);
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

const second = 1_000_000_000n;

/** RFC 3339 with any fraction. */
export function parseTimestamp(text: string): Timestamp {
  const match = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9})\d*)?(Z|z|[+-]\d\d:\d\d)$/.exec(text);
  const ms = match ? Date.parse(`${match[1]}T${match[2]}${match[4]?.toUpperCase()}`) : Number.NaN;
  if (Number.isNaN(ms)) throw new CelError(`parsing time "${text}" as "2006-01-02T15:04:05Z07:00": cannot parse`);
  return new Timestamp(BigInt(ms) * 1_000_000n + BigInt((match?.[3] ?? '').padEnd(9, '0')));
}

export function parseDuration(text: string): Duration {
  try {
    return new Duration(parseDurationNs(text));
  } catch (error) {
    if (error instanceof DurationError) throw new CelError(error.message);
    throw error;
  }
}

export function timestampText({ ns }: Timestamp): string {
  const seconds = ns / second - (ns % second < 0n ? 1n : 0n);
  const rest = ns - seconds * second;
  const head = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  const fraction = rest === 0n ? '' : `.${rest.toString().padStart(9, '0').replace(/0+$/, '')}`;
  return `${head}${fraction}Z`;
}

/** Seconds with a fraction: `90.5s`. */
export function durationText({ ns }: Duration): string {
  const size = ns < 0n ? -ns : ns;
  const fraction = size % second;
  const text = fraction === 0n ? '' : `.${fraction.toString().padStart(9, '0').replace(/0+$/, '')}`;
  return `${ns < 0n ? '-' : ''}${size / second}${text}s`;
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

function objectFrom(json: Record<string, unknown>, type: Type): Value {
  if (type.kind === 'object') return new ObjectValue(json, type);
  return new MapValue(new Map(Object.entries(json)), type.kind === 'map' ? type.of : types.dyn);
}

function fromText(json: string, type: Type): Value {
  if (type.kind === 'timestamp') return parseTimestamp(json.includes('T') || json.includes('t') ? json : `${json}T00:00:00Z`);
  if (type.kind === 'duration') return parseDuration(json);
  if (type.kind !== 'bytes') return json;
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

const isNumber = (value: Value): boolean => typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint;
const numberOf = (value: Value): bigint | number => (value instanceof Uint ? value.value : (value as bigint | number));

/** Equality: never an error; numbers compare across types. */
export function equal(left: Value, right: Value): boolean {
  if (left === right) return true;
  if (isNumber(left) && isNumber(right)) return numberOf(left) == numberOf(right); // oxlint-disable-line eqeqeq
  if (left === null || right === null || typeof left !== 'object' || typeof right !== 'object') return false;
  if (left instanceof ListValue && right instanceof ListValue) return listsEqual(left, right);
  if (left instanceof Timestamp || left instanceof Duration)
    return right.constructor === left.constructor && (right as Timestamp | Duration).ns === left.ns;
  if (left instanceof Uint8Array)
    return right instanceof Uint8Array && left.length === right.length && left.every((byte, index) => byte === right[index]);
  if (left instanceof TypeValue) return right instanceof TypeValue && left.name === right.name;
  if (left instanceof Optional) return right instanceof Optional && optionalsEqual(left, right);
  if (left instanceof OpaqueValue)
    return (
      right instanceof OpaqueValue &&
      left.type === right.type &&
      (left.equals ? left.equals(right.content) : left.content === right.content)
    );
  return mappingsEqual(left, right);
}

const optionalsEqual = (left: Optional, right: Optional): boolean =>
  left.value === undefined || right.value === undefined ? left.value === right.value : equal(left.value, right.value);

function listsEqual(left: ListValue, right: ListValue): boolean {
  if (left.size !== right.size) return false;
  const { keys } = left;
  // The order of sets and of lists with keys says nothing.
  if (keys) return left.values().every((item) => right.values().some((other) => equal(item, other)));
  for (let index = 0; index < left.size; index++) if (!equal(left.at(index), right.at(index))) return false;
  return true;
}

function mappingsEqual(left: Value, right: Value): boolean {
  const mine = keysOf(left);
  const theirs = keysOf(right);
  if (!mine || !theirs || mine.length !== theirs.length) return false;
  return mine.every((key) => {
    const other = memberOf(right, key);
    return other !== undefined && equal(memberOf(left, key) as Value, other);
  });
}

/** Keys of a map or object. */
export function keysOf(value: Value): Key[] | undefined {
  if (value instanceof MapValue) return [...value.entries.keys()];
  return value instanceof ObjectValue ? Object.keys(value.raw) : undefined;
}

/** What a map or object holds under a key. */
export function memberOf(value: Value, key: Value): Value | undefined {
  if (value instanceof MapValue) return value.get(key);
  return value instanceof ObjectValue && typeof key === 'string' ? value.get(key) : undefined;
}

/** Below zero, zero, or above; undefined: the two have no order. */
export function compare(left: Value, right: Value): number | undefined {
  if (isNumber(left) && isNumber(right)) {
    const [one, two] = [numberOf(left), numberOf(right)];
    return one < two ? -1 : one > two ? 1 : one == two ? 0 : undefined; // oxlint-disable-line eqeqeq
  }
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right);
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  if ((left instanceof Timestamp && right instanceof Timestamp) || (left instanceof Duration && right instanceof Duration))
    return left.ns < right.ns ? -1 : Number(left.ns > right.ns);
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    for (let index = 0; index < Math.min(left.length, right.length); index++) {
      const difference = (left[index] ?? 0) - (right[index] ?? 0);
      if (difference !== 0) return difference;
    }
    return left.length - right.length;
  }
  return undefined;
}

/** By code points, as UTF-8 orders. */
function compareText(left: string, right: string): number {
  if (left === right) return 0;
  const [one, two] = [Array.from(left), Array.from(right)];
  for (let index = 0; index < Math.min(one.length, two.length); index++) {
    const difference = (one[index]?.codePointAt(0) ?? 0) - (two[index]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return one.length - two.length;
}

/** A value as JSON; undefined: it has no such form. */
export function toJson(value: Value): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint) return Number(value.value);
  if (value instanceof ListValue) return value.values().map(toJson);
  if (value instanceof MapValue)
    return Object.fromEntries([...value.entries.keys()].map((key) => [String(key), toJson(value.get(key) ?? null)]));
  if (value instanceof ObjectValue)
    return Object.fromEntries(
      Object.keys(value.raw).map((key) => [value.type.jsonName?.(key) ?? key, toJson(value.get(key) ?? null)]),
    );
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof Optional) return value.value === undefined ? undefined : toJson(value.value);
  return undefined;
}
