// The way in over a connection: an HTTP request, or a request to upgrade, read into the one shape that the chain works with.
import { StatusError, unsupportedMediaType } from '#apimachinery/errors';
import { PassThrough, type Writable } from '../platform/streams.ts';
import { distinctHeaders, type ResponseHeaders, type WireRequest, type WireResponse, type WireUpgrade } from '#wire';
import type { Next } from '../chain/link.ts';
import type { Body, Incoming } from '../chain/incoming.ts';
import type { RawExchange } from '../registry/special.ts';
import { Cancellation } from '../request/cancellation.ts';
import { createNotes, type Notes } from '../request/notes.ts';
import type { Headers, RequestOptions, RequestProgress, Target, UserInfo } from '../request/request.ts';
import { readUri } from '../request/uri.ts';
import type { AnswerContext } from '../endpoints/answer-context.ts';
import { bodyEncoding, decodeBody, readBytes } from '../endpoints/body.ts';
import { patchText, patchTypes } from '../endpoints/patch-body.ts';
import { deleteOptionsBody } from '../endpoints/write-options.ts';
import type { WriteSettings } from '../registry/generic/types.ts';
import { upgradeExchange } from './upgrade.ts';
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

/** A header's bytes, which Node.js shows as characters of one byte, as the text that they are. */
const inUtf8 = (header: string): string => (/[\x80-\xff]/.test(header) ? Buffer.from(header, 'latin1').toString('utf8') : header);

const nobody: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/** A request with its connection. It is a class because every request makes one: what only some of them need is read when asked for. */
class WireIncoming implements Incoming {
  readonly via: 'wire' | 'memory';
  user: UserInfo;
  progress: RequestProgress;
  readonly method: string;
  readonly uri: string;
  readonly path: string;
  readonly query: string;
  readonly verb: string;
  readonly target: Target | undefined;
  readonly segments: readonly string[];
  readonly options: RequestOptions;
  readonly headers: Headers;
  readonly auditId: string;
  readonly now: number;
  readonly notes: Notes;
  readonly reply: WireReply;
  readonly cancellation: Cancellation;
  readonly #wire: WireRequest;
  readonly #context: AnswerContext;
  #body: Body | undefined;

  constructor(context: AnswerContext, exchange: WireExchange) {
    const { request, response, component } = exchange;
    const { method, path: uri } = request;
    this.#wire = request;
    this.#context = context;
    this.via = component ? 'memory' : 'wire';
    this.user = component ?? nobody;
    this.progress = component ? 'identified' : 'received';
    this.method = method;
    this.uri = uri;
    const { path, query, verb, target, segments, options } = readUri(method, uri);
    this.path = path;
    this.query = query;
    this.verb = verb;
    this.target = target;
    this.segments = segments;
    this.options = options;
    this.headers = distinctHeaders(request);
    this.auditId = text(this.headers['audit-id']) || context.random.uuid();
    this.now = context.clock.now();
    this.notes = createNotes();
    this.reply = new WireReply(context, this, this.notes, exchange);
    this.cancellation = new Cancellation(
      () => request.signal,
      () => (component ? request.signal.aborted : response.destroyed && response.status === 0),
    );
  }

  get userAgent(): string {
    return inUtf8(text(this.#wire.headers['user-agent']));
  }
  get remoteAddress(): string {
    return this.#wire.remoteAddress;
  }
  get peerCertificates(): readonly Uint8Array[] | undefined {
    const peer = this.#wire.peerCertificate;
    return peer && [peer.certificate.raw];
  }
  servedFor(flow: string): void {
    this.#wire.servedFor(flow);
  }
  get body(): Body {
    return (this.#body ??= wireBody(this.#wire, this.#context.restOf(this), (bytes) => (this.notes.receivedBytes += bytes)));
  }
  get connection(): RawExchange {
    return connectionOf(this.#wire, this.reply);
  }
}

export const wireIncoming = (context: AnswerContext, exchange: WireExchange): Incoming => new WireIncoming(context, exchange);

/** What a listener hands requests and upgrades to: both are read here and take the same chain. */
export const wayOverWire = ({ context, serve }: { context: AnswerContext; serve: Next }) => ({
  async handle(request: WireRequest, response: WireResponse): Promise<void> {
    await serve(wireIncoming(context, { request, response }));
  },
  async upgrade(upgrade: WireUpgrade, response: WireResponse): Promise<void> {
    await serve(wireIncoming(context, upgradeExchange(upgrade, response)));
  },
});

const customPatchTypes = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];

/**
 * The body of this request, which is read when it is asked for, once. `rest`: waited for between the steps of reading it. `onRead` is called with its length
 * in bytes once it is there.
 */
function wireBody(request: WireRequest, rest: WriteSettings['rest'], onRead: (bytes: number) => void): Body {
  let read: Promise<Buffer> | undefined;
  const contentType = request.headers['content-type'];
  const all = (): Promise<Buffer> => (read ??= readAll(request, onRead));
  const patchType = (custom: boolean): string => {
    const type = (contentType ?? '').split(';')[0]?.trim() ?? '';
    if (custom && !customPatchTypes.includes(type)) throw unsupportedMediaType(customPatchTypes);
    if (!patchTypes.includes(type)) throw routerUnsupported();
    return type;
  };
  return {
    checkType: (custom) => void bodyEncoding(contentType, !custom),
    async arrive() {
      await all();
    },
    async decode(target, validation) {
      const bytes = await all();
      return decodeBody({ encoding: bodyEncoding(contentType, target.protobuf), bytes }, target, validation, rest);
    },
    patchType,
    async patch(custom) {
      const type = patchType(custom);
      return { type, ...(await patchText(await all(), type, true, rest)) };
    },
    async deleteOptions(schema, custom) {
      const bytes = await all();
      // An empty body needs no content type.
      if (bytes.length === 0) return undefined;
      return deleteOptionsBody({ encoding: bodyEncoding(contentType, !custom), bytes }, schema, rest);
    },
  };
}

/** What go-restful's router says before any handler runs. */
const routerUnsupported = (): StatusError =>
  new StatusError({ code: 415, reason: 'UnsupportedMediaType', message: '415: Unsupported Media Type', details: {} });

async function readAll(request: WireRequest, onRead: (bytes: number) => void): Promise<Buffer> {
  const bytes = await readBytes(request);
  onRead(bytes.length);
  return bytes;
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
