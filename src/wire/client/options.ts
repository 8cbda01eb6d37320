// What a client is told, and what it answers.
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable } from 'node:stream';

/** How a client speaks TLS. Keys and certificates are PEM where nothing else is said. */
export interface ClientTls {
  /** Authorities of the server's certificate. Default: those of the system. */
  ca?: string | Buffer | readonly (string | Buffer)[];
  /** Client certificate chain and key. */
  cert?: string | Buffer;
  key?: string | Buffer;
  /** Name to ask for and to check instead of the host's. */
  serverName?: string;
  /** Accept any certificate. */
  insecureSkipVerify?: boolean;
}

/** Opens a byte stream to a host and port, e.g. inside another network namespace. TLS is added on top. */
export type Dial = (target: { host: string; port: number }, signal?: AbortSignal) => Promise<Duplex>;

export interface ClientOptions {
  /** `https://host:port`, `http://host:port`, or `unix:/path` (plain HTTP on a unix socket). A path in it is a prefix of every request's. */
  baseUrl: string;
  /** A function is asked for each new connection, so that rotated certificates are used. */
  tls?: ClientTls | (() => ClientTls);
  /** `h2` multiplexes requests on few connections; `http/1.1` (default) has the lower latency per request. */
  protocol?: 'http/1.1' | 'h2';
  dial?: Dial;
  /** Default `clientLimits.connectTimeoutMs`. */
  connectTimeoutMs?: number;
  /** HTTP/1.1 connections kept open without a request. */
  idleConnectionsMax?: number;
}

export interface ClientRequest {
  method?: string;
  /** Raw, with query. */
  path: string;
  headers?: Record<string, string | readonly string[]>;
  body?: Uint8Array | string | Readable;
  /** Aborting cuts the exchange off, also while the body is being read. */
  signal?: AbortSignal;
}

export interface ClientResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Readable;
  /** The whole body; rejects with `BodyTooLargeError` over `bytesMax` (default `limits.responseBytesMax`). */
  bytes(bytesMax?: number): Promise<Buffer>;
  text(bytesMax?: number): Promise<string>;
}

/** A connection that has changed protocols. Early bytes are already put back into `socket`. */
export interface UpgradedConnection {
  status: number;
  headers: IncomingHttpHeaders;
  socket: Duplex;
}

/** The server answered an upgrade with an ordinary response. */
export class UpgradeRefusedError extends Error {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** At most `limits.upgradeRefusalBytesMax` of the body. */
  readonly body: Buffer;
  constructor(status: number, headers: IncomingHttpHeaders, body: Buffer) {
    super(`unable to upgrade connection: ${body.toString('utf8').trim() || `status ${status}`}`);
    this.name = 'UpgradeRefusedError';
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

export interface WireClient {
  /** Resolves with the head of the response, whatever its status; rejects when none came. */
  request(request: ClientRequest): Promise<ClientResponse>;
  /** Asks for another protocol on a connection of its own (always HTTP/1.1). Rejects with `UpgradeRefusedError` for any status but 101. */
  upgrade(request: Omit<ClientRequest, 'body'>): Promise<UpgradedConnection>;
  /** Drops connections without a request, so that the next one uses new credentials. */
  closeIdle(): void;
  /** Ends everything. */
  close(): void;
}
