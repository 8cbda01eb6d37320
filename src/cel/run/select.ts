// Parts of values by name, key or place, and whether a value is of a type.
import { CelError } from '../errors.ts';
import { Duration, Timestamp } from '../values/times.ts';
import type { Type } from '../types.ts';
import {
  keyOf,
  ListValue,
  MapValue,
  memberOf,
  ObjectValue,
  OpaqueValue,
  Optional,
  typeNameOf,
  type Value,
} from '../values/values.ts';

/** Whether a value fits a parameter, as far as its type shows. */
export function isOf(value: Value, type: Type): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'param':
    case 'error':
      return true;
    case 'null':
      return value === null;
    case 'list':
      return value instanceof ListValue && (value.size === 0 || isOf(value.at(0), type.of));
    case 'map':
      return value instanceof MapValue || value instanceof ObjectValue;
    case 'timestamp':
      return value instanceof Timestamp;
    case 'duration':
      return value instanceof Duration;
    case 'opaque':
      return type.name === 'optional_type' ? value instanceof Optional : value instanceof OpaqueValue && value.type === type.name;
    case 'object':
      return value instanceof ObjectValue || value instanceof MapValue || value instanceof OpaqueValue;
    default:
      return typeNameOf(value) === type.kind;
  }
}

const namedInList = (name: string): CelError => new CelError(`unsupported index type '${typeNameOf(name)}' in list`);

/** What has no fields at all, as null, has not this one either. */
export function hasField(owner: Value, name: string): boolean {
  if (owner instanceof Optional) return owner.value !== undefined && hasField(owner.value, name);
  if (owner instanceof ListValue) throw namedInList(name);
  return memberOf(owner, name) !== undefined;
}

/** The value of a field. A value that has no fields at all, such as null, fails with the same error as a map without that key. */
export function fieldOf(owner: Value, name: string): Value {
  if (owner instanceof ListValue) throw namedInList(name);
  const value = memberOf(owner, name);
  if (value === undefined) throw new CelError(`no such key: ${name}`);
  return value;
}

export function optionalSelect(owner: Value, name: string): Optional {
  const inner = owner instanceof Optional ? owner.value : owner;
  if (inner === undefined || inner === null) return new Optional();
  if (inner instanceof ListValue) throw namedInList(name);
  return new Optional(memberOf(inner, name));
}

export function optionalIndex(owner: Value, key: Value): Optional {
  const inner = owner instanceof Optional ? owner.value : owner;
  if (inner === undefined || inner === null) return new Optional();
  if (!(inner instanceof ListValue)) return new Optional(memberOf(inner, key));
  const index = Number(keyOf(key) ?? -1);
  return index >= 0 && index < inner.size ? new Optional(inner.at(index)) : new Optional();
}

export function indexOf(owner: Value, key: Value): Value {
  if (owner instanceof ListValue) {
    const index = keyOf(key);
    if (typeof index !== 'bigint') throw new CelError(`unsupported index type '${typeNameOf(key)}' in list`);
    if (index < 0n || index >= BigInt(owner.size)) throw new CelError(`index out of bounds: ${index}`);
    return owner.at(Number(index));
  }
  const value = memberOf(owner, key);
  if (value === undefined) throw new CelError(`no such key: ${String(keyOf(key))}`);
  return value;
}
