// Writes an object as the message upstream's generated encoders write, byte for byte: fields by number, scalars that are not pointers even
// when zero, structs that are not pointers even when empty, maps by sorted key.
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { decodeBase64, DecodeError, type FieldSchema, parseGoTime } from '../schema/index.ts';
import type { ProtoField, ProtoMessage } from './proto-plan.ts';

type JsonObject = Record<string, unknown>;

const utf8 = new TextEncoder();
const empty: JsonObject = {};

/** Writes the fields of one message. */
export function writeMessage(writer: BinaryWriter, message: ProtoMessage, object: JsonObject): void {
  for (const field of message.fields) writeField(writer, field, object);
}

function writeField(writer: BinaryWriter, { number, field, message }: ProtoField, object: JsonObject): void {
  if (field === undefined) {
    nested(writer, number, () => message && writeMessage(writer, message, object));
    return;
  }
  const value = object[field.name];
  if (field.shape === 'list') writeList(writer, number, field, message, value);
  else if (field.shape !== undefined) writeMap(writer, number, field, message, value);
  else if (value !== undefined && value !== null) writeValue(writer, number, field, message, value);
  else if (field.pointer !== true) writeValue(writer, number, field, message, zeroOf(field));
}

function nested(writer: BinaryWriter, number: number, write: () => void): void {
  writer.tag(number, WireType.LengthDelimited).fork();
  write();
  writer.join();
}

/** What stands for an absent value; undefined where nil bytes write nothing. */
function zeroOf(field: FieldSchema): unknown {
  switch (field.type) {
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'message':
      return empty;
    case 'quantity':
      return '0';
    case 'int32':
    case 'int64':
    case 'uint32':
    case 'uint64':
    case 'float':
    case 'double':
    case 'intOrString':
      return 0;
    default:
      return undefined;
  }
}

function writeList(
  writer: BinaryWriter,
  number: number,
  field: FieldSchema,
  message: ProtoMessage | undefined,
  value: unknown,
): void {
  if (!Array.isArray(value)) return;
  const elements = (at: number): void => {
    for (const element of value) writeValue(writer, at, field, message, element ?? zeroOf(field));
  };
  if (field.wrapped) nested(writer, number, () => elements(1));
  else elements(number);
}

const compareUtf8 = (a: string, b: string): number => {
  const [left, right] = [utf8.encode(a), utf8.encode(b)];
  const common = Math.min(left.length, right.length);
  for (let at = 0; at < common; at++) if (left[at] !== right[at]) return (left[at] ?? 0) - (right[at] ?? 0);
  return left.length - right.length;
};
const ascii = /^[\0-\x7f]*$/;

/** Go sorts by bytes; JavaScript by UTF-16 units, which is the same for ASCII. */
function sortedKeys(map: JsonObject): string[] {
  const keys = Object.keys(map);
  return keys.every((key) => ascii.test(key)) ? keys.sort() : keys.sort(compareUtf8);
}

function writeMap(
  writer: BinaryWriter,
  number: number,
  field: FieldSchema,
  message: ProtoMessage | undefined,
  value: unknown,
): void {
  if (typeof value !== 'object' || value === null) return;
  const map = value as JsonObject;
  for (const key of sortedKeys(map)) {
    nested(writer, number, () => {
      writer.tag(1, WireType.LengthDelimited).string(key);
      const entry = map[key];
      if (field.shape === 'map') writeValue(writer, 2, field, message, entry ?? zeroOf(field));
      else if (Array.isArray(entry)) nested(writer, 2, () => writeList(writer, 1, { ...field, shape: 'list' }, message, entry));
    });
  }
}

function writeValue(
  writer: BinaryWriter,
  number: number,
  field: FieldSchema,
  message: ProtoMessage | undefined,
  value: unknown,
): void {
  switch (field.type) {
    case 'string':
      writer.tag(number, WireType.LengthDelimited).string(value as string);
      return;
    case 'bool':
      writer.tag(number, WireType.Varint).bool(value as boolean);
      return;
    case 'int32':
      writer.tag(number, WireType.Varint).int32(value as number);
      return;
    case 'int64':
      writer.tag(number, WireType.Varint).int64(BigInt.asIntN(64, BigInt(value as number)));
      return;
    case 'uint32':
      writer.tag(number, WireType.Varint).uint32(value as number);
      return;
    case 'uint64':
      writer.tag(number, WireType.Varint).uint64(BigInt.asUintN(64, BigInt(value as number)));
      return;
    case 'float':
      writer.tag(number, WireType.Bit32).float(value as number);
      return;
    case 'double':
      writer.tag(number, WireType.Bit64).double(value as number);
      return;
    case 'bytes':
      if (value !== undefined) writer.tag(number, WireType.LengthDelimited).bytes(bytesOf(value as string));
      return;
    case 'message':
      nested(writer, number, () => message && writeMessage(writer, message, value as JsonObject));
      return;
    default:
      nested(writer, number, () => writeSpecial(writer, field, message, value));
  }
}

function bytesOf(text: string): Uint8Array {
  const bytes = decodeBase64(text);
  if (bytes instanceof Uint8Array) return bytes;
  throw new DecodeError(`illegal base64 data at input byte ${bytes.corruptAt}`);
}

/** The message inside a special type; `value` is undefined for the zero value of those that write nothing then. */
function writeSpecial(writer: BinaryWriter, field: FieldSchema, message: ProtoMessage | undefined, value: unknown): void {
  switch (field.type) {
    case 'time':
    case 'microTime': {
      if (typeof value !== 'string') return;
      const { seconds, nanos } = parseGoTime(value, field.type);
      writer.tag(1, WireType.Varint).int64(BigInt(seconds));
      writer.tag(2, WireType.Varint).int32(field.type === 'time' ? 0 : nanos - (nanos % 1000));
      return;
    }
    case 'quantity':
      writer.tag(1, WireType.LengthDelimited).string(String(value));
      return;
    case 'intOrString':
      writer.tag(1, WireType.Varint).int64(typeof value === 'string' ? 1n : 0n);
      writer.tag(2, WireType.Varint).int32(typeof value === 'number' ? value : 0);
      writer.tag(3, WireType.LengthDelimited).string(typeof value === 'string' ? value : '');
      return;
    case 'rawExtension':
    case 'fieldsV1':
    case 'json':
      if (value !== undefined && value !== null) writer.tag(1, WireType.LengthDelimited).string(JSON.stringify(value));
      return;
    default:
      if (message !== undefined) writeEither(writer, field.type, message, value);
  }
}

/** apiextensions' JSONSchemaPropsOrArray, OrBool and OrStringArray. */
function writeEither(writer: BinaryWriter, type: FieldSchema['type'], message: ProtoMessage, value: unknown): void {
  const isSchema = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (type === 'schemaOrBool') writer.tag(1, WireType.Varint).bool(value === true || isSchema);
  if (isSchema) nested(writer, type === 'schemaOrBool' ? 2 : 1, () => writeMessage(writer, message, value as JsonObject));
  if (!Array.isArray(value)) return;
  for (const element of value) {
    if (type === 'schemaOrStringArray') writer.tag(2, WireType.LengthDelimited).string(String(element));
    else nested(writer, 2, () => writeMessage(writer, message, element as JsonObject));
  }
}
