// The wire abstraction over node:http's HTTP/1.1 requests.
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { limits } from '../limits.ts';
import { collectBody } from './body.ts';
import { endAndClose } from './linger.ts';
import { endWith } from './outflow.ts';
import { type PeerCertificate, peerCertificateOf } from './peer.ts';
import { rememberSender } from './senders.ts';
import { ClientGoneError, type ResponseHeaders, type WireRequest, type WireRequestHead, type WireResponse } from './types.ts';

/** The parts that need only the parsed head and the socket. */
export class Http1Head implements WireRequestHead {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  protected readonly message: IncomingMessage;

  constructor(message: IncomingMessage) {
    this.message = message;
    this.method = message.method ?? 'GET';
    this.path = message.url ?? '/';
    this.headers = message.headers;
  }

  get rawHeaders(): readonly string[] {
    return this.message.rawHeaders;
  }
  get httpVersion(): '1.0' | '1.1' {
    return this.message.httpVersion === '1.0' ? '1.0' : '1.1';
  }
  get encrypted(): boolean {
    return (this.message.socket as Partial<{ encrypted: boolean }>).encrypted === true;
  }
  get peerCertificate(): PeerCertificate | undefined {
    return peerCertificateOf(this.message.socket);
  }
  get remoteAddress(): string {
    return this.message.socket.remoteAddress ?? '';
  }
  get remotePort(): number {
    return this.message.socket.remotePort ?? 0;
  }
  get localAddress(): string {
    return this.message.socket.localAddress ?? '';
  }
}

export class Http1Request extends Http1Head implements WireRequest {
  readonly #response: ServerResponse;
  readonly #bodyTimeoutMs: number;
  #controller: AbortController | undefined;

  constructor(message: IncomingMessage, response: ServerResponse, bodyTimeoutMs: number) {
    super(message);
    this.#response = response;
    this.#bodyTimeoutMs = bodyTimeoutMs;
  }

  get body(): Readable {
    return this.message;
  }

  servedFor(sender: string): void {
    rememberSender(this.message.socket, sender);
  }

  readBody(bytesMax = limits.bodyBytesMax): Promise<Buffer> {
    return collectBody(this.message, {
      announced: this.headers['content-length'],
      bytesMax,
      timeoutMs: this.#bodyTimeoutMs,
      onOver: (callback) => this.onClose(callback),
    });
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      const response = this.#response;
      if (response.destroyed && !response.writableEnded) controller.abort(new ClientGoneError());
      else response.once('close', () => response.writableFinished || controller.abort(new ClientGoneError()));
    }
    return this.#controller.signal;
  }

  onClose(callback: () => void): void {
    if (this.#response.closed) callback();
    else this.#response.once('close', callback);
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** Node.js writes a head that goes with a text, or alone, in UTF-8, as if its bytes were characters; before bytes it goes as it is. */
const bytesOf = (chunk: Uint8Array | string): Uint8Array => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
const noBytes = Buffer.alloc(0);

export class Http1Response implements WireResponse {
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #stallTimeoutMs: number;
  #ended = false;

  constructor(message: IncomingMessage, response: ServerResponse, stallTimeoutMs: number) {
    this.#message = message;
    this.#response = response;
    this.#stallTimeoutMs = stallTimeoutMs;
  }

  get headSent(): boolean {
    return this.#response.headersSent;
  }
  get status(): number {
    return this.#response.headersSent ? this.#response.statusCode : 0;
  }
  get destroyed(): boolean {
    const socket: Socket | null = this.#response.socket;
    return this.#ended || this.#response.destroyed || (socket?.destroyed ?? false);
  }

  head(status: number, headers: ResponseHeaders = {}): void {
    if (this.#response.headersSent) throw new Error('response head was already sent');
    if (!this.#message.complete && hasBody(this.#message)) this.#lastHead(status, headers);
    else this.#response.writeHead(status, headers as OutgoingHttpHeaders);
  }

  /** The head of an answer that is given before the request's body has come: it is the connection's last, and the body may never end. */
  #lastHead(status: number, headers: ResponseHeaders): void {
    const message = this.#message;
    this.#response.writeHead(status, { ...headers, connection: 'close' } as OutgoingHttpHeaders);
    // Without a reader Node would throw away whatever comes, as long as it comes.
    message.read(0);
    // Node calls this once the last answer of a connection has gone out.
    message.socket.destroySoon = () => endAndClose(message.socket, message);
  }

  flushHead(): void {
    if (!this.headSent) this.head(200);
    this.#response.write(noBytes);
    this.#response.flushHeaders();
  }

  write(chunk: Uint8Array | string): boolean {
    if (this.destroyed) return false;
    if (!this.headSent) this.head(200);
    return this.#response.write(bytesOf(chunk));
  }

  drain(): Promise<void> {
    const response = this.#response;
    if (this.destroyed || !response.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        response.removeListener('drain', done);
        response.removeListener('close', done);
        resolve();
      };
      response.on('drain', done);
      response.on('close', done);
    });
  }

  end(chunk?: Uint8Array | string): void {
    if (this.destroyed) return;
    if (!this.headSent) this.head(200);
    this.#ended = true;
    const { socket } = this.#message;
    endWith(this.#response, chunk && bytesOf(chunk), { stallTimeoutMs: this.#stallTimeoutMs, giveUp: () => socket.destroy() });
  }

  send(status: number, headers: ResponseHeaders, body: Uint8Array | string): void {
    this.head(status, { ...headers, 'content-length': typeof body === 'string' ? Buffer.byteLength(body) : body.length });
    this.end(body);
  }

  destroy(): void {
    this.#response.destroy();
  }
}
