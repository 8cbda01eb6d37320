// Opening connections: TCP or unix socket (or the caller's own way), TLS on top.
import { setMaxListeners } from 'node:events';
import { connect as connectSocket, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { limits } from '../limits.ts';
import { identityError } from './distrust.ts';
import type { ClientOptions, ClientTls } from './options.ts';

export interface Endpoint {
  encrypted: boolean;
  host: string;
  port: number;
  /** The path of a unix socket; undefined: `host` and `port` are dialled. */
  socketPath: string | undefined;
  /** `Host` header and HTTP/2 authority. */
  authority: string;
  /** Before every request's path; '' or '/prefix'. */
  pathPrefix: string;
}

export function endpointOf(baseUrl: string): Endpoint {
  if (baseUrl.startsWith('unix:')) {
    const socketPath = baseUrl.slice('unix:'.length).replace(/^\/\/(?=\/)/, '');
    return { encrypted: false, host: 'localhost', port: 0, socketPath, authority: 'localhost', pathPrefix: '' };
  }
  const url = new URL(baseUrl);
  const encrypted = url.protocol === 'https:';
  if (!encrypted && url.protocol !== 'http:') throw new Error(`unsupported scheme in ${baseUrl}`);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = url.port === '' ? (encrypted ? 443 : 80) : Number(url.port);
  return { encrypted, host, port, socketPath: undefined, authority: url.host, pathPrefix: url.pathname.replace(/\/$/, '') };
}

/** The settings of TLS, in the words of Node's `tls.connect`. */
export function tlsOptions(tls: ClientTls, host: string, alpn: readonly string[]): ConnectionOptions {
  const name = tls.serverName ?? host;
  return {
    ...(tls.ca !== undefined && { ca: tls.ca as ConnectionOptions['ca'] }),
    ...(tls.cert !== undefined && { cert: tls.cert, key: tls.key }),
    ALPNProtocols: [...alpn],
    // An address is no server name in TLS; Node then checks the certificate against `host`.
    ...(isIP(name) === 0 && { servername: name }),
    rejectUnauthorized: !tls.insecureSkipVerify,
    // Every certificate that is trusted is an anchor, as in Go: a bundle may hold the server's own certificate alone.
    allowPartialTrustChain: true,
    checkServerIdentity: identityError,
    minVersion: 'TLSv1.2',
  };
}

export const clientTlsOf = (options: ClientOptions): ClientTls =>
  typeof options.tls === 'function' ? options.tls() : (options.tls ?? {});

/** Resolves with the stream after `event`; rejects on error, abort or time-out, with the stream destroyed. */
function ready<S extends Duplex>(stream: S, event: string, timeoutMs: number, signal: AbortSignal | undefined): Promise<S> {
  return new Promise((resolve, reject) => {
    const settle = (error?: unknown): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      stream.removeListener('error', settle);
      stream.removeListener(event, onReady);
      if (error === undefined) return resolve(stream);
      stream.on('error', () => {});
      stream.destroy();
      reject(error);
    };
    const onAbort = (): void => settle(signal?.reason ?? new Error('aborted'));
    const onReady = (): void => settle();
    const timer = setTimeout(() => settle(Object.assign(new Error('connect timed out'), { code: 'ETIMEDOUT' })), timeoutMs);
    stream.once('error', settle);
    stream.once(event, onReady);
    if (signal) setMaxListeners(0, signal);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  });
}

function openSocket(endpoint: Endpoint): Socket {
  const socket =
    endpoint.socketPath === undefined ? connectSocket(endpoint.port, endpoint.host) : connectSocket(endpoint.socketPath);
  return socket.setNoDelay(true).setKeepAlive(true, limits.keepAliveProbeMs);
}

/** A new connection, encrypted when the endpoint is; `alpn` names the protocols offered. */
export async function dialEndpoint(
  options: ClientOptions,
  endpoint: Endpoint,
  alpn: readonly string[],
  signal?: AbortSignal,
): Promise<Duplex> {
  const timeoutMs = options.connectTimeoutMs ?? limits.connectTimeoutMs;
  const raw = options.dial
    ? await options.dial({ host: endpoint.host, port: endpoint.port }, signal)
    : await ready(openSocket(endpoint), 'connect', timeoutMs, signal);
  if (!endpoint.encrypted) return raw;
  const tls = clientTlsOf(options);
  const secured: TLSSocket = connectTls({
    ...tlsOptions(tls, endpoint.host, alpn),
    host: tls.serverName ?? endpoint.host,
    socket: raw,
  });
  return ready(secured, 'secureConnect', timeoutMs, signal);
}
