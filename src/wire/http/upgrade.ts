// A connection whose client asks for another protocol (WebSocket, SPDY/3.1).
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { hearOut } from './hear-out.ts';
import { Http1Head } from './http1.ts';
import { endAndClose } from './linger.ts';
import { endWith } from './outflow.ts';
import { ClientGoneError, type ResponseHeaders, type WireResponse, type WireUpgrade } from './types.ts';

// A header value with a line break would let its author write the rest of the response.
const headerValuePattern = /[\r\n\u0000]/;

/** The head of an HTTP/1.1 response, as bytes. */
export function responseHead(status: number, headers: ResponseHeaders): string {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}`];
  for (const [name, value] of Object.entries(headers)) {
    for (const one of value === undefined ? [] : Array.isArray(value) ? value : [value]) {
      const text = String(one);
      if (headerValuePattern.test(text)) throw new Error(`invalid value of header ${name}`);
      lines.push(`${name}: ${text}`);
    }
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** A response on a bare connection, which nothing follows: its body goes to the connection's end. */
class LastResponse implements WireResponse {
  readonly #socket: Duplex;
  readonly #hasBody: boolean;
  readonly #stallTimeoutMs: number;
  #status = 0;
  #ended = false;

  constructor(socket: Duplex, hasBody: boolean, stallTimeoutMs: number) {
    this.#socket = socket;
    this.#hasBody = hasBody;
    this.#stallTimeoutMs = stallTimeoutMs;
  }

  get headSent(): boolean {
    return this.#status !== 0;
  }
  get status(): number {
    return this.#status;
  }
  get destroyed(): boolean {
    return this.#ended || this.#socket.destroyed;
  }

  /** The connection speaks another protocol from now on. */
  handOver(): Duplex {
    this.#status = 101;
    this.#ended = true;
    hearOut(this.#socket, this.#stallTimeoutMs);
    return this.#socket;
  }

  head(status: number, headers: ResponseHeaders = {}): void {
    if (this.headSent) throw new Error('response head was already sent');
    const head = responseHead(status, { ...headers, connection: 'close' });
    this.#status = status;
    this.#socket.write(head);
  }

  flushHead(): void {
    if (!this.headSent) this.head(200);
  }

  write(chunk: Uint8Array | string): boolean {
    if (this.destroyed) return false;
    this.flushHead();
    return this.#hasBody ? this.#socket.write(chunk) : true;
  }

  drain(): Promise<void> {
    const socket = this.#socket;
    if (this.destroyed || !socket.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        socket.off('drain', done).off('close', done);
        resolve();
      };
      socket.on('drain', done).on('close', done);
    });
  }

  end(chunk?: Uint8Array | string): void {
    if (this.destroyed) return;
    this.flushHead();
    this.#ended = true;
    const socket = this.#socket;
    socket.once('finish', () => endAndClose(socket));
    endWith(socket, this.#hasBody ? chunk : undefined, {
      stallTimeoutMs: this.#stallTimeoutMs,
      giveUp: () => socket.destroy(),
    });
  }

  send(status: number, headers: ResponseHeaders, body: Uint8Array | string): void {
    this.head(status, { ...headers, 'content-length': typeof body === 'string' ? Buffer.byteLength(body) : body.length });
    this.end(body);
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

export class Http1Upgrade extends Http1Head implements WireUpgrade {
  readonly #socket: Duplex;
  readonly #response: LastResponse;
  #controller: AbortController | undefined;

  constructor(message: IncomingMessage, socket: Duplex, head: Buffer, stallTimeoutMs: number) {
    super(message);
    this.#socket = socket;
    this.#response = new LastResponse(socket, message.method !== 'HEAD', stallTimeoutMs);
    if (head.length > 0) socket.unshift(head);
    // The parser's owner is gone: from here on a reset must not become an unhandled error.
    socket.on('error', () => {});
  }

  get protocols(): readonly string[] {
    return (this.headers.upgrade ?? '').split(',').map((name) => name.trim().toLowerCase());
  }

  accept(headers: ResponseHeaders): Duplex {
    this.#socket.write(responseHead(101, headers));
    return this.#response.handOver();
  }

  response(): WireResponse {
    return this.#response;
  }

  reject(status: number, headers: ResponseHeaders, body: Uint8Array | string): void {
    this.#response.send(status, headers, body);
  }

  takeOver(): Duplex {
    return this.#response.handOver();
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      if (this.#socket.destroyed) controller.abort(new ClientGoneError());
      else this.#socket.once('close', () => controller.abort(new ClientGoneError()));
    }
    return this.#controller.signal;
  }
}
