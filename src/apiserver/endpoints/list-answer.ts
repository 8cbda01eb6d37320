// Lists on the wire, in every encoding and shape: made item by item with rests in between, because a list may have tens of thousands, then sent
// in pieces with drain (design: "Fast by construction", 4).
import { formatYaml, protobufListWriter, supportsProtobuf } from '#apimachinery/codec';
import { apiVersionOf, parseApiVersion } from '#apimachinery/meta';
import { compressBytesMin } from '../limits.ts';
import { gzipStream } from '../platform/streams.ts';
import type { ListPage } from '../registry/generic/list.ts';
import type { ServedResource } from '../registry/generic/types.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { inPieces } from './in-pieces.ts';
import { mediaTypes, type Negotiated } from './negotiation.ts';
import { type Answer, inVersion, sendValue, tableHead, wrongShape } from './respond.ts';
import { type IncludeObject, partialMetadata, rowOf, type Table } from './table.ts';

/** Items are made in groups of this size; between groups others may go on. */
const groupItems = 16;

const listMetadata = ({ revision, continueToken, remaining }: ListPage): Table['metadata'] => ({
  resourceVersion: String(revision),
  ...(continueToken && { continue: continueToken }),
  ...(remaining !== undefined && { remainingItemCount: remaining }),
});

/** A list without its items, the name of their field, and what each of them is. */
interface Shape {
  head: { kind: string; apiVersion: string };
  field: 'items' | 'rows';
  valueOf(entry: StoredObject): object;
  /** Its JSON behind `{`, where that is known. */
  bytesOf?(entry: StoredObject): Buffer;
  entries: readonly StoredObject[];
}

export async function sendList(
  answer: Answer,
  resource: ServedResource,
  page: ListPage,
  negotiated: Negotiated,
  include: IncludeObject,
): Promise<void> {
  if (negotiated.as === 'PartialObjectMetadata') throw wrongShape(resource, negotiated.as, true);
  const shape = await shapeOf(answer, resource, page, negotiated, include);
  // Upstream's conversions leave an empty list unset: of metadata, and of kinds without columns of their own.
  const isUnset = negotiated.as && shape.entries.length === 0 && (shape.field === 'items' || !resource.definition.printer);
  if (isUnset) return sendValue(answer, 200, { ...shape.head, [shape.field]: null }, negotiated);
  answer.audit?.responseObject(() => Buffer.concat(inJson(shape, shape.entries.map(jsonOf(shape)))).toString());
  const pieces = await piecesOf(answer, shape, negotiated);
  return send(answer, mediaTypes[negotiated.encoding], pieces);
}

async function shapeOf(
  answer: Answer,
  resource: ServedResource,
  page: ListPage,
  negotiated: Negotiated,
  include: IncludeObject,
): Promise<Shape> {
  const metadata = { ...listMetadata(page) };
  const { entries } = page;
  const { apiVersion } = negotiated;
  if (negotiated.as === 'Table') {
    const valueOf = (entry: StoredObject): object =>
      rowOf(resource, entry.object, inVersion(resource, entry).object, include, apiVersion, answer.now);
    const ordered = await rowOrder(answer, resource, entries);
    return { head: tableHead(resource, negotiated, metadata), field: 'rows', valueOf, entries: ordered };
  }
  if (negotiated.as) {
    const valueOf = (entry: StoredObject): object => partialMetadata(inVersion(resource, entry).object, apiVersion, resource);
    return { head: listHead('PartialObjectMetadataList', apiVersion, metadata), field: 'items', valueOf, entries };
  }
  // Lists of custom resources always write the field.
  if (resource.custom) metadata.continue ??= '';
  const bytesOf = (entry: StoredObject): Buffer => itemOf(resource, inVersion(resource, entry));
  return {
    head: listHead(resource.listKind, apiVersionOf(resource.group, resource.version), metadata),
    field: 'items',
    valueOf: (entry) => JSON.parse(`{${bytesOf(entry).toString()}`) as object,
    bytesOf,
    entries,
  };
}

const listHead = (kind: string, apiVersion: string, metadata: Table['metadata']): Shape['head'] & object =>
  ({ kind, apiVersion, metadata }) as Shape['head'];

/** An item as it stands behind `{`: built-in kinds leave out kind and apiVersion there, custom resources keep them. */
const itemOf = ({ custom }: ServedResource, entry: StoredObject): Buffer => (custom ? entry.bytes.subarray(1) : entry.itemBytes);

/** Some kinds print their rows in an order of their own. Objects that were never looked at are parsed group by group first. */
async function rowOrder(
  answer: Answer,
  { definition: { printer } }: ServedResource,
  entries: readonly StoredObject[],
): Promise<readonly StoredObject[]> {
  const { order } = printer ?? {};
  if (order === undefined) return entries;
  await eachResting(answer, entries, ({ object }) => object);
  return [...entries].sort((one, other) => order(one.object, other.object));
}

async function eachResting<T>(answer: Answer, entries: readonly StoredObject[], make: (entry: StoredObject) => T): Promise<T[]> {
  const made: T[] = [];
  for (const [at, entry] of entries.entries()) {
    const pause = at % groupItems === 0 ? answer.rest() : undefined;
    if (pause) await pause;
    made.push(make(entry));
  }
  return made;
}

async function piecesOf(answer: Answer, shape: Shape, { encoding, pretty }: Negotiated): Promise<Buffer[]> {
  const { head, entries, valueOf } = shape;
  if (encoding === 'yaml') {
    const texts = await eachResting(answer, entries, (entry) => Buffer.from(formatYaml([valueOf(entry)])));
    return inYaml(shape, texts);
  }
  if (encoding === 'protobuf' && supportsProtobuf(answer.schema, { ...parseApiVersion(head.apiVersion), kind: head.kind })) {
    const writer = protobufListWriter(answer.schema, head);
    const items = await eachResting(answer, entries, (entry) => Buffer.from(writer.item(valueOf(entry))));
    const { before, after } = writer.around(items.reduce((sum, item) => sum + item.length, 0));
    return [Buffer.from(before), ...items, Buffer.from(after)];
  }
  if (encoding === 'json' && pretty) {
    // A line break stands between values only: in texts it is written as an escape.
    const indented = (entry: StoredObject): Buffer =>
      Buffer.from(JSON.stringify(valueOf(entry), null, 2).replaceAll('\n', '\n    '));
    return inPrettyJson(shape, await eachResting(answer, entries, indented));
  }
  return inJson(shape, await eachResting(answer, entries, jsonOf(shape)));
}

const nextItem = Buffer.from(',{');

/** The JSON of an item from behind its `{` on, so that the bytes of stored objects are used as they are. */
const jsonOf =
  ({ bytesOf, valueOf }: Shape) =>
  (entry: StoredObject): Buffer =>
    bytesOf ? bytesOf(entry) : Buffer.from(JSON.stringify(valueOf(entry))).subarray(1);

const joined = (items: readonly Buffer[], separator: Buffer): Buffer[] =>
  items.flatMap((item, at) => (at === 0 ? [item] : [separator, item]));

const inJson = ({ head, field }: Shape, items: readonly Buffer[]): Buffer[] => [
  Buffer.from(`${JSON.stringify(head).slice(0, -1)},"${field}":[${items.length > 0 ? '{' : ''}`),
  ...joined(items, nextItem),
  Buffer.from(']}\n'),
];

function inPrettyJson({ head, field }: Shape, items: readonly Buffer[]): Buffer[] {
  const whole = JSON.stringify({ ...head, [field]: [] }, null, 2);
  if (items.length === 0) return [Buffer.from(whole)];
  return [
    Buffer.from(`${whole.slice(0, -']\n}'.length)}\n    `),
    ...joined(items, Buffer.from(',\n    ')),
    Buffer.from('\n  ]\n}'),
  ];
}

/** The keys of the list come in order, its items at the indent of theirs. */
function inYaml({ head, field }: Shape, items: readonly Buffer[]): Buffer[] {
  if (items.length === 0) return [Buffer.from(formatYaml({ ...head, [field]: [] }))];
  const part = (test: (name: string) => boolean): Buffer => {
    const members = Object.entries(head).filter(([name]) => test(name));
    return Buffer.from(members.length === 0 ? '' : formatYaml(Object.fromEntries(members)));
  };
  return [part((name) => name < field), Buffer.from(`${field}:\n`), ...items, part((name) => name > field)];
}

/** Pieces gathered to chunks, with the client's reading waited for between them. */
async function send(answer: Answer, type: string, pieces: readonly Buffer[]): Promise<void> {
  const { response } = answer;
  const size = pieces.reduce((sum, { length }) => sum + length, 0);
  const headers = { ...answer.headers(), 'content-type': type };
  answer.sent?.(size);
  if (size <= compressBytesMin) return response.send(200, headers, Buffer.concat(pieces));
  if (answer.acceptsGzip) return sendCompressed(answer, type, pieces, size);
  response.head(200, headers);
  await inPieces(pieces, size, async (piece) => {
    if (response.destroyed) return 'over';
    if (response.write(piece)) return 'kept';
    await answer.drained();
    return response.destroyed ? 'over' : 'taken';
  });
  if (!response.destroyed) response.end();
}

/** Compression runs on libuv's threads: the loop only hands pieces over. */
async function sendCompressed(answer: Answer, type: string, pieces: Iterable<Buffer>, size: number): Promise<void> {
  const { response } = answer;
  response.head(200, {
    ...answer.headers(),
    'content-type': type,
    'content-encoding': 'gzip',
    vary: 'Accept-Encoding',
  });
  const gzip = gzipStream();
  const feed = async (): Promise<void> => {
    await inPieces(pieces, size, async (piece) => {
      if (response.destroyed) return 'over';
      if (gzip.write(piece)) return 'kept';
      await new Promise((resolve) => gzip.once('drain', resolve));
      return 'taken';
    });
    gzip.end();
  };
  const feeding = feed();
  for await (const chunk of gzip) {
    if (response.destroyed) break;
    if (!response.write(chunk as Buffer)) await answer.drained();
  }
  gzip.destroy();
  await feeding.catch(() => undefined);
  response.end();
}
