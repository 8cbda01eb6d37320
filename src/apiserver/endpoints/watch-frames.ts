// What one watch event looks like in one encoding and shape. Frames are made once per event and shared by all watchers that want them so.
import { encodeProtobuf, encodeWatchFrame } from '#apimachinery/codec';
import type { Status } from '#apimachinery/errors';
import { apiVersionOf, type UnknownObject } from '#apimachinery/meta';
import { normalize, type SchemaTable } from '#apimachinery/schema';
import type { CacheEvent, ChangeType } from '../storage/event.ts';
import type { ServedResource } from '../registry/generic/types.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { Negotiated } from './negotiation.ts';
import { inVersion } from './respond.ts';
import { columnsOf, type IncludeObject, partialMetadata, rowOf } from './table.ts';

const prefixes: Record<ChangeType, Buffer> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};
const suffix = Buffer.from('}\n');

export interface FrameMaker {
  /** Identifies the form: watchers with equal keys share frames. */
  readonly key: string;
  change(event: CacheEvent, type: ChangeType): Buffer;
  /** An object of the initial state. */
  initial(stored: StoredObject): Buffer;
  bookmark(revision: number, annotations?: Record<string, string>): Buffer;
  error(status: Status): Buffer;
}

export function frameMaker(
  resource: ServedResource,
  schema: SchemaTable,
  negotiated: Negotiated,
  include: IncludeObject,
  now: () => number,
): FrameMaker {
  const { encoding, as, apiVersion } = negotiated;
  const key = `${apiVersionOf(resource.group, resource.version)} ${encoding} ${as ?? ''} ${apiVersion} ${as === 'Table' ? include : ''}`;
  // The columns are sent once per stream; a Table's frames differ between a stream's first event and the rest.
  let columnsSent = false;
  const shaped = (object: UnknownObject, stored: UnknownObject, included = include): object => {
    if (as === undefined) return object;
    if (as !== 'Table') return partialMetadata(object, apiVersion, resource);
    const columnDefinitions = columnsSent ? null : columnsOf(resource);
    columnsSent = true;
    const metadata = { resourceVersion: object.metadata.resourceVersion ?? '' };
    return {
      kind: 'Table',
      apiVersion,
      metadata,
      columnDefinitions,
      rows: [rowOf(resource, stored, object, included, apiVersion, now())],
    };
  };
  const plain = encoding === 'json' && as === undefined;
  const encode = (type: string, object: object): Buffer => {
    if (encoding === 'protobuf') return Buffer.from(encodeWatchFrame(type, encodeProtobuf(schema, object)));
    return Buffer.from(`${JSON.stringify({ type, object })}\n`);
  };
  const make = (type: ChangeType, stored: StoredObject): Buffer => {
    const shown = inVersion(resource, stored);
    if (plain) return Buffer.concat([prefixes[type], shown.bytes, suffix]);
    return encode(type, shaped(shown.object, stored.object));
  };
  return {
    key,
    change: (event, type) => (as === 'Table' ? make(type, event.objectFor(type)) : event.frame(type, key, make)),
    initial: (stored) => make('ADDED', stored),
    bookmark(revision, annotations) {
      const metadata = { resourceVersion: String(revision), ...(annotations && { annotations }) };
      const object = { kind: resource.kind, apiVersion: apiVersionOf(resource.group, resource.version), metadata };
      const empty = bookmarkObject(resource, object as UnknownObject) as UnknownObject;
      if (as !== 'Table') return encode('BOOKMARK', as ? partialMetadata(object as UnknownObject, apiVersion) : empty);
      // The annotation that says that the initial events have ended is shown also to those who asked for no objects.
      return encode('BOOKMARK', shaped(empty, empty, include === 'None' && annotations ? 'Metadata' : include));
    },
    error: (status) => encode('ERROR', status),
  };
}

/** Upstream's bookmark is an empty object of the kind, with the fields that are always written. */
const bookmarkObject = (resource: ServedResource, object: UnknownObject): object =>
  resource.custom ? object : normalize(resource.schema, resource.typeName, object);
