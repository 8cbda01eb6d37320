// HTTP/1.1 and HTTP/2 on one port (RFC 9112, RFC 9113), chosen by ALPN. HTTP/2 goes through the `stream` event and never through Node's
// compatibility layer; both versions meet in WireRequest and WireResponse.
import {
  createServer as createPlainServer,
  type IncomingMessage,
  type Server as PlainServer,
  type ServerResponse,
} from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { type Logger, silentLogger } from '#utils';
import { Http1Request, Http1Response } from '../http/http1.ts';
import { Http1Message } from '../http/incoming-message.ts';
import { endAndClose } from '../http/linger.ts';
import { Http2Request, Http2Response } from '../http/http2.ts';
import { BodyTimeoutError, ClientGoneError, type WireRequest, type WireResponse } from '../http/types.ts';
import { Http1Upgrade, responseHead } from '../http/upgrade.ts';
import { senderOf } from '../http/senders.ts';
import { limits as defaults } from '../limits.ts';
import { type Connections, trackConnections } from './connections.ts';
import type { ListenAddress, ListenTarget, ServeOptions, ServerLimits, ServerTls, WireServer } from './options.ts';
import { beginHandshakesInTurn } from './handshakes.ts';
import { type Queue, turnQueue } from './queue.ts';
import { readOn } from './reading-on.ts';
import { type ServerContexts, serverContexts } from './tls.ts';
import { inTurn } from './turns.ts';
import { freeUnixPath, listenOnPath } from './unix-socket.ts';
import { lastResponse, messageOfUnknownMethod, type ParseError } from './unknown-method.ts';

type AnyServer = PlainServer | Http2SecureServer;

interface Context {
  options: ServeOptions;
  limits: ServerLimits;
  logger: Logger;
  connections: Connections;
  contexts: ServerContexts | undefined;
  /** Requests by their senders, and handshakes by the addresses they come from. */
  requests: Queue<object | string>;
  handshakes: Queue<string>;
}

const describe = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

const plainText = Object.freeze({ 'content-type': 'text/plain; charset=utf-8' });

function failed(context: Context, request: WireRequest, response: WireResponse, error: unknown): void {
  if (error instanceof ClientGoneError) return response.destroy();
  if (error instanceof BodyTimeoutError && !response.headSent) return response.send(408, plainText, 'Request Timeout\n');
  context.logger.error('request handler failed', { method: request.method, path: request.path, error: describe(error) });
  if (response.headSent) response.destroy();
  else response.send(500, plainText, 'Internal Server Error\n');
}

function handle(context: Context, request: WireRequest, response: WireResponse): void {
  try {
    const pending = context.options.onRequest(request, response);
    if (pending !== undefined) pending.catch((error: unknown) => failed(context, request, response, error));
  } catch (error) {
    failed(context, request, response, error);
  }
}

const parseErrorStatus: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

/** What HTTP/1.1 needs, on the plain server and on the TLS one. */
function attachHttp1(context: Context, server: AnyServer): void {
  const { onUpgrade } = context.options;
  // The TLS server's typings know only HTTP/2; with allowHTTP1 it emits node:http's events as well.
  const emitter = server as PlainServer;
  emitter.on('request', (message: IncomingMessage, raw: ServerResponse) => {
    const { socket } = message;
    readOn(message);
    // Node's parser stops behind such a request, and forgets what has come with it already.
    if (message instanceof Http1Message && message.asksForUpgrade) raw.shouldKeepAlive = false;
    inTurn(raw, socket, () => {
      raw.once('close', context.connections.begin(socket));
      const { bodyTimeoutMs, stallTimeoutMs } = context.limits;
      context.requests.add(senderOf(socket), {
        gone: () => socket.destroyed,
        begin: () =>
          handle(context, new Http1Request(message, raw, bodyTimeoutMs), new Http1Response(message, raw, stallTimeoutMs)),
      });
    });
  });
  const answered = new WeakSet<Duplex>();
  emitter.on('clientError', (error: ParseError, socket: Duplex) => {
    if (answered.has(socket)) return;
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    const message = messageOfUnknownMethod(error, socket, context.limits.headerBytesMax);
    if (message !== undefined) {
      answered.add(socket);
      return void emitter.emit('request', message, lastResponse(message));
    }
    socket.write(responseHead(parseErrorStatus[error.code ?? ''] ?? 400, { connection: 'close', 'content-length': 0 }));
    endAndClose(socket);
  });
  if (onUpgrade === undefined) return;
  emitter.on('upgrade', (message: IncomingMessage, socket: Duplex, head: Buffer) => {
    context.connections.handOver(message.socket);
    const upgrade = new Http1Upgrade(message, socket, head, context.limits.stallTimeoutMs);
    Promise.resolve()
      .then(() => onUpgrade(upgrade))
      .catch((error: unknown) => {
        context.logger.error('upgrade handler failed', { path: upgrade.path, error: describe(error) });
        socket.destroy();
      });
  });
}

function createTlsServer(context: Context, contexts: ServerContexts, tls: ServerTls): Http2SecureServer {
  const { limits, connections } = context;
  const server = createSecureServer({
    ...contexts.defaults(),
    ALPNProtocols: tls.http2 === false ? ['http/1.1'] : ['h2', 'http/1.1'],
    allowHTTP1: true,
    ticketKeys: contexts.ticketKeys,
    sessionIdContext: 'sagong',
    handshakeTimeout: limits.handshakeTimeoutMs,
    requestCert: tls.requestClientCert ?? false,
    rejectUnauthorized: false,
    SNICallback: contexts.sniCallback,
    settings: {
      maxConcurrentStreams: limits.concurrentStreamsMax,
      initialWindowSize: defaults.streamWindowBytes,
      maxHeaderListSize: limits.headerBytesMax,
      enablePush: false,
    },
    ...http1Options(limits),
    Http1IncomingMessage: Http1Message,
  });
  // Node adds its HTTP/2 compatibility layer as soon as somebody listens to 'request'; that listener is wanted for HTTP/1.1 only.
  server.removeAllListeners('newListener');
  beginHandshakesInTurn(server, context.handshakes, limits);
  server.on('session', (session: ServerHttp2Session) => {
    session.setLocalWindowSize(defaults.connectionWindowBytes);
    connections.addSession(session);
  });
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, rawHeaders: string[]) => {
    // Resets by the client; whoever works on the stream learns of them by its close.
    stream.on('error', () => {});
    connections.addStream(stream);
    context.requests.add(senderOf(stream.session as object), {
      gone: () => stream.destroyed || stream.closed,
      begin() {
        const { bodyTimeoutMs, stallTimeoutMs } = limits;
        const response = new Http2Response(stream, stallTimeoutMs);
        handle(context, new Http2Request({ stream, headers, rawHeaders, response, bodyTimeoutMs }), response);
      },
    });
  });
  // Node's own listener would have the failure answered as bad HTTP, on a connection that cannot carry an answer.
  server.removeAllListeners('tlsClientError');
  server.on('tlsClientError', (error: Error, socket: TLSSocket) => {
    context.logger.debug('TLS handshake error', { error: error.message });
    socket.destroy();
  });
  server.on('sessionError', (error: Error) => context.logger.debug('HTTP/2 session error', { error: error.message }));
  server.on('secureConnection', (socket: TLSSocket) => connections.addSecure(socket));
  server.on('unknownProtocol', (socket: TLSSocket) => socket.destroy());
  return server;
}

const http1Options = (limits: ServerLimits) => ({
  maxHeaderSize: limits.headerBytesMax,
  headersTimeout: limits.headersTimeoutMs,
  requestTimeout: limits.requestTimeoutMs,
  keepAliveTimeout: limits.idleTimeoutMs,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: 15_000,
  connectionsCheckingInterval: limits.timeoutCheckMs,
});

function createServer(context: Context): AnyServer {
  const { options, limits, contexts, connections } = context;
  const secure = contexts && options.tls ? createTlsServer(context, contexts, options.tls) : undefined;
  const server: AnyServer = secure ?? createPlainServer({ ...http1Options(limits), IncomingMessage: Http1Message });
  // The TLS server reads these as properties and ignores the options of the same name.
  Object.assign(server, {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
  });
  attachHttp1(context, server);
  server.on('connection', (socket: Socket) => connections.addSocket(socket));
  return server;
}

async function listenOn(server: AnyServer, target: ListenTarget): Promise<ListenAddress> {
  if ('path' in target) await freeUnixPath(target.path);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const listening = (): void => {
      server.removeListener('error', reject);
      const address = server.address() as AddressInfo | string | null;
      if (typeof address === 'string') resolve({ host: '', port: 0, path: address });
      else resolve({ host: address?.address ?? '', port: address?.port ?? 0 });
    };
    if ('handle' in target) server.listen(target.handle, listening);
    else if ('path' in target) listenOnPath(server, target.path, listening);
    else {
      const { port, host = '127.0.0.1', reusePort = false } = target;
      server.listen({ port, host, ...(reusePort && { reusePort }) }, listening);
    }
  });
}

const idleSweepMs = 50;

async function closeAll(context: Context, servers: readonly AnyServer[], graceMs: number): Promise<void> {
  const { connections } = context;
  const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
  connections.drain();
  // An HTTP/1.1 connection becomes idle when its response ends, and nothing announces that.
  const endIdle = (): void => {
    for (const server of servers) (server as PlainServer).closeIdleConnections();
  };
  endIdle();
  const sweep = setInterval(endIdle, idleSweepMs);
  const force = setTimeout(() => connections.destroyAll(), graceMs);
  await connections.empty();
  clearInterval(sweep);
  clearTimeout(force);
  await Promise.all(closed);
}

/** Starts serving; resolves when all addresses listen, rejects (and leaves nothing behind) when one cannot. */
export async function serve(options: ServeOptions): Promise<WireServer> {
  const limits: ServerLimits = { ...defaults, ...options.limits };
  const logger = options.logger ?? silentLogger;
  const context: Context = {
    options,
    limits,
    logger,
    connections: trackConnections(limits, logger),
    contexts: options.tls && serverContexts(options.tls),
    requests: turnQueue(defaults.requestsPerTurn),
    handshakes: turnQueue(defaults.handshakesPerTurn),
  };
  const servers: AnyServer[] = [];
  const addresses: ListenAddress[] = [];
  let closing: Promise<void> | undefined;
  const listen = async (target: ListenTarget): Promise<ListenAddress> => {
    if (closing) throw new Error('server is closed');
    const server = createServer(context);
    const address = await listenOn(server, target);
    server.on('error', (error: Error) => context.logger.error('server error', { error: error.message }));
    servers.push(server);
    addresses.push(address);
    return address;
  };
  const close = ({ graceMs = context.limits.shutdownGraceMs }: { graceMs?: number } = {}): Promise<void> => {
    closing ??= closeAll(context, servers, graceMs);
    return closing;
  };
  try {
    for (const target of [options.listen ?? { port: 0 }].flat() as ListenTarget[]) await listen(target);
  } catch (error) {
    await close({ graceMs: 0 });
    throw error;
  }
  return {
    addresses,
    get port() {
      return addresses[0]?.port ?? 0;
    },
    listen,
    reloadTls(tls) {
      if (!context.contexts) throw new Error('server does not speak TLS');
      context.contexts.replace(tls);
      for (const server of servers) (server as Http2SecureServer).setSecureContext(context.contexts.defaults());
    },
    get connections() {
      return context.connections.size;
    },
    close,
  };
}
