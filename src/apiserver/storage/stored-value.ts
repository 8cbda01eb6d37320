// Values in the store: our JSON, or what an upstream apiserver wrote.
import { decodeProtobuf } from '#apimachinery/codec';
import type { UnknownObject } from '#apimachinery/meta';
import type { SchemaTable } from '#apimachinery/schema';

/** Reads a stored object, from JSON or from protobuf, which is known by its first bytes. */
export function decodeStoredValue(schema: SchemaTable, bytes: Uint8Array): UnknownObject {
  if (bytes[0] === 0x6b && bytes[1] === 0x38 && bytes[2] === 0x73) return decodeProtobuf(schema, bytes) as UnknownObject;
  return JSON.parse(Buffer.from(bytes).toString()) as UnknownObject;
}
