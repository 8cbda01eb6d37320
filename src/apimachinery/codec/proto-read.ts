// Reads a message into the JSON form of its object. What comes out still has to be brought into canonical form (`normalize`).
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { DecodeError, encodeBase64, type FieldSchema, formatGoTime, parseJson } from '../schema/index.ts';
import { messageDepthMax } from './limits.ts';
import type { ProtoField, ProtoMessage } from './proto-plan.ts';

type JsonObject = Record<string, unknown>;

const utf8 = new TextDecoder();

/** Reads one message from `reader` to its end into `target`. Throws `DecodeError` or an Error of the wire reader. */
export function readMessage(reader: BinaryReader, message: ProtoMessage, target: JsonObject, depth = 0): JsonObject {
  if (depth > messageDepthMax) throw new DecodeError('exceeded max depth');
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const field = message.field(number);
    if (field === undefined) reader.skip(wireType, number);
    else readField(reader, wireType, field, target, depth);
  }
  return target;
}

const scalarWireTypes: Partial<Record<FieldSchema['type'], WireType>> = {
  bool: WireType.Varint,
  int32: WireType.Varint,
  int64: WireType.Varint,
  uint32: WireType.Varint,
  uint64: WireType.Varint,
  float: WireType.Bit32,
  double: WireType.Bit64,
};
const wireTypeOf = (field: FieldSchema | undefined): WireType =>
  (field && scalarWireTypes[field.type]) ?? WireType.LengthDelimited;

function expect(wireType: WireType, wanted: WireType, name: string): void {
  if (wireType !== wanted)
    throw new DecodeError(`proto: wrong wireType = ${wireType} for field ${name.slice(0, 1).toUpperCase()}${name.slice(1)}`);
}

/** A reader of the next length-delimited field alone. */
const inside = (reader: BinaryReader): BinaryReader => new BinaryReader(reader.bytes());

function readField(
  reader: BinaryReader,
  wireType: WireType,
  { field, message }: ProtoField,
  target: JsonObject,
  depth: number,
): void {
  if (field === undefined) {
    expect(wireType, WireType.LengthDelimited, message?.name.split('.').at(-1) ?? '');
    if (message) readMessage(inside(reader), message, target, depth + 1);
    return;
  }
  if (field.shape === 'map' || field.shape === 'mapOfLists') {
    expect(wireType, WireType.LengthDelimited, field.name);
    readEntry(inside(reader), field, message, ownMap(target, field.name), depth);
    return;
  }
  if (field.shape !== 'list') {
    expect(wireType, wireTypeOf(field), field.name);
    target[field.name] = readValue(reader, field, message, depth);
    return;
  }
  const list = ((target[field.name] as unknown[] | undefined) ?? (target[field.name] = [])) as unknown[];
  const packed = wireType === WireType.LengthDelimited && wireTypeOf(field) !== WireType.LengthDelimited;
  if (packed || field.wrapped) {
    const items = inside(reader);
    while (items.pos < items.len) {
      if (!packed) expect(items.tag()[1], WireType.LengthDelimited, field.name);
      list.push(readValue(items, field, message, depth));
    }
    return;
  }
  expect(wireType, wireTypeOf(field), field.name);
  list.push(readValue(reader, field, message, depth));
}

const ownMap = (target: JsonObject, name: string): JsonObject => (target[name] ??= {}) as JsonObject;

function readEntry(
  reader: BinaryReader,
  field: FieldSchema,
  message: ProtoMessage | undefined,
  map: JsonObject,
  depth: number,
): void {
  let key = '';
  let value: unknown;
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1) {
      expect(wireType, WireType.LengthDelimited, field.name);
      key = reader.string();
    } else if (number === 2 && field.shape === 'mapOfLists') {
      expect(wireType, WireType.LengthDelimited, field.name);
      value = readWrapped(inside(reader), field);
    } else if (number === 2) {
      expect(wireType, wireTypeOf(field), field.name);
      value = readValue(reader, field, message, depth);
    } else {
      reader.skip(wireType, number);
    }
  }
  Object.defineProperty(map, key, { value: value ?? null, enumerable: true, configurable: true, writable: true });
}

function readWrapped(reader: BinaryReader, field: FieldSchema): string[] {
  const items: string[] = [];
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number !== 1) reader.skip(wireType, number);
    else {
      expect(wireType, WireType.LengthDelimited, field.name);
      items.push(reader.string());
    }
  }
  return items;
}

function readValue(reader: BinaryReader, field: FieldSchema, message: ProtoMessage | undefined, depth: number): unknown {
  switch (field.type) {
    case 'string':
      return reader.string();
    case 'bool':
      return reader.bool();
    case 'int32':
      return reader.int32();
    case 'int64':
      return Number(reader.int64());
    case 'uint32':
      return reader.uint32();
    case 'uint64':
      return Number(reader.uint64());
    case 'float':
      return reader.float();
    case 'double':
      return reader.double();
    case 'bytes':
      return encodeBase64(reader.bytes());
    case 'message':
      return message && readMessage(inside(reader), message, {}, depth + 1);
    default:
      return readSpecial(inside(reader), field, message, depth + 1);
  }
}

interface Parts {
  varints: Map<number, bigint>;
  bytes: Map<number, Uint8Array[]>;
}

/** The fields of a small message whose layout is known: last varint and all byte strings of each number. */
function readParts(reader: BinaryReader): Parts {
  const parts: Parts = { varints: new Map(), bytes: new Map() };
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (wireType === WireType.Varint) parts.varints.set(number, BigInt(reader.int64()));
    else if (wireType === WireType.LengthDelimited) parts.bytes.set(number, [...(parts.bytes.get(number) ?? []), reader.bytes()]);
    else reader.skip(wireType, number);
  }
  return parts;
}

function readSpecial(reader: BinaryReader, field: FieldSchema, message: ProtoMessage | undefined, depth: number): unknown {
  const isEmpty = reader.len === 0;
  const { varints, bytes } = readParts(reader);
  const number = (at: number): number => Number(BigInt.asIntN(64, varints.get(at) ?? 0n));
  const text = (at: number): string => utf8.decode(bytes.get(at)?.at(-1) ?? new Uint8Array());
  switch (field.type) {
    case 'time':
      return isEmpty ? null : formatGoTime({ seconds: number(1), nanos: 0 }, 'time');
    case 'microTime':
      return isEmpty ? null : formatGoTime({ seconds: number(1), nanos: number(2) }, 'microTime');
    case 'quantity':
      return text(1) === '' ? '0' : text(1);
    case 'intOrString':
      return number(1) === 1 ? text(3) : number(2);
    case 'rawExtension':
    case 'fieldsV1':
    case 'json':
      return bytes.has(1) ? parseJson(text(1)).value : null;
    default:
      return message && readEither(field.type, message, { varints, bytes }, depth);
  }
}

function readEither(type: FieldSchema['type'], message: ProtoMessage, { varints, bytes }: Parts, depth: number): unknown {
  const schema = (data: Uint8Array): JsonObject => readMessage(new BinaryReader(data), message, {}, depth);
  const single = bytes.get(type === 'schemaOrBool' ? 2 : 1)?.at(-1);
  if (type === 'schemaOrBool') return single === undefined ? (varints.get(1) ?? 0n) !== 0n : schema(single);
  const many = bytes.get(2);
  if (many !== undefined) return many.map((data) => (type === 'schemaOrStringArray' ? utf8.decode(data) : schema(data)));
  return single === undefined ? null : schema(single);
}
