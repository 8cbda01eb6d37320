// What a server is told.
import type { Server } from 'node:net';
import type { Logger } from '#utils';
import type { WireRequest, WireResponse, WireUpgrade } from '../http/types.ts';

/** What a server shows of itself: a chain of certificates and its key, in PEM. */
export interface ServingCertificate {
  cert: string | Buffer;
  key: string | Buffer;
}

export interface ServerTls extends ServingCertificate {
  /** Authorities of client certificates, PEM. */
  ca?: string | Buffer | readonly (string | Buffer)[];
  /** Ask clients for a certificate. One that does not verify still connects; see `PeerCertificate.authorized`. */
  requestClientCert?: boolean;
  /** The certificate for a server name; undefined: the default one. */
  sni?: (serverName: string) => ServingCertificate | undefined;
  /** Default TLSv1.2. */
  minVersion?: 'TLSv1.2' | 'TLSv1.3';
  /** OpenSSL cipher list. */
  ciphers?: string;
  /** OpenSSL list of key exchange groups. */
  curves?: string;
  /** false: HTTP/1.1 only. */
  http2?: boolean;
}

/** Where to listen: an address (with SO_REUSEPORT where Node can and it is asked for), a unix socket, or a server or handle that another process listened with and sent over. */
export type ListenTarget =
  | { host?: string; port: number; reusePort?: boolean }
  | { path: string }
  | { handle: Server | { fd: number } | object };

export interface ServerLimits {
  concurrentStreamsMax: number;
  headerBytesMax: number;
  headersTimeoutMs: number;
  requestTimeoutMs: number;
  bodyTimeoutMs: number;
  stallTimeoutMs: number;
  connectionsMax: number;
  connectionsPerAddressMax: number;
  timeoutCheckMs: number;
  pingAfterSilenceMs: number;
  idleTimeoutMs: number;
  handshakeTimeoutMs: number;
  shutdownGraceMs: number;
}

export interface ServeOptions {
  /** Without it the server speaks plain HTTP/1.1. */
  tls?: ServerTls;
  /** Default: 127.0.0.1, any free port. */
  listen?: ListenTarget | readonly ListenTarget[];
  /** A rejected promise (or throw) is logged and answered 500, or cut off when the head was already sent. */
  onRequest: (request: WireRequest, response: WireResponse) => void | Promise<void>;
  /** Without it requests to upgrade are served as ordinary ones. */
  onUpgrade?: (upgrade: WireUpgrade) => void | Promise<void>;
  limits?: Partial<ServerLimits>;
  logger?: Logger;
}

export interface ListenAddress {
  /** '' for unix sockets. */
  host: string;
  port: number;
  /** The path of a unix socket. */
  path?: string;
}

export interface WireServer {
  readonly addresses: readonly ListenAddress[];
  /** Port of the first address. */
  readonly port: number;
  /** Adds an address to the running server. */
  listen(target: ListenTarget): Promise<ListenAddress>;
  /** New certificates for new connections. Throws, and changes nothing, when they are unusable. */
  reloadTls(tls: ServerTls): void;
  /** Open connections. */
  readonly connections: number;
  /**
   * Stops listening, ends idle connections at once, lets running exchanges end for `graceMs` (default `limits.shutdownGraceMs`), then cuts the
   * rest off. Long-running ones should be ended by their handlers meanwhile.
   */
  close(options?: { graceMs?: number }): Promise<void>;
}
