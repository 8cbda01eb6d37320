// A list in protobuf item by item: the whole of a large one is too much work for one go (k8s.io/apimachinery/pkg/runtime/serializer/protobuf,
// streaming of collections).
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { assert } from '#utils';
import { parseApiVersion } from '../meta/index.ts';
import type { SchemaTable } from '../schema/index.ts';
import { protoPlansOf } from './proto-plan.ts';
import { writeMessage } from './proto-write.ts';
import { endEnvelope, startEnvelope } from './protobuf.ts';

export interface ProtobufListWriter {
  /** One item as it stands in the list. */
  item(object: object): Uint8Array;
  /** What stands before and behind items of so many bytes. */
  around(itemBytes: number): { before: Uint8Array; after: Uint8Array };
}

/** `head`: the list without its items; its kind has a protobuf form. */
export function protobufListWriter(table: SchemaTable, head: { apiVersion: string; kind: string }): ProtobufListWriter {
  const { group, version } = parseApiVersion(head.apiVersion);
  const type = table.kind(group, version, head.kind);
  const items = type?.fields.find(({ name }) => name === 'items');
  assert(type !== undefined && items?.ref !== undefined, `${head.kind} is a list`);
  const plans = protoPlansOf(table);
  const { number, ref } = items;
  return {
    item(object) {
      const writer = new BinaryWriter();
      writer.tag(number, WireType.LengthDelimited).fork();
      writeMessage(writer, plans.message(ref), object as Record<string, unknown>);
      return writer.join().finish();
    },
    around(itemBytes) {
      const message = new BinaryWriter();
      writeMessage(message, plans.message(type.name), head as unknown as Record<string, unknown>);
      const opening = message.finish();
      const writer = startEnvelope(head).tag(2, WireType.LengthDelimited);
      writer.uint32(opening.length + itemBytes).raw(opening);
      return { before: writer.finish(), after: endEnvelope(new BinaryWriter()).finish() };
    },
  };
}
