// The wire abstraction over HTTP/2 streams. Uses the stream API: the compatibility layer costs half as much again per request.
import {
  constants,
  type IncomingHttpHeaders as Http2Headers,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { limits } from '../limits.ts';
import { collectBody } from './body.ts';
import { endWith } from './outflow.ts';
import { type PeerCertificate, peerCertificateOf } from './peer.ts';
import { rememberSender } from './senders.ts';
import { ClientGoneError, type ResponseHeaders, type WireRequest, type WireResponse } from './types.ts';
import { endWholeOnly } from './whole-end.ts';

export interface Http2RequestParts {
  stream: ServerHttp2Stream;
  headers: Http2Headers;
  rawHeaders: string[];
  response: Http2Response;
  bodyTimeoutMs: number;
}

export class Http2Request implements WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly httpVersion = '2.0';
  readonly #stream: ServerHttp2Stream;
  readonly #response: Http2Response;
  readonly #bodyTimeoutMs: number;
  #controller: AbortController | undefined;

  constructor({ stream, headers, rawHeaders, response, bodyTimeoutMs }: Http2RequestParts) {
    this.#stream = stream;
    this.#response = response;
    this.#bodyTimeoutMs = bodyTimeoutMs;
    this.method = headers[':method'] ?? 'GET';
    this.path = headers[':path'] ?? '/';
    const { host, ':authority': authority } = headers;
    if (host === undefined && authority !== undefined) {
      headers.host = authority;
      // Who counts lines has both tell the same.
      rawHeaders.push('host', authority);
    }
    this.headers = headers as IncomingHttpHeaders;
    this.rawHeaders = rawHeaders;
    if (!stream.endAfterHeaders) endWholeOnly(stream, () => new ClientGoneError());
  }

  servedFor(sender: string): void {
    rememberSender(this.#stream.session, sender);
  }

  get #socket(): TLSSocket | undefined {
    return this.#stream.session?.socket as TLSSocket | undefined;
  }
  get encrypted(): boolean {
    return this.#stream.session?.encrypted === true;
  }
  get peerCertificate(): PeerCertificate | undefined {
    return peerCertificateOf(this.#socket);
  }
  get remoteAddress(): string {
    return this.#socket?.remoteAddress ?? '';
  }
  get remotePort(): number {
    return this.#socket?.remotePort ?? 0;
  }
  get localAddress(): string {
    return this.#socket?.localAddress ?? '';
  }
  get body(): Readable {
    return this.#stream;
  }

  readBody(bytesMax = limits.bodyBytesMax): Promise<Buffer> {
    return collectBody(this.#stream, {
      announced: this.headers['content-length'],
      bytesMax,
      timeoutMs: this.#bodyTimeoutMs,
      onOver: (callback) => this.#response.onEnd(callback),
    });
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      const check = (): void => {
        if (!this.#response.ended) controller.abort(new ClientGoneError());
      };
      if (this.#stream.destroyed) check();
      else this.#stream.once('close', check);
    }
    return this.#controller.signal;
  }

  onClose(callback: () => void): void {
    if (this.#stream.closed && this.#stream.destroyed) callback();
    else this.#stream.once('close', callback);
  }
}

const connectionHeaders = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'http2-settings'];

/** A copy with the status, and without the headers that HTTP/2 forbids: they would make the whole response fail. */
function http2Head(status: number, headers: ResponseHeaders): OutgoingHttpHeaders {
  const all = { ...headers, ':status': status } as OutgoingHttpHeaders;
  for (const name of connectionHeaders) if (all[name] !== undefined) delete all[name];
  return all;
}

const bodiless = (status: number): boolean => status === 204 || status === 205 || status === 304;

export class Http2Response implements WireResponse {
  readonly #stream: ServerHttp2Stream;
  readonly #stallTimeoutMs: number;
  readonly #atEnd: (() => void)[] = [];
  #silent = false;
  /** The handler has ended the response. (A stream cut off by the client looks ended as well: Node ends its writable side.) */
  ended = false;
  status = 0;

  constructor(stream: ServerHttp2Stream, stallTimeoutMs: number) {
    this.#stream = stream;
    this.#stallTimeoutMs = stallTimeoutMs;
  }

  get headSent(): boolean {
    return this.#stream.headersSent;
  }
  get destroyed(): boolean {
    if (this.#stream.destroyed || this.#stream.closed) return true;
    return this.ended || (!this.#headRequest && this.#stream.writableEnded);
  }
  /** Node ends the writable side of a HEAD request's stream before anybody has answered. */
  get #headRequest(): boolean {
    return (this.#stream as ServerHttp2Stream & { headRequest?: boolean }).headRequest === true;
  }

  head(status: number, headers: ResponseHeaders = {}): void {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return;
    if (stream.headersSent) throw new Error('response head was already sent');
    this.#silent = this.#headRequest || bodiless(status);
    this.status = status;
    stream.respond(http2Head(status, headers));
  }

  flushHead(): void {
    if (!this.headSent) this.head(200);
  }

  write(chunk: Uint8Array | string): boolean {
    if (this.destroyed) return false;
    if (!this.#stream.headersSent) this.head(200);
    return this.#silent || this.#stream.write(chunk);
  }

  drain(): Promise<void> {
    const stream = this.#stream;
    if (this.destroyed || !stream.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        stream.removeListener('drain', done);
        stream.removeListener('close', done);
        resolve();
      };
      stream.on('drain', done);
      stream.on('close', done);
    });
  }

  end(chunk?: Uint8Array | string): void {
    const { destroyed } = this;
    this.ended = true;
    if (destroyed) return;
    if (!this.#stream.headersSent) this.head(200);
    endWith(this.#stream, this.#silent ? undefined : chunk, {
      stallTimeoutMs: this.#stallTimeoutMs,
      giveUp: () => this.#cut(constants.NGHTTP2_CANCEL),
    });
    for (const callback of this.#atEnd.splice(0)) callback();
    if (!this.#stream.endAfterHeaders && !this.#stream.readableEnded) this.#stopBody();
  }

  /** Once the answer has gone out, tells the client that it need not send the rest of its body (RFC 9113 section 8.1). */
  #stopBody(): void {
    const stream = this.#stream;
    // Node closes a stream only when what has come of the body was read.
    const stop = (): void => {
      stream.resume();
      stream.close(constants.NGHTTP2_NO_ERROR);
    };
    if (stream.writableFinished) stop();
    else stream.once('finish', stop);
  }

  /** Calls back when the handler has ended the response; the stream itself says when it has ended. */
  onEnd(callback: () => void): void {
    if (this.ended) callback();
    else this.#atEnd.push(callback);
  }

  send(status: number, headers: ResponseHeaders, body: Uint8Array | string): void {
    this.head(status, { ...headers, 'content-length': typeof body === 'string' ? Buffer.byteLength(body) : body.length });
    this.end(body);
  }

  destroy(): void {
    this.#cut(constants.NGHTTP2_INTERNAL_ERROR);
  }

  /** Ends the stream so that nobody takes what was sent for the whole answer: closed alone, Node 24 ends it in order, whatever the code. */
  #cut(code: number): void {
    // Node would end the writable side first: where nothing waits to be sent, the client had the end of a whole answer before it heard of the code.
    this.#stream.end = () => this.#stream;
    this.#stream.close(code);
    this.#stream.destroy();
  }
}
