// Protobuf bodies of built-in kinds: the magic prefix, runtime.Unknown around the message, and frames of a watch
// (k8s.io/apimachinery/pkg/runtime/serializer/protobuf, pkg/apis/meta/v1 WatchEvent).
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { type GroupVersionKind, parseApiVersion } from '../meta/index.ts';
import { decode, DecodeError, type SchemaTable, TimeError } from '../schema/index.ts';
import { frameBytesMax } from './limits.ts';
import { hasProtobuf, protoPlansOf } from './proto-plan.ts';
import { readMessage } from './proto-read.ts';
import { writeMessage } from './proto-write.ts';

export const protobufMediaType = 'application/vnd.kubernetes.protobuf';

const prefix = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

const hasPrefix = (bytes: Uint8Array): boolean => prefix.every((byte, at) => bytes[at] === byte);

const typeOf = (table: SchemaTable, apiVersion: string, kind: string): string | undefined => {
  const { group, version } = parseApiVersion(apiVersion);
  return table.kind(group, version, kind)?.name;
};

/** Whether objects of the kind have a protobuf form; custom resources and Table have none. */
export function supportsProtobuf(table: SchemaTable, { group, version, kind }: GroupVersionKind): boolean {
  const type = table.kind(group, version, kind);
  return type !== undefined && hasProtobuf(table, type.name);
}

/** The whole body of an object that names its apiVersion and kind. Throws `DecodeError` for kinds without protobuf. */
export function encodeProtobuf(table: SchemaTable, object: { apiVersion?: string; kind?: string }): Uint8Array<ArrayBuffer> {
  const { apiVersion = '', kind = '' } = object;
  const typeName = typeOf(table, apiVersion || 'v1', kind);
  if (typeName === undefined || !hasProtobuf(table, typeName))
    throw new DecodeError(`${apiVersion} ${kind} cannot be written as protobuf`);
  const writer = startEnvelope({ apiVersion, kind });
  writer.tag(2, WireType.LengthDelimited).fork();
  writeMessage(writer, protoPlansOf(table).message(typeName), object as Record<string, unknown>);
  writer.join();
  return endEnvelope(writer).finish();
}

/** What stands before the message: the prefix, and which kind it is. */
export function startEnvelope({ apiVersion, kind }: { apiVersion: string; kind: string }): BinaryWriter {
  const writer = new BinaryWriter();
  writer.raw(prefix);
  writer.tag(1, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.LengthDelimited).string(apiVersion);
  writer.tag(2, WireType.LengthDelimited).string(kind);
  return writer.join();
}

/** What stands behind it: no content encoding, no content type. */
export const endEnvelope = (writer: BinaryWriter): BinaryWriter =>
  writer.tag(3, WireType.LengthDelimited).string('').tag(4, WireType.LengthDelimited).string('');

/** The contents of a runtime.Unknown: what stands around each object in Kubernetes' protobuf. */
export interface ProtobufEnvelope {
  apiVersion: string;
  kind: string;
  raw: Uint8Array;
}

/** Runs `read`; whatever is wrong with the bytes becomes a `DecodeError`. */
function guarded<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof DecodeError) throw error;
    if (error instanceof RangeError) throw new DecodeError('unexpected EOF');
    if (error instanceof TimeError || error instanceof Error) throw new DecodeError(`proto: ${error.message}`);
    throw error;
  }
}

/** Opens the envelope. Throws `DecodeError` with upstream's messages. */
export function openProtobuf(bytes: Uint8Array): ProtobufEnvelope {
  if (bytes.length === 0) throw new DecodeError('empty data');
  if (!hasPrefix(bytes))
    throw new DecodeError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  if (bytes.length === prefix.length) throw new DecodeError('empty body');
  return guarded(() => {
    const envelope: ProtobufEnvelope = { apiVersion: '', kind: '', raw: new Uint8Array() };
    const reader = new BinaryReader(bytes.subarray(prefix.length));
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      if (number === 1 && wireType === WireType.LengthDelimited) readTypeMeta(new BinaryReader(reader.bytes()), envelope);
      else if (number === 2 && wireType === WireType.LengthDelimited) envelope.raw = reader.bytes();
      else reader.skip(wireType, number);
    }
    return envelope;
  });
}

function readTypeMeta(reader: BinaryReader, envelope: ProtobufEnvelope): void {
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1 && wireType === WireType.LengthDelimited) envelope.apiVersion = reader.string();
    else if (number === 2 && wireType === WireType.LengthDelimited) envelope.kind = reader.string();
    else reader.skip(wireType, number);
  }
}

/** Reads one message (without envelope) as `typeName`, in canonical form. Unknown fields are skipped, as upstream does. */
export function readProtobuf(table: SchemaTable, typeName: string, raw: Uint8Array): Record<string, unknown> {
  const plain = guarded(() => readMessage(new BinaryReader(raw), protoPlansOf(table).message(typeName), {}));
  return decode(table, typeName, plain).object;
}

/**
 * Reads a whole body. `fallback` names the kind of a body that names none. Throws `DecodeError` for malformed bytes and unknown kinds.
 */
export function decodeProtobuf(table: SchemaTable, bytes: Uint8Array, fallback?: GroupVersionKind): Record<string, unknown> {
  const envelope = openProtobuf(bytes);
  const { group, version } =
    envelope.apiVersion === ''
      ? { group: fallback?.group ?? '', version: fallback?.version ?? '' }
      : parseApiVersion(envelope.apiVersion);
  const kind = envelope.kind === '' ? (fallback?.kind ?? '') : envelope.kind;
  if (kind === '') throw new DecodeError("Object 'Kind' is missing");
  if (version === '') throw new DecodeError("Object 'apiVersion' is missing");
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const typeName = table.kind(group, version, kind)?.name;
  if (typeName === undefined) throw new DecodeError(`no kind "${kind}" is registered for version "${apiVersion}"`);
  const object = readProtobuf(table, typeName, envelope.raw);
  return typedObject(table, typeName, object, apiVersion, kind);
}

/** kind and apiVersion are not in the message; in JSON they come first. */
function typedObject(
  table: SchemaTable,
  typeName: string,
  object: Record<string, unknown>,
  apiVersion: string,
  kind: string,
): Record<string, unknown> {
  const named = table.type(typeName)?.fields.some((field) => field.name === 'apiVersion' && field.number === 0);
  return named ? { kind, apiVersion, ...object } : object;
}

/** One event of a protobuf watch: four bytes of length, then a WatchEvent around the object's whole body (`encodeProtobuf`). */
export function encodeWatchFrame(type: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.LengthDelimited).string(type);
  writer.tag(2, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.LengthDelimited).bytes(body);
  writer.join();
  const message = writer.finish();
  const frame = new Uint8Array(message.length + 4);
  new DataView(frame.buffer).setUint32(0, message.length);
  frame.set(message, 4);
  return frame;
}

/** The event inside one frame (without its length); `body` is the object's whole body. */
export function decodeWatchFrame(message: Uint8Array): { type: string; body: Uint8Array } {
  return guarded(() => {
    const event = { type: '', body: new Uint8Array() as Uint8Array };
    const reader = new BinaryReader(message);
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      if (number === 1 && wireType === WireType.LengthDelimited) event.type = reader.string();
      else if (number === 2 && wireType === WireType.LengthDelimited) event.body = rawOf(new BinaryReader(reader.bytes()));
      else reader.skip(wireType, number);
    }
    return event;
  });
}

function rawOf(reader: BinaryReader): Uint8Array {
  let raw: Uint8Array = new Uint8Array();
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1 && wireType === WireType.LengthDelimited) raw = reader.bytes();
    else reader.skip(wireType, number);
  }
  return raw;
}

/** Cuts a stream of chunks into frames. `push` returns the frames that are complete; it throws `DecodeError` for one that is too long. */
export class FrameReader {
  #buffered: Uint8Array = new Uint8Array();

  push(chunk: Uint8Array): Uint8Array[] {
    const all = new Uint8Array(this.#buffered.length + chunk.length);
    all.set(this.#buffered);
    all.set(chunk, this.#buffered.length);
    const view = new DataView(all.buffer);
    const frames: Uint8Array[] = [];
    let at = 0;
    while (all.length - at >= 4) {
      const length = view.getUint32(at);
      if (length > frameBytesMax) throw new DecodeError(`frame of ${length} bytes exceeds ${frameBytesMax}`);
      if (all.length - at - 4 < length) break;
      frames.push(all.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
    this.#buffered = all.subarray(at);
    return frames;
  }
}
