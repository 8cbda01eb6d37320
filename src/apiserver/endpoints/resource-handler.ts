// Serves the requests of one stored resource over HTTP.
import { supportsProtobuf } from '#apimachinery/codec';
import { notAcceptable, StatusError, unsupportedMediaType } from '#apimachinery/errors';
import { deprecationWarning } from '../registry/deprecations.ts';
import { apiVersionText, type ServedResource } from '../registry/generic/types.ts';
import type { ServerContext } from '../server-context.ts';
import { bodyEncoding, decodeBody, type RawBody, readBytes } from './body.ts';
import type { BodySource, Outcome, ResourceCall } from './call.ts';
import type { Exchange } from './exchange.ts';
import { execute } from './execute.ts';
import { patchText, patchTypes } from './patch-body.ts';
import { mediaTypes, type Negotiated, negotiate } from './negotiation.ts';
import { sendList, sendStored, sendValue } from './respond.ts';
import { scaleTable } from './scale-table.ts';
import { includeObjectOf } from './table.ts';
import { frameMaker } from './watch-frames.ts';
import { WatchStream } from './watch-stream.ts';

export async function serveResource(context: ServerContext, exchange: Exchange, resource: ServedResource): Promise<void> {
  const { info, query, accept, userAgent } = exchange;
  const deprecation = deprecationWarning(apiVersionText(resource), resource.kind);
  if (deprecation !== undefined) {
    exchange.warn(deprecation);
    exchange.audit?.annotate('k8s.io/deprecated', 'true');
  }
  const rules = {
    tables: true,
    custom: resource.custom,
    protobuf: supportsProtobuf(context.schema, { group: resource.group, version: resource.version, kind: resource.kind }),
    listable: info.name === '' && (info.verb === 'list' || info.verb === 'watch'),
  };
  const negotiated = negotiate(accept, rules, query, userAgent);
  if (negotiated.as === 'Table') includeObjectOf(query);
  const call: ResourceCall = {
    user: exchange.user,
    verb: info.verb,
    resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    query,
    forceWatch: info.forceWatch,
    userAgent,
    now: exchange.now,
    body: httpBody(exchange, resource),
    signal: undefined,
    warn: exchange.warn,
    audit: exchange.audit,
  };
  await sendOutcome(context, exchange, resource, await execute(context.executor, call), negotiated);
}

export function httpBody({ request }: Pick<Exchange, 'request'>, { custom }: { custom: boolean }): BodySource {
  let read: Promise<RawBody> | undefined;
  const contentType = request.headers['content-type'];
  const raw = (): Promise<RawBody> => {
    read ??= Promise.resolve()
      .then(() => (request.method === 'DELETE' ? deleteEncoding(contentType) : bodyEncoding(contentType, !custom)))
      .then(async (encoding) => checkEncoding(contentType, custom, { encoding, bytes: await readBytes(request) }));
    return read;
  };
  return {
    raw,
    async decode(target, validation) {
      return decodeBody(await raw(), target, validation);
    },
    async patch(strict) {
      const type = (contentType ?? '').split(';')[0]?.trim() ?? '';
      if (!patchTypes.includes(type)) {
        if (!custom) throw routerUnsupported();
        throw unsupportedMediaType([
          'application/json-patch+json',
          'application/merge-patch+json',
          'application/apply-patch+yaml',
        ]);
      }
      const bytes = await readBytes(request);
      return { type, ...patchText(bytes, type, strict) };
    },
  };
}

/** What go-restful's router says before any handler runs. */
const routerUnsupported = (): StatusError =>
  new StatusError({ code: 415, reason: 'UnsupportedMediaType', message: '415: Unsupported Media Type', details: {} });

// An empty DELETE body needs no content type; a body of an unknown one is refused once it is seen not to be empty.
const deleteEncoding = (contentType: string | undefined): RawBody['encoding'] => {
  try {
    return bodyEncoding(contentType, true);
  } catch {
    return 'json';
  }
};

function checkEncoding(contentType: string | undefined, custom: boolean, raw: RawBody): RawBody {
  if (raw.bytes.length > 0) bodyEncoding(contentType, !custom);
  return raw;
}

async function sendOutcome(
  context: ServerContext,
  exchange: Exchange,
  resource: ServedResource,
  outcome: Outcome,
  negotiated: Negotiated,
): Promise<void> {
  const include = negotiated.as === 'Table' ? includeObjectOf(exchange.query) : 'Metadata';
  switch (outcome.is) {
    case 'stored':
      return sendStored(exchange, outcome.status, resource, outcome.stored, negotiated, include);
    case 'list':
      return sendList(exchange, resource, outcome.page, negotiated, include);
    case 'value': {
      const { value } = outcome;
      const shown =
        negotiated.as === 'Table' && value.kind === 'Scale'
          ? scaleTable(resource.custom, value, negotiated, include, exchange.now)
          : value;
      return sendValue(exchange, outcome.status, shown, negotiated);
    }
    case 'watch':
      return serveWatch(context, exchange, resource, outcome, negotiated);
  }
}

const streamable = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];

const streamTypes: Record<Negotiated['encoding'], string> = {
  json: mediaTypes.json,
  yaml: mediaTypes.yaml,
  protobuf: `${mediaTypes.protobuf};stream=watch`,
};

async function serveWatch(
  context: ServerContext,
  exchange: Exchange,
  resource: ServedResource,
  { start, options }: Extract<Outcome, { is: 'watch' }>,
  negotiated: Negotiated,
): Promise<void> {
  const include = negotiated.as === 'Table' ? includeObjectOf(exchange.query) : 'Metadata';
  if (negotiated.encoding === 'yaml') throw notAcceptable(streamable);
  // No event can be shown as a list: upstream ends the stream at the first.
  if (negotiated.as === 'PartialObjectMetadataList')
    return exchange.response.send(200, { ...exchange.headers(), 'content-type': streamTypes[negotiated.encoding] }, '');
  const { clock } = context;
  const seconds = options.timeoutSeconds ?? 0;
  const timeoutMs = seconds > 0 ? seconds * 1000 : context.watchTimeoutMinMs * (1 + Math.random());
  const frames = frameMaker(resource, context.schema, negotiated, include, () => clock.now());
  const release = context.watches.add(() => stream.end());
  const stream = new WatchStream({
    response: exchange.response,
    headers: { ...exchange.headers(), 'content-type': streamTypes[negotiated.encoding] },
    start,
    frames,
    bookmarks: options.allowWatchBookmarks,
    timeoutMs,
    revision: () => context.feed.revision,
    clock,
    onEnd: release,
  });
  exchange.request.onClose(() => stream.stop());
  await stream.run();
}
