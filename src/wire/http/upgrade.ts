// A connection whose client asks for another protocol (WebSocket, SPDY/3.1).
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { Http1Head } from './http1.ts';
import { endAndClose } from './linger.ts';
import { ClientGoneError, type ResponseHeaders, type WireUpgrade } from './types.ts';

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

export class Http1Upgrade extends Http1Head implements WireUpgrade {
  readonly #socket: Duplex;
  #controller: AbortController | undefined;

  constructor(message: IncomingMessage, socket: Duplex, head: Buffer) {
    super(message);
    this.#socket = socket;
    if (head.length > 0) socket.unshift(head);
    // The parser's owner is gone: from here on a reset must not become an unhandled error.
    socket.on('error', () => {});
  }

  get protocols(): readonly string[] {
    return (this.headers.upgrade ?? '').split(',').map((name) => name.trim().toLowerCase());
  }

  accept(headers: ResponseHeaders): Duplex {
    this.#socket.write(responseHead(101, headers));
    return this.#socket;
  }

  reject(status: number, headers: ResponseHeaders, body: Uint8Array | string): void {
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    this.#socket.write(responseHead(status, { ...headers, 'content-length': length, connection: 'close' }));
    this.#socket.write(body);
    endAndClose(this.#socket);
  }

  takeOver(): Duplex {
    return this.#socket;
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
