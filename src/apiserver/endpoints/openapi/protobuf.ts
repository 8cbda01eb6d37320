// An OpenAPI v2 document in protobuf, as kubectl asks for it (k8s.io/kube-openapi/pkg/handler; message openapi.v2.Document of gnostic).
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { formatYaml } from '#apimachinery/codec';
import { jsonMembers } from '#apimachinery/schema';
import type { Steps } from '#utils';
import { entries, extensions, type Field, itself, type MessageName, messages, others, type Scalar } from './protobuf-messages.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Extensions say the same few things thousands of times: each is put into YAML once. */
class DocumentWriter extends BinaryWriter {
  readonly #yaml = new Map<string, string>();

  yaml(value: unknown): string {
    const key = JSON.stringify(value);
    const text = this.#yaml.get(key) ?? formatYaml(value);
    this.#yaml.set(key, text);
    return text;
  }
}

/**
 * The document, a JSON value, as bytes; fields stand in the order of their numbers, and zero values of no oneof are left out. It may pause
 * between any two paths or definitions.
 */
export function* encodeOpenApiV2(document: object): Steps<Uint8Array> {
  const writer = new DocumentWriter();
  const { Document } = messages;
  for (const [at, field] of ('choose' in Document ? [] : Document).entries()) {
    const [source, type] = field;
    const whole = (document as JsonObject)[source];
    if (whole !== undefined && (type === 'Paths' || type === 'Definitions')) yield* writeLong(writer, at + 1, type, whole);
    else writeField(writer, at + 1, field, document);
  }
  return writer.finish();
}

/** A message of thousands of pairs. */
function* writeLong(writer: DocumentWriter, number: number, type: 'Paths' | 'Definitions', value: unknown): Steps<void> {
  const message = messages[type];
  writer.tag(number, WireType.LengthDelimited).fork();
  for (const [at, [source, of]] of ('choose' in message ? [] : message).entries()) {
    const isPair = pairs[source] ?? (() => false);
    for (const [name, item] of jsonMembers(value as object)) {
      if (!isPair(name)) continue;
      writePair(writer, at + 1, of, name, item);
      yield;
    }
  }
  writer.join();
}

function writeMessage(writer: DocumentWriter, name: MessageName, value: unknown): void {
  if (name === 'Any') return writeAny(writer, value);
  const message = messages[name];
  if ('choose' in message) {
    const [number, type] = message.choose(value);
    writeValue(writer, number, type, value);
  } else for (const [at, field] of message.entries()) writeField(writer, at + 1, field, value);
}

function nested(writer: DocumentWriter, number: number, write: () => void): void {
  writer.tag(number, WireType.LengthDelimited).fork();
  write();
  writer.join();
}

/** The second field of `Any`; the first is for values of extensions that are compiled in. */
const yamlNumber = 2;
const writeAny = (writer: DocumentWriter, value: unknown): void => {
  writer.tag(yamlNumber, WireType.LengthDelimited).string(writer.yaml(value));
};

/** Values that are left out where a field has them. A message is written whatever it holds, `Any` too. */
const zeros: Readonly<Record<Scalar, unknown>> = { string: '', bool: false, int64: 0, double: 0 };

const isExtension = (name: string): boolean => name.startsWith('x-');
/** The sources of many pairs, and which keys theirs are. */
const pairs: Readonly<Record<string, ((name: string) => boolean) | undefined>> = {
  [extensions]: isExtension,
  [others]: (name) => !isExtension(name),
  [entries]: () => true,
};

function writeField(writer: DocumentWriter, number: number, [source, type, repeated]: Field, owner: unknown): void {
  const isPair = pairs[source];
  if (isPair) {
    for (const [name, value] of Object.entries(owner as JsonObject))
      if (isPair(name)) writePair(writer, number, type, name, value);
    return;
  }
  const value = source === itself ? owner : (owner as JsonObject)[source];
  if (value === undefined) return;
  if (repeated) for (const item of Array.isArray(value) ? value : [value]) writeValue(writer, number, type, item);
  else if (value !== zeros[type as Scalar]) writeValue(writer, number, type, value);
}

/** A message of the Named kind: name 1, value 2. */
function writePair(writer: DocumentWriter, number: number, type: Field[1], name: string, value: unknown): void {
  nested(writer, number, () => {
    if (name !== '') writeValue(writer, 1, 'string', name);
    writeValue(writer, 2, type, value);
  });
}

function writeValue(writer: DocumentWriter, number: number, type: Scalar | MessageName, value: unknown): void {
  switch (type) {
    case 'string':
      writer.tag(number, WireType.LengthDelimited).string(String(value));
      return;
    case 'bool':
      writer.tag(number, WireType.Varint).bool(value === true);
      return;
    case 'int64':
      writer.tag(number, WireType.Varint).int64(value as number);
      return;
    case 'double':
      writer.tag(number, WireType.Bit64).double(value as number);
      return;
    default:
      nested(writer, number, () => writeMessage(writer, type, value));
  }
}
