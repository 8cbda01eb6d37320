// Writes outcomes to the wire: the negotiated encoding and shape, gzip above a size. Lists are answered in list-answer.ts.
import { encodeProtobuf, formatYaml, supportsProtobuf } from '#apimachinery/codec';
import { type Status, StatusError } from '#apimachinery/errors';
import { apiVersionOf, type UnknownObject } from '#apimachinery/meta';
import type { SchemaTable } from '#apimachinery/schema';
import type { ResponseHeaders, WireResponse } from '#wire';
import { gzipped } from '../platform/streams.ts';
import { compressBytesMin } from '../limits.ts';
import type { RequestRecord } from '../request/notes.ts';
import type { ServedResource } from '../registry/generic/types.ts';
import { StoredObject } from '../storage/stored-object.ts';
import { mediaTypes, type Negotiated } from './negotiation.ts';
import { columnsOf, type IncludeObject, partialMetadata, rowOf, type Table } from './table.ts';

export interface Answer {
  readonly response: WireResponse;
  /** Waited for between the parts of long work. */
  rest(): Promise<void> | undefined;
  /** Resolves when the client has taken what was written; cuts an answer that is not taken. */
  drained(): Promise<void>;
  /** Headers every answer carries (audit id, cache control), and warnings gathered so far. */
  headers(): ResponseHeaders;
  readonly acceptsGzip: boolean;
  readonly schema: SchemaTable;
  readonly now: number;
  /** Learns of the answer, where the request is recorded. */
  readonly audit?: RequestRecord | undefined;
  /** Called with the number of bytes of the body that are sent. */
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

/** Encodes any value as was agreed with the client. */
export function encodeValue(schema: SchemaTable, value: object, { encoding, pretty }: Negotiated): Buffer {
  if (encoding === 'yaml') return Buffer.from(formatYaml(value));
  if (encoding === 'protobuf') {
    // The oldest discovery documents name no version; their types are those of v1.
    const { apiVersion = 'v1', kind = '' } = value as UnknownObject;
    const at = apiVersion.indexOf('/');
    const supported = supportsProtobuf(schema, {
      group: at < 0 ? '' : apiVersion.slice(0, at),
      version: apiVersion.slice(at + 1),
      kind,
    });
    return Buffer.from(supported ? encodeProtobuf(schema, value) : JSON.stringify(value));
  }
  return Buffer.from(pretty ? JSON.stringify(value, null, 2) : `${JSON.stringify(value)}\n`);
}

function encodeStoredObject(schema: SchemaTable, stored: StoredObject, negotiated: Negotiated): Buffer {
  if (negotiated.encoding === 'protobuf') return protobufOf(schema, stored);
  if (negotiated.encoding === 'json' && !negotiated.pretty) return stored.line;
  return encodeValue(schema, JSON.parse(stored.bytes.toString()) as object, negotiated);
}

/** Compressed forms of bytes that are sent to many clients, by the memory that the bytes are in. */
const packedDocuments = new WeakMap<ArrayBufferLike, Buffer>();

function packedOnce(body: Buffer): Buffer {
  const packed = packedDocuments.get(body.buffer) ?? gzipped(body);
  packedDocuments.set(body.buffer, packed);
  return packed;
}

/** Sends a body. `shared` says that the same bytes are sent to many. */
export function sendBytes(
  answer: Answer,
  status: number,
  type: string,
  body: Buffer,
  extra: ResponseHeaders = {},
  shared = false,
): void {
  const headers = { ...answer.headers(), 'content-type': type, ...extra };
  answer.sent?.(body.length);
  if (answer.acceptsGzip && body.length > compressBytesMin) {
    const packed = shared && body.length === body.buffer.byteLength ? packedOnce(body) : gzipped(body);
    const vary = ['Accept-Encoding', ...[extra.vary ?? []].flat()].join(', ');
    answer.response.send(status, { ...headers, 'content-encoding': 'gzip', vary }, packed);
  } else answer.response.send(status, headers, body);
}

export function sendValue(answer: Answer, status: number, value: object, negotiated: Negotiated): void {
  if (answer.audit) recordAnswer(answer.audit, value);
  sendEncoded(answer, status, value, negotiated);
}

export const sendEncoded = (answer: Answer, status: number, value: object, negotiated: Negotiated): void =>
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
  const { as: _, ...encoding } = negotiated;
  if (answer.audit) recordAnswer(answer.audit, status);
  sendBytes(answer, code, mediaTypes[encoding.encoding], encodeValue(answer.schema, status, encoding), extra);
}

/** One object's metadata for a list, or the other way round; upstream names its internal type. */
export function wrongShape({ group, kind, listKind, custom }: ServedResource, asked: string, isList: boolean): StatusError {
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
    const row = rowOf(resource, stored.object, shown.object, include, negotiated.apiVersion, answer.now);
    sendValue(answer, status, { ...tableHead(resource, negotiated, versionOf(shown.object)), rows: [row] }, negotiated);
  } else if (negotiated.as) sendValue(answer, status, partialMetadata(shown.object, negotiated.apiVersion, resource), negotiated);
  else {
    answer.audit?.responseObject(() => shown.bytes.toString());
    sendBytes(answer, status, mediaTypes[negotiated.encoding], encodeStoredObject(answer.schema, shown, negotiated));
  }
}

/** The Table of a resource, still without its rows. */
export const tableHead = (
  resource: ServedResource,
  { apiVersion }: Negotiated,
  metadata: Table['metadata'],
): Omit<Table, 'rows'> => ({
  kind: 'Table',
  apiVersion,
  metadata,
  columnDefinitions: columnsOf(resource),
});
