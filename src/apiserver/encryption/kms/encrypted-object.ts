// What is stored of a value that a KMS plugin's key protects: protobuf, message v2.EncryptedObject
// (k8s.io/apiserver/pkg/storage/value/encrypt/envelope/kmsv2/v2/api.proto). Pure.
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { isDNS1123Subdomain } from '#apimachinery/validation';
import { annotationsBytesMax, encryptedSeedBytesMax, keyIdBytesMax } from '../limits.ts';

/** What the plugin encrypted: a key of AES-GCM, or a seed of which each value gets a key of its own. */
export const sourceTypes = { key: 0, seed: 1 } as const;

/** How a seed is stored: what a plugin made of it, and what it says of that. */
export interface EncryptedSource {
  keyId: string;
  encryptedSource: Uint8Array;
  annotations: Readonly<Record<string, Uint8Array>>;
  sourceType: number;
}

export interface EncryptedObject extends EncryptedSource {
  data: Uint8Array;
}

export function encodeEncryptedObject(object: EncryptedObject): Uint8Array {
  const writer = new BinaryWriter();
  writer.uint32((1 << 3) | WireType.LengthDelimited).bytes(object.data);
  writer.uint32((2 << 3) | WireType.LengthDelimited).string(object.keyId);
  writer.uint32((3 << 3) | WireType.LengthDelimited).bytes(object.encryptedSource);
  for (const [key, value] of Object.entries(object.annotations)) {
    writer.uint32((4 << 3) | WireType.LengthDelimited).fork();
    writer.uint32((1 << 3) | WireType.LengthDelimited).string(key);
    writer.uint32((2 << 3) | WireType.LengthDelimited).bytes(value);
    writer.join();
  }
  if (object.sourceType !== 0) writer.uint32((5 << 3) | WireType.Varint).int32(object.sourceType);
  return writer.finish();
}

function readAnnotation(bytes: Uint8Array): [string, Uint8Array] {
  const reader = new BinaryReader(bytes);
  let key = '';
  let value: Uint8Array = new Uint8Array();
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) key = reader.string();
    else if (field === 2) value = reader.bytes();
    else reader.skip(type);
  }
  return [key, value];
}

/** Reads a stored EncryptedObject (k8s.io/kms, v2). Throws an Error with upstream's message for bytes that are not one. */
export function decodeEncryptedObject(bytes: Uint8Array): EncryptedObject {
  const reader = new BinaryReader(bytes);
  const annotations: [string, Uint8Array][] = [];
  const object = { data: new Uint8Array(), keyId: '', encryptedSource: new Uint8Array(), sourceType: 0 } as {
    data: Uint8Array;
    keyId: string;
    encryptedSource: Uint8Array;
    sourceType: number;
  };
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) object.data = reader.bytes();
    else if (field === 2) object.keyId = reader.string();
    else if (field === 3) object.encryptedSource = reader.bytes();
    else if (field === 4) annotations.push(readAnnotation(reader.bytes()));
    else if (field === 5) object.sourceType = reader.int32();
    else reader.skip(type);
  }
  const read = { ...object, annotations: Object.fromEntries(annotations) };
  if (read.data.length === 0) throw new Error('encrypted data is empty');
  checkSource(read);
  return read;
}

export function keyIdProblem(keyId: string): string | undefined {
  const bytes = Buffer.byteLength(keyId);
  if (bytes === 0) return 'keyID is empty';
  return bytes > keyIdBytesMax ? `keyID is ${bytes} bytes, which exceeds the max size of ${keyIdBytesMax}` : undefined;
}

/** Throws an Error for what a plugin may not answer and the store may not hold. */
export function checkSource({ keyId, encryptedSource, annotations, sourceType }: EncryptedSource): void {
  if (sourceType !== sourceTypes.key && sourceType !== sourceTypes.seed)
    throw new Error(`unknown encryptedDEKSourceType: ${sourceType}`);
  const { length } = encryptedSource;
  if (length === 0) throw new Error('failed to validate encrypted DEK source: encrypted DEK source is empty');
  if (length > encryptedSeedBytesMax)
    throw new Error(
      `failed to validate encrypted DEK source: encrypted DEK source is ${length} bytes, which exceeds the max size of ${encryptedSeedBytesMax}`,
    );
  const problem = keyIdProblem(keyId);
  if (problem !== undefined) throw new Error(`failed to validate key id: ${problem}`);
  let total = 0;
  for (const [key, value] of Object.entries(annotations)) {
    if (!key.includes('.') || isDNS1123Subdomain(key).length > 0)
      throw new Error(
        `failed to validate annotations: annotations: Invalid value: ${JSON.stringify(key)}: should be a domain with at least two segments separated by dots`,
      );
    total += Buffer.byteLength(key) + value.length;
  }
  if (total > annotationsBytesMax)
    throw new Error(
      `failed to validate annotations: total size of annotations is ${total}, which exceeds the max size of ${annotationsBytesMax}`,
    );
}
