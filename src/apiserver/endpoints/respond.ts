// Writes outcomes to the wire: the negotiated encoding and shape, gzip above a size, lists in pieces with drain
// (design: "Fast by construction", 4).
import { encodeProtobuf, formatYaml, supportsProtobuf } from '#apimachinery/codec';
import { type Status, StatusError } from '#apimachinery/errors';
import { apiVersionOf, type UnknownObject } from '#apimachinery/meta';
import type { SchemaTable } from '#apimachinery/schema';
import type { ResponseHeaders, WireResponse } from '#wire';
import { gzipped, gzipStream } from '../platform/streams.ts';
import { compressBytesMin, listChunkBytes } from '../limits.ts';
import type { RequestRecord } from '../request/notes.ts';
import type { ListPage } from '../registry/generic/list.ts';
import type { ServedResource } from '../registry/generic/types.ts';
import { StoredObject } from '../storage/stored-object.ts';
import { mediaTypes, type Negotiated } from './negotiation.ts';
import { columnsOf, type IncludeObject, partialMetadata, rowOf, type Table } from './table.ts';

export interface Answer {
  readonly response: WireResponse;
  /** Resolves when the client has taken what was written; cuts an answer that is not taken. */
  drained(): Promise<void>;
  /** Headers every answer carries (audit id, cache control), and warnings gathered so far. */
  headers(): ResponseHeaders;
  readonly acceptsGzip: boolean;
  readonly schema: SchemaTable;
  readonly now: number;
  /** Learns of the answer, where the request is recorded. */
  readonly audit?: RequestRecord | undefined;
  /** Told how many bytes of the body are sent. */
  sent?(bytes: number): void;
}

export const plainJson: Negotiated = { encoding: 'json', apiVersion: '', stream: false, pretty: false };

/** The object in the request's version; those of a custom resource are in it already. */
export const inVersion = (resource: ServedResource, stored: StoredObject): StoredObject => {
  if (resource.versions || (resource.version === resource.storageVersion && resource.group === resource.storageGroup))
    return stored;
  return stored.form(
    `version ${apiVersionOf(resource.group, resource.version)}`,
    ({ key, namespace, name, revision, object }) =>
      new StoredObject({ key, namespace, name, revision }, resource.fromStorage(object)),
  );
};

const protobufOf = (schema: SchemaTable, stored: StoredObject): Buffer =>
  stored.form('protobuf', ({ object }) => Buffer.from(encodeProtobuf(schema, object)));

/** Any value in an encoding. */
export function encodeValue(schema: SchemaTable, value: object, { encoding, pretty }: Negotiated): Buffer {
  if (encoding === 'yaml') return Buffer.from(formatYaml(value));
  if (encoding === 'protobuf') {
    const { apiVersion = '', kind = '' } = value as UnknownObject;
    const at = apiVersion.indexOf('/');
    const supported = supportsProtobuf(schema, {
      group: at < 0 ? '' : apiVersion.slice(0, at),
      version: apiVersion.slice(at + 1),
      kind,
    });
    return Buffer.from(supported ? encodeProtobuf(schema, value) : JSON.stringify(value));
  }
  return Buffer.from(pretty ? `${JSON.stringify(value, null, 2)}\n` : `${JSON.stringify(value)}\n`);
}

function encodeStoredObject(schema: SchemaTable, stored: StoredObject, negotiated: Negotiated): Buffer {
  if (negotiated.encoding === 'protobuf') return protobufOf(schema, stored);
  if (negotiated.encoding === 'json' && !negotiated.pretty) return stored.line;
  return encodeValue(schema, JSON.parse(stored.bytes.toString()) as object, negotiated);
}

export function sendBytes(answer: Answer, status: number, type: string, body: Buffer, extra: ResponseHeaders = {}): void {
  const headers = { ...answer.headers(), 'content-type': type, ...extra };
  answer.sent?.(body.length);
  if (answer.acceptsGzip && body.length > compressBytesMin) {
    const packed = gzipped(body);
    const vary = ['Accept-Encoding', ...[extra.vary ?? []].flat()].join(', ');
    answer.response.send(status, { ...headers, 'content-encoding': 'gzip', vary }, packed);
  } else answer.response.send(status, headers, body);
}

export function sendValue(answer: Answer, status: number, value: object, negotiated: Negotiated): void {
  if (answer.audit) recordAnswer(answer.audit, value);
  sendEncoded(answer, status, value, negotiated);
}

const sendEncoded = (answer: Answer, status: number, value: object, negotiated: Negotiated): void =>
  sendBytes(answer, status, mediaTypes[negotiated.encoding], encodeValue(answer.schema, value, negotiated));

/** Only objects are recorded, and of a Status what it says. */
function recordAnswer(audit: RequestRecord, value: { kind?: string; apiVersion?: string }): void {
  if (value.kind === undefined) return;
  if (value.kind === 'Status' && value.apiVersion === 'v1') audit.responseStatus(value as Partial<Status>);
  audit.responseObject(() => JSON.stringify(value));
}

/** Failures are JSON unless the client can read only something else. */
export function sendStatus(
  answer: Answer,
  error: StatusError,
  negotiated: Negotiated = plainJson,
  headers: ResponseHeaders = {},
): void {
  const { status } = error;
  const code = status.code ?? 500;
  const retry = status.details?.retryAfterSeconds;
  const extra = { ...headers, ...(retry !== undefined && retry > 0 && { 'retry-after': String(retry) }) };
  const encoding = { ...negotiated, as: undefined };
  if (answer.audit) recordAnswer(answer.audit, status);
  sendBytes(
    answer,
    code,
    mediaTypes[encoding.encoding],
    encodeValue(answer.schema, status, encoding as unknown as Negotiated),
    extra,
  );
}

/** One object's metadata for a list, or the other way round; upstream names its internal type. */
function wrongShape({ group, kind, listKind, custom }: ServedResource, asked: string, isList: boolean): StatusError {
  const type = custom
    ? `*unstructured.Unstructured${isList ? 'List' : ''}`
    : `*${group === '' ? 'core' : (group.split('.')[0] ?? group)}.${isList ? listKind : kind}`;
  return new StatusError({
    code: 406,
    reason: 'NotAcceptable',
    message: `you requested ${asked}, but the requested object is ${isList ? 'a list' : 'not a list'} (${type})`,
  });
}

/** What is only tried has no version. */
const versionOf = ({ metadata: { resourceVersion } }: UnknownObject): { resourceVersion?: string } =>
  resourceVersion === undefined ? {} : { resourceVersion };

export function sendStored(
  answer: Answer,
  status: number,
  resource: ServedResource,
  stored: StoredObject,
  negotiated: Negotiated,
  include: IncludeObject,
): void {
  if (negotiated.as === 'PartialObjectMetadataList') throw wrongShape(resource, negotiated.as, false);
  const shown = inVersion(resource, stored);
  if (negotiated.as === 'Table') {
    sendValue(answer, status, tableOf(answer, resource, [stored], negotiated, include, versionOf(shown.object)), negotiated);
  } else if (negotiated.as) sendValue(answer, status, partialMetadata(shown.object, negotiated.apiVersion, resource), negotiated);
  else {
    answer.audit?.responseObject(() => shown.bytes.toString());
    sendBytes(answer, status, mediaTypes[negotiated.encoding], encodeStoredObject(answer.schema, shown, negotiated));
  }
}

/** Upstream's convertor of kinds without columns of their own leaves the rows of an empty list unset. */
const withoutPrinter = ({ definition }: ServedResource, entries: readonly unknown[]): boolean =>
  entries.length === 0 && definition.printer === undefined;

function rowOrder({ definition: { printer } }: ServedResource, entries: readonly StoredObject[]): readonly StoredObject[] {
  const { order } = printer ?? {};
  return order === undefined ? entries : [...entries].sort((one, other) => order(one.object, other.object));
}

function tableOf(
  answer: Answer,
  resource: ServedResource,
  entries: readonly StoredObject[],
  negotiated: Negotiated,
  include: IncludeObject,
  metadata: Table['metadata'],
): Omit<Table, 'rows'> & { rows: Table['rows'] | null } {
  return {
    kind: 'Table',
    apiVersion: negotiated.apiVersion,
    metadata,
    columnDefinitions: columnsOf(resource),
    rows: withoutPrinter(resource, entries)
      ? null
      : rowOrder(resource, entries).map((entry) =>
          rowOf(resource, entry.object, inVersion(resource, entry).object, include, negotiated.apiVersion, answer.now),
        ),
  };
}

const listMetadata = ({ revision, continueToken, remaining }: ListPage): Table['metadata'] => ({
  resourceVersion: String(revision),
  ...(continueToken && { continue: continueToken }),
  ...(remaining !== undefined && { remainingItemCount: remaining }),
});

export async function sendList(
  answer: Answer,
  resource: ServedResource,
  page: ListPage,
  negotiated: Negotiated,
  include: IncludeObject,
): Promise<void> {
  const metadata = { ...listMetadata(page) };
  // Lists of custom resources always write the field.
  if (resource.custom && !negotiated.as) metadata.continue ??= '';
  if (negotiated.as === 'Table')
    return sendValue(answer, 200, tableOf(answer, resource, page.entries, negotiated, include, metadata), negotiated);
  if (negotiated.as === 'PartialObjectMetadata') throw wrongShape(resource, negotiated.as, true);
  const entries = page.entries.map((entry) => inVersion(resource, entry));
  const head = {
    kind: negotiated.as ? 'PartialObjectMetadataList' : resource.listKind,
    apiVersion: negotiated.as ? negotiated.apiVersion : apiVersionOf(resource.group, resource.version),
    metadata,
  };
  if (negotiated.as) {
    // Upstream's conversion leaves an empty list unset.
    const items =
      entries.length === 0 ? null : entries.map(({ object }) => partialMetadata(object, negotiated.apiVersion, resource));
    return sendValue(answer, 200, { ...head, items }, negotiated);
  }
  answer.audit?.responseObject(() =>
    Buffer.concat([
      ...listPieces(
        listOpening(JSON.stringify(head)),
        entries.map((entry) => itemOf(resource, entry)),
      ),
    ]).toString(),
  );
  if (negotiated.encoding !== 'json' || negotiated.pretty) {
    const items = entries.map((entry) => JSON.parse(`{${itemOf(resource, entry).toString()}`) as unknown);
    return sendEncoded(answer, 200, { ...head, items }, negotiated);
  }
  return streamList(
    answer,
    JSON.stringify(head),
    entries.map((entry) => itemOf(resource, entry)),
  );
}

/** An item as it stands behind `{`: built-in kinds leave out kind and apiVersion there, custom resources keep them. */
const itemOf = ({ custom }: ServedResource, entry: StoredObject): Buffer => (custom ? entry.bytes.subarray(1) : entry.itemBytes);

const listOpening = (head: string): Buffer => Buffer.from(`${head.slice(0, -1)},"items":[`);

/** The list from the bytes of its items, in pieces; another turn of the loop comes between them. */
async function streamList(answer: Answer, head: string, items: readonly Buffer[]): Promise<void> {
  const opening = listOpening(head);
  const size = opening.length + items.reduce((sum, item) => sum + item.length + 2, 0) + 3;
  const headers = { ...answer.headers(), 'content-type': mediaTypes.json };
  answer.sent?.(size);
  if (size <= compressBytesMin) return answer.response.send(200, headers, Buffer.concat([...listPieces(opening, items)]));
  const { response } = answer;
  if (answer.acceptsGzip) return streamGzip(answer, listPieces(opening, items));
  response.head(200, headers);
  for (const piece of gathered(listPieces(opening, items))) {
    if (response.destroyed) return;
    if (!response.write(piece)) await answer.drained();
  }
  response.end();
}

const openBrace = Buffer.from('{');
const nextItem = Buffer.from(',{');

function* listPieces(opening: Buffer, items: readonly Buffer[]): Generator<Buffer> {
  yield opening;
  let first = true;
  for (const item of items) {
    yield first ? openBrace : nextItem;
    yield item;
    first = false;
  }
  yield Buffer.from(']}\n');
}

function* gathered(pieces: Iterable<Buffer>): Generator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    waiting.push(piece);
    bytes += piece.length;
    if (bytes < listChunkBytes) continue;
    yield Buffer.concat(waiting, bytes);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(waiting, bytes);
}

/** Compression runs on libuv's threads: the loop only hands pieces over. */
async function streamGzip(answer: Answer, pieces: Iterable<Buffer>): Promise<void> {
  const { response } = answer;
  response.head(200, {
    ...answer.headers(),
    'content-type': mediaTypes.json,
    'content-encoding': 'gzip',
    vary: 'Accept-Encoding',
  });
  const gzip = gzipStream();
  const feed = async (): Promise<void> => {
    for (const piece of gathered(pieces)) {
      if (response.destroyed) break;
      if (!gzip.write(piece)) await new Promise((resolve) => gzip.once('drain', resolve));
    }
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
