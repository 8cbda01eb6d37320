// One request and one response for both HTTP versions. Thin on purpose: what most requests never ask for (peer certificate, abort signal,
// body stream) is made when first asked for.
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { PeerCertificate } from './peer.ts';

export type HeaderValue = string | number | readonly string[];
/** Names in lower case. Answers may share one object: nobody writes into the headers that a caller hands over. */
export type ResponseHeaders = Readonly<Record<string, HeaderValue | undefined>>;

/** What requests and upgrades have in common. */
export interface WireRequestHead {
  readonly method: string;
  /** Raw request target with its query, e.g. `/api/v1/pods?watch=1`. */
  readonly path: string;
  /** Names in lower case; on HTTP/2 `:authority` is also found as `host`. */
  readonly headers: IncomingHttpHeaders;
  /** Names and values by turns, as sent: what tells the lines of a repeated header apart. */
  readonly rawHeaders: readonly string[];
  readonly httpVersion: '1.0' | '1.1' | '2.0';
  /** Scheme and TLS state of the connection. */
  readonly encrypted: boolean;
  /** What the client presented; undefined when nothing, or not TLS. */
  readonly peerCertificate: PeerCertificate | undefined;
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** The address the client connected to. */
  readonly localAddress: string;
}

export interface WireRequest extends WireRequestHead {
  /** The body as a stream. Use either this or `readBody`. */
  readonly body: Readable;
  /**
   * The whole body. Rejects with `BodyTooLargeError` when it is, or is announced, larger than `bytesMax` (default `limits.bodyBytesMax`), with
   * `BodyTimeoutError` when it is not there within the server's `bodyTimeoutMs`, and with `ClientGoneError` when the client goes away in the
   * middle, or somebody else answers meanwhile: no body is waited for longer than its exchange lasts.
   */
  readBody(bytesMax?: number): Promise<Buffer>;
  /** Aborted when the client is gone before the response has ended. */
  readonly signal: AbortSignal;
  /** Calls back when the exchange is over, because the answer has gone out or the connection is gone; cheaper than `signal`. */
  onClose(callback: () => void): void;
  /** Says whose request it was. What comes over the same connection later takes turns with all other requests of that sender, and not for itself. */
  servedFor(sender: string): void;
}

export interface WireResponse {
  /** Sends status and headers. Connection-specific headers are dropped on HTTP/2. Throws when called twice. */
  head(status: number, headers?: ResponseHeaders): void;
  /** Sends `head` now rather than with the first body bytes (a watch without events). */
  flushHead(): void;
  /** False when the caller should wait for `drain` before it writes more. After the client is gone: does nothing, returns false. */
  write(chunk: Uint8Array | string): boolean;
  /** Resolves when writing may go on, or the exchange is over (see `destroyed`). */
  drain(): Promise<void>;
  end(chunk?: Uint8Array | string): void;
  /** `head` with content-length and `end` in one: the fast way for complete bodies. */
  send(status: number, headers: ResponseHeaders, body: Uint8Array | string): void;
  /** Cuts the exchange off, so that the client sees an incomplete response. */
  destroy(): void;
  readonly headSent: boolean;
  /** As sent; 0 before the head. */
  readonly status: number;
  /** Ended, cut off, or the client is gone. */
  readonly destroyed: boolean;
}

/** A request to speak another protocol on this connection (RFC 9110 section 7.8). HTTP/1.1 only. */
export interface WireUpgrade extends WireRequestHead {
  /** The protocols asked for in `Upgrade`, lower case. */
  readonly protocols: readonly string[];
  /**
   * Answers `101 Switching Protocols` and hands over the connection. Bytes that arrived early are already put back into it. Whoever takes it sees to its end,
   * also where the peer never ends its side (`endInTime`).
   */
  accept(headers: ResponseHeaders): Duplex;
  /** The ordinary response of a request that gets no other protocol: always the same one, and the last of its connection. */
  response(): WireResponse;
  /** Answers with an ordinary response and closes the connection. */
  reject(status: number, headers: ResponseHeaders, body: Uint8Array | string): void;
  /** The connection itself, for proxies that let the backend answer; early bytes are put back. No 101 is sent. */
  takeOver(): Duplex;
  /** Aborted when the connection closes. */
  readonly signal: AbortSignal;
}

/** A body over the limit: answer 413. */
export class BodyTooLargeError extends Error {
  readonly bytesMax: number;
  constructor(bytesMax: number) {
    super(`limit is ${bytesMax}`);
    this.name = 'BodyTooLargeError';
    this.bytesMax = bytesMax;
  }
}

/** A body that did not come in time: answer 408. */
export class BodyTimeoutError extends Error {
  constructor() {
    super('the request body did not arrive in time');
    this.name = 'BodyTimeoutError';
  }
}

/** The client closed or reset before its request was complete. */
export class ClientGoneError extends Error {
  constructor() {
    super('client connection lost');
    this.name = 'ClientGoneError';
  }
}
