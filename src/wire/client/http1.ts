// Requests over pooled HTTP/1.1 connections, and upgrades.
import { setMaxListeners } from 'node:events';
import {
  Agent as HttpAgent,
  type ClientRequest as NodeRequest,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { type Duplex, Readable } from 'node:stream';
import { pipeGathered } from '../http/gather.ts';
import { hearOut } from '../http/hear-out.ts';
import { limits } from '../limits.ts';
import { clientTlsOf, dialEndpoint, type Endpoint, tlsOptions } from './dial.ts';
import { boundInformational } from './informational.ts';
import type { ClientOptions, ClientRequest, ClientResponse, UpgradedConnection } from './options.ts';
import { UpgradeRefusedError } from './options.ts';
import { clientResponse } from './response.ts';

type AgentCallback = (error: Error | null, socket?: Duplex) => void;

/** An agent whose connections come from `dialEndpoint`: needed as soon as TLS settings may change or the caller dials himself. */
class DialingAgent extends HttpAgent {
  readonly #options: ClientOptions;
  readonly #endpoint: Endpoint;

  constructor(options: ClientOptions, endpoint: Endpoint) {
    super({ keepAlive: true, maxFreeSockets: options.idleConnectionsMax ?? limits.idleConnectionsMax });
    this.#options = options;
    this.#endpoint = endpoint;
  }

  override createConnection(_options: unknown, callback: AgentCallback): undefined {
    dialEndpoint(this.#options, this.#endpoint, ['http/1.1']).then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error),
    );
  }
}

export interface Http1Pool {
  request(request: ClientRequest): Promise<ClientResponse>;
  upgrade(request: Omit<ClientRequest, 'body'>): Promise<UpgradedConnection>;
  closeIdle(): void;
  close(): void;
}

const replayable = ({ method = 'GET', body }: ClientRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && body === undefined;

/** Node frames bodies of DELETE and GET requests only when told their length. */
function sendBody(request: NodeRequest, body: ClientRequest['body']): void {
  if (body instanceof Readable) {
    if (!request.hasHeader('content-length')) request.useChunkedEncodingByDefault = true;
    body.on('error', (error) => request.destroy(error));
    pipeGathered(body, request);
  } else {
    if (body !== undefined && !request.hasHeader('content-length')) request.setHeader('content-length', Buffer.byteLength(body));
    request.end(body);
  }
}

const noAnswer = (): Error => Object.assign(new Error('the connection ended without an answer'), { code: 'ECONNRESET' });

/** Follows `signal` until `dispose`: headers and body of one exchange. Any number of exchanges may be called off by one signal. */
function follow(signal: AbortSignal | undefined, abort: (reason: Error) => void): () => void {
  if (signal === undefined) return () => {};
  const onAbort = (): void => abort(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
  setMaxListeners(0, signal);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return () => signal.removeEventListener('abort', onAbort);
}

/** Asks for another protocol on a connection of its own, which becomes the caller's. */
function upgradeOn(connection: Duplex, settings: RequestOptions, signal: AbortSignal | undefined): Promise<UpgradedConnection> {
  return new Promise((resolve, reject) => {
    const message = httpRequest({ ...settings, createConnection: () => connection, agent: undefined });
    boundInformational(message);
    const unfollow = follow(signal, (reason) => message.destroy(reason));
    const fail = (error: unknown): void => {
      unfollow();
      connection.destroy();
      reject(error);
    };
    message.once('upgrade', (response: IncomingMessage, socket: Duplex, head: Buffer) => {
      unfollow();
      socket.on('error', () => {});
      hearOut(socket, limits.unreadEndTimeoutMs);
      if (head.length > 0) socket.unshift(head);
      resolve({ status: response.statusCode ?? 101, headers: response.headers, socket });
    });
    message.once('response', (response: IncomingMessage) => {
      const { statusCode = 0, headers } = response;
      void clientResponse(statusCode, headers, response)
        .bytes(limits.upgradeRefusalBytesMax)
        .catch(() => Buffer.alloc(0))
        .then((body) => fail(new UpgradeRefusedError(statusCode, headers, body)));
    });
    message.once('error', fail);
    message.end();
  });
}

export function http1Pool(options: ClientOptions, endpoint: Endpoint): Http1Pool {
  const plainTls = typeof options.tls !== 'function' && options.tls?.serverName === undefined;
  const fixedTls = plainTls && options.dial === undefined && endpoint.encrypted;
  const keepAlive = { keepAlive: true, maxFreeSockets: options.idleConnectionsMax ?? limits.idleConnectionsMax };
  // Node's own TLS agent resumes sessions; it serves whenever it can.
  const secureAgent = (): HttpsAgent =>
    new HttpsAgent({ ...keepAlive, ...tlsOptions(clientTlsOf(options), endpoint.host, ['http/1.1']), timeout: 0 });
  const makeAgent = (): HttpAgent => (fixedTls ? secureAgent() : new DialingAgent(options, endpoint));
  let agent = makeAgent();

  const nodeOptions = (request: ClientRequest): RequestOptions => ({
    method: request.method ?? 'GET',
    path: endpoint.pathPrefix + request.path,
    headers: { host: endpoint.authority, ...request.headers } as RequestOptions['headers'],
    host: endpoint.host,
    port: endpoint.port,
    ...(endpoint.socketPath !== undefined && { socketPath: endpoint.socketPath }),
  });

  const exchange = (request: ClientRequest, retry: boolean): Promise<ClientResponse> =>
    new Promise((resolve, reject) => {
      const message = (fixedTls ? httpsRequest : httpRequest)({ ...nodeOptions(request), agent });
      boundInformational(message);
      const unfollow = follow(request.signal, (reason) => message.destroy(reason));
      message.once('response', (response: IncomingMessage) => {
        response.once('close', unfollow);
        resolve(clientResponse(response.statusCode ?? 0, response.headers, response));
      });
      message.once('error', (error: NodeJS.ErrnoException) => {
        unfollow();
        // The server closed an idle connection just as we used it.
        if (retry && message.reusedSocket && error.code === 'ECONNRESET' && replayable(request))
          resolve(exchange(request, false));
        else reject(error);
      });
      // An answer of 101 that nobody asked for ends the connection, and Node tells of no error.
      message.once('close', () => reject(noAnswer()));
      sendBody(message, request.body);
    });

  return {
    request: (request) => exchange(request, true),
    upgrade: async (request) =>
      upgradeOn(await dialEndpoint(options, endpoint, ['http/1.1'], request.signal), nodeOptions(request), request.signal),
    closeIdle() {
      // Running exchanges keep their connection, which ends with them: nobody would use it again.
      agent.maxFreeSockets = 0;
      for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
      agent = makeAgent();
    },
    close: () => agent.destroy(),
  };
}
