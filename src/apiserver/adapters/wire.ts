// The way in over a connection: an HTTP request, or a request to upgrade, read into the one shape that the chain works with.
import { PassThrough, type Writable } from 'node:stream';
import type { ResponseHeaders, WireRequest, WireResponse, WireUpgrade } from '#wire';
import type { Incoming } from '../chain/incoming.ts';
import type { RawExchange } from '../registry/special.ts';
import { Cancellation } from '../request/cancellation.ts';
import { createNotes } from '../request/notes.ts';
import { readOptions } from '../request/options.ts';
import { readPath } from '../request/path.ts';
import type { Headers, RequestData, UserInfo } from '../request/request.ts';
import type { AnswerContext } from '../endpoints/answer-context.ts';
import { wireBody } from './wire-body.ts';
import { WireReply } from './wire-reply.ts';

export interface WireExchange {
  request: WireRequest;
  response: WireResponse;
  /** Set when the client asked for another protocol. */
  upgrade?: WireUpgrade;
  /** A component of this process, whose identity is known. */
  component?: UserInfo;
}

const text = (header: string | readonly string[] | undefined): string =>
  typeof header === 'string' ? header : (header?.join(',') ?? '');

/** Node joins the lines of a repeated header; groups and extras may hold commas, so for identity they must stay apart. */
function distinctHeaders({ headers, rawHeaders }: WireRequest): Headers {
  const seen = new Set<string>();
  let lists: Record<string, string[]> | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    if (seen.has(name)) lists = { ...lists, [name]: [] };
    seen.add(name);
  }
  if (!lists) return headers;
  for (let i = 0; i < rawHeaders.length; i += 2)
    lists[(rawHeaders[i] as string).toLowerCase()]?.push(rawHeaders[i + 1] as string);
  return { ...headers, ...lists };
}

const nobody: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

function readHead(context: AnswerContext, { request, component }: WireExchange): RequestData {
  const { method, path: uri, remoteAddress, peerCertificate: peer } = request;
  const at = uri.indexOf('?');
  const path = at < 0 ? uri : uri.slice(0, at);
  const query = at < 0 ? '' : uri.slice(at + 1);
  const headers = distinctHeaders(request);
  return {
    via: component ? 'memory' : 'wire',
    user: component ?? nobody,
    progress: component ? 'identified' : 'received',
    ...readPath(method, path, readOptions(query)),
    method,
    path,
    uri,
    query,
    headers,
    ...(peer && { peerCertificates: [peer.certificate.raw] }),
    auditId: text(headers['audit-id']) || context.random.uuid(),
    userAgent: text(request.headers['user-agent']),
    remoteAddress,
    now: context.clock.now(),
  };
}

export function wireIncoming(context: AnswerContext, exchange: WireExchange): Incoming {
  const { request, response, component } = exchange;
  const data = readHead(context, exchange);
  const notes = createNotes();
  const reply = new WireReply(context, data, notes, exchange);
  return {
    ...data,
    notes,
    reply,
    cancellation: new Cancellation(
      () => request.signal,
      () => (component ? request.signal.aborted : response.destroyed && response.status === 0),
    ),
    body: wireBody(request),
    get connection() {
      return connectionOf(request, reply);
    },
  };
}

/** The bytes of an exchange, for endpoints that answer themselves. */
const connectionOf = (request: WireRequest, reply: WireReply): RawExchange => ({
  method: request.method,
  target: request.path,
  headers: request.headers,
  get body() {
    return request.body;
  },
  ...(reply.upgrade && { upgrade: reply.upgrade }),
  respond(status, given) {
    const { response } = reply;
    response.head(status, { ...reply.headers(), ...(given as ResponseHeaders) });
    response.flushHead();
    return writableOf(response);
  },
});

/** A stream into a response, with back-pressure. */
function writableOf(response: WireResponse): Writable {
  const stream = new PassThrough();
  void (async () => {
    for await (const chunk of stream) {
      if (response.destroyed) break;
      if (!response.write(chunk as Buffer)) await response.drain();
    }
    if (!response.destroyed) response.end();
  })().catch(() => response.destroy());
  return stream;
}
